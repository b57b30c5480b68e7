"""The door to the test runner: a baseline, then quick trials of candidates, then a verdict on the winner."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from sandbox.contract import Limits
from sandbox.jail import Sandbox
from sandbox.testing import confirm, doctests, honesty, texts
from sandbox.testing.baseline import Recorder
from sandbox.testing.channel import Answer, ServerLost, Setup, TestServer, text_of
from sandbox.testing.events import interrupted, tests_of
from sandbox.testing.pace import Pace
from sandbox.testing.report import Baseline, Outcome, Progress, TestReport, Trial, Verdict, Way, relative
from sandbox.working_copy import WorkingCopy


class TestSession:
    """Tests of the tree at `tree`, which stays as it is. A context manager; close it to end its jails.

    `python` is the project's interpreter and must have pytest 7 or newer; `origin` is where the tree was copied from,
    so that packages installed from there in editable form are imported from the copy. With `allow_tests` a change may
    touch tests and their configuration. `test_limit_s` bounds each test of the baseline.
    """

    __test__ = False

    def __init__(
        self,
        sandbox: Sandbox,
        tree: WorkingCopy,
        python: Path | None = None,
        pytest_args: Sequence[str] = (),
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        origin: Path | None = None,
        allow_tests: bool = False,
        test_limit_s: float = 20.0,
    ) -> None:
        self._setup = Setup(sandbox, arguments=tuple(pytest_args), limits=limits, origin=str(origin or ""))
        if python is not None:
            self._setup = replace(self._setup, python=python)
        self._tree = tree
        self._allow_tests = allow_tests
        self._test_limit_s = test_limit_s
        self._lock = threading.RLock()
        self._record: Recorder | None = None
        self._pace: Pace | None = None
        self._fresh: TestServer | None = None

    def __enter__(self) -> TestSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            if self._record is not None:
                self._record.close()
            self._drop_fresh()

    def baseline(self, nodes: Sequence[str] = (), progress: Progress | None = None) -> Baseline:
        """Run the suite as it is, or the part of it that `nodes` names in pytest's way.

        Trials and verdicts are judged by the latest baseline. Raises TestsNotRun.
        """
        with self._lock:
            self.close()
            setup = replace(self._setup, arguments=(*self._setup.arguments, *nodes))
            self._record = Recorder(setup, self._tree, self._test_limit_s, progress)
            baseline = self._record.take()
            self._pace = Pace(baseline)
            return baseline

    def trial(self, files: Mapping[str, str], nodes: Sequence[str], hasty: bool = False, probes: int = 0) -> Trial:
        """Bring a candidate before the first `probes` of `nodes`, then, if it passes them, before the others, those
        that failed first, up to the first failure.

        `files` maps paths to whole new texts. A filter: only `confirm` proves. `hasty`: swap the code of functions even
        where they ran while the tests were collected, which is some ten times as fast; the trial is `stale` then.
        """
        changed = {relative(path): text for path, text in files.items()}
        with self._lock:
            began = time.monotonic()
            listed = list(nodes)
            first, others = listed[:probes], listed[probes:]
            # Nearly all end here; what the others would cost to name is a good part of a trial.
            trial = self._tried(changed, first, hasty, len(first)) if first and others else None
            if trial is None or trial.passed:
                stop = 1 if trial else max(1, len(first))
                trial = self._tried(changed, [*first, *self._ordered(others)], hasty, stop)
            return replace(trial, seconds=time.monotonic() - began)

    def _tried(self, files: Mapping[str, str], nodes: list[str], hasty: bool, stop: int) -> Trial:
        """A trial on `nodes` in this order, in the quickest way that is valid; after `stop` of them it ends once one
        has failed."""
        return self._swapped(files, nodes, hasty, stop) or self._recollected(files, nodes)

    def confirm(self, files: Mapping[str, str], repeats: int = 1, targets: Sequence[str] = ()) -> Verdict:
        """The whole suite of the baseline on the changed tree, cold, `repeats` times, each in a fresh sandbox.

        `targets` are the tests that must be fixed (all failing ones by default). A dishonest change is refused unrun.
        """
        if dishonest := self.inspect(files):
            return Verdict(unfixed=tuple(targets), dishonest=tuple(dishonest), level=self._setup.sandbox.level)
        return self.prove(files, repeats, targets)

    def inspect(self, files: Mapping[str, str]) -> list[str]:
        """The static gate alone: why the change is refused; empty for a clean one. Milliseconds."""
        baseline = self._record.baseline if self._record is not None else Baseline({}, 0.0)
        reasons = honesty.inspect_files(self._tree, files, self._allow_tests, baseline.test_files)
        return reasons if self._allow_tests else reasons + list(self._lost_examples(files, baseline))

    def prove(self, files: Mapping[str, str], repeats: int = 1, targets: Sequence[str] = ()) -> Verdict:
        """`confirm` without the static gate on the change: what the runs alone say."""
        record, pace = self._taken()
        changed = {relative(path): text for path, text in files.items()}
        return confirm.prove(record.setup, self._tree, record.baseline, pace, changed, repeats, targets)

    @property
    def known(self) -> Baseline:
        """The latest baseline."""
        return self._taken()[0].baseline

    def trial_recollected(self, files: Mapping[str, str], nodes: Sequence[str]) -> Trial:
        """`trial` with the project imported anew in a process that has pytest loaded, even where a swap is valid."""
        with self._lock:
            return self._recollected(files, self._ordered(nodes))

    def trial_cold(self, files: Mapping[str, str], nodes: Sequence[str]) -> Trial:
        """`trial` in a new interpreter and a fresh sandbox: what the faster ways must agree with."""
        record, _ = self._taken()
        began = time.monotonic()
        ordered = self._ordered(nodes)
        with self._tree.fork() as tree:
            for path, text in files.items():
                tree.write(path, texts.encode(self._tree, path, text))
            server = None
            try:
                server = TestServer(record.setup, tree, "fresh")
                trial = self._ask(server, Way.COLD, {}, ordered)
            except ServerLost as lost:
                trial = _lost(Way.COLD, lost)
            finally:
                if server is not None:
                    server.close()
        return replace(trial, seconds=time.monotonic() - began)

    def _lost_examples(self, files: Mapping[str, str], baseline: Baseline) -> Iterator[str]:
        """What is wrong with a change of code that holds doctests: these are all tests that no file of tests holds."""
        documented = {test.path for test in baseline.tests.values()}.difference(baseline.test_files)
        for name, text in files.items():
            path = relative(name)
            if path in documented:
                for source in doctests.lost(texts.read(self._tree, path), text):
                    yield f"{path}: the doctest `{source}` is changed"

    def _taken(self) -> tuple[Recorder, Pace]:
        if self._record is None or self._pace is None:
            raise RuntimeError("take a baseline first")
        return self._record, self._pace

    def _ordered(self, nodes: Iterable[str]) -> list[str]:
        """Failing tests first, then the quick ones."""
        tests = self._taken()[0].baseline.tests

        def rank(node: str) -> tuple[bool, float]:
            test = tests.get(node)
            return (test is not None and not test.outcome.failing, test.seconds if test else 0.0)

        return sorted(dict.fromkeys(nodes), key=rank)

    def _swapped(self, files: Mapping[str, str], nodes: list[str], hasty: bool, stop: int) -> Trial | None:
        """The trial in the process that has collected; None where that is not valid for these files or tests. Of tests
        of which only some fit there, these may reject a candidate, but not pass it."""
        record, _ = self._taken()
        server = record.collected() if all(path.endswith(".py") for path in files) else None
        if server is None:
            return None
        fit = [node for node in nodes if node in server.nodes and node not in record.shy]
        if not fit or (fit[0] != nodes[0] and not self._failed_before(fit[0])):
            return None
        try:
            trial = self._ask(server, Way.SWAP, files, fit, hasty, max(1, sum(node in fit for node in nodes[:stop])))
        except ServerLost as lost:
            record.drop_collected()
            return _lost(Way.SWAP, lost)
        if trial is None or (trial.passed and len(fit) == len(nodes)):
            return trial
        # What passes must pass the rest too; a test that fails in a fork whatever the candidate does says nothing.
        return trial if not trial.passed and record.reproduces(trial.failed_at) else None

    def _failed_before(self, node: str) -> bool:
        test = self._taken()[0].baseline.tests.get(node)
        return test is not None and test.outcome.failing

    def _recollected(self, files: Mapping[str, str], nodes: list[str]) -> Trial:
        record, _ = self._taken()
        if self._fresh is None:
            try:
                self._fresh = TestServer(record.setup, self._tree, "fresh", preload=record.modules)
            except ServerLost:
                return self.trial_cold(files, nodes)
        try:
            trial = self._ask(self._fresh, Way.RECOLLECT, files, nodes)
            assert trial is not None
            return trial
        except ServerLost as lost:
            self._drop_fresh()
            return _lost(Way.RECOLLECT, lost)

    def _drop_fresh(self) -> None:
        if self._fresh is not None:
            self._fresh.close()
            self._fresh = None

    def _ask(
        self,
        server: TestServer,
        way: Way,
        files: Mapping[str, str],
        nodes: list[str],
        hasty: bool = False,
        stop: int = 1,
    ) -> Any:
        """Ask with the usual time limits; again with wider ones when only a test that used to pass ran late."""
        record, pace = self._taken()
        wire = {
            path: texts.encode(self._tree, path, text).decode("utf-8", "surrogateescape")
            for path, text in files.items()
        }
        for slack in (1.0, 4.0):
            request = {
                "files": wire, "nodes": nodes, "stop": stop, "hasty": hasty,
                "limits": pace.limits(nodes, slack),
            }  # fmt: skip
            deadline = pace.start_s * (len(nodes) + 2) + sum(pace.of(node, slack) for node in nodes)
            answer = server.ask(request, deadline)
            if answer.of("unswappable"):
                return None
            trial = replace(_trial(answer, way, nodes, record.baseline), stale=bool(answer.of("stale")))
            before = record.baseline.tests.get(trial.failed_at)
            if not trial.timed_out or before is None or before.outcome is not Outcome.PASSED:
                return trial
        return trial


def _lost(way: Way, lost: ServerLost) -> Trial:
    """A candidate that took the whole server down has failed."""
    return Trial({}, False, way, 0.0, error="ServerLost", message=str(lost))


def _trial(answer: Answer, way: Way, nodes: Sequence[str], baseline: Baseline) -> Trial:
    reports = tests_of(answer)
    if (cut := interrupted(answer)) is not None:
        reports.append(cut)
    outcomes = {report.node: report.outcome for report in reports}
    for report in reports:
        if not _good(report, baseline):
            return Trial(
                outcomes,
                False,
                way,
                0.0,
                report.node,
                report.error,
                report.message,
                report.timed_out,
                report.frames,
            )
    for event in answer.of("broken"):
        return Trial({}, False, way, 0.0, error=text_of(event, "error"), message=text_of(event, "message"))
    # A file that could not be collected has become tests of its own, all good by now.
    ran = outcomes.keys() | {report.path for report in reports}
    missing = [node for node in nodes if node not in ran]
    if missing or answer.done.get("ended") is not True:
        message = f"{len(missing)} of the tests did not run. {text_of(answer.done, 'tail')[-1000:]}"
        late = answer.done.get("timed_out") is not None
        return Trial(outcomes, False, way, 0.0, error="NotRun", message=message, timed_out=late)
    return Trial(outcomes, True, way, 0.0)


def _good(report: TestReport, baseline: Baseline) -> bool:
    """Passed, or as unremarkable as it was before (skipped, xfailed)."""
    before = baseline.tests.get(report.node)
    if report.outcome is Outcome.PASSED:
        return True
    return before is not None and report.outcome is before.outcome and not report.outcome.failing
