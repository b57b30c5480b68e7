"""The suite before any patch: run cold for outcomes and times, then once more under the line collector.

The second run happens in the process that later judges candidates. So it also shows which tests do not behave there as
they do cold, and which failures come and go.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sandbox.testing.channel import SUITE_S, Answer, Event, ServerLost, Setup, TestServer, number_of, text_of
from sandbox.testing.events import interrupted, judging_files, tests_of
from sandbox.testing.report import Baseline, NoTests, Progress, TestReport, TestsNotRun
from sandbox.working_copy import WorkingCopy

RESTARTS = 20
GRACE_S = 5.0
TRACE_BUDGET_S = 30.0
TRACE_BATCH = 40
LOOP_S = 2.0
"""How long a test that ran into its time limit is watched for the lines that it loops over."""
USAGE_ERROR, NO_TESTS = 4, 5
_OPTIONS = (
    ("--cov", "pytest-cov", "pytest_cov"),
    ("-n", "pytest-xdist", "xdist"),
    ("--timeout", "pytest-timeout", "pytest_timeout"),
)
"""Options that projects use, the plugin that each comes from, and its module."""


class Recorder:
    """Takes the baseline and keeps what trials need of it: the server that has collected, the tests it gets wrong."""

    def __init__(self, setup: Setup, tree: WorkingCopy, test_limit_s: float, progress: Progress | None) -> None:
        self.setup = setup
        self.baseline = Baseline({}, 0.0)
        self.modules: tuple[str, ...] = ()
        self.shy: set[str] = set()
        """Tests that do not end in a fork of the collected process as they end cold."""
        self._tree = tree
        self._limit_s = test_limit_s
        self._progress = progress
        self._collected: Collected | None = None
        self._gave_up = False
        self._writable = False
        self._checked: set[str] = set()

    def take(self) -> Baseline:
        """Raises TestsNotRun."""
        tests, seconds, test_files = self._cold()
        self.baseline = Baseline(tests, seconds, test_files=test_files)
        self._trace(tests)
        return self.baseline

    def collected(self) -> Collected | None:
        """The process that has collected the tests; None where there can be none."""
        if self._collected is None and not self._gave_up:
            try:
                self._collected = Collected(self.setup, self._tree, self._writable)
            except ServerLost:
                self._gave_up = True
        return self._collected

    def drop_collected(self) -> None:
        if self._collected is not None:
            self._collected.close()
            self._collected = None

    def reproduces(self, node: str) -> bool:
        """Whether `node` ends in a fork of the collected process, the tree unchanged, as it ended cold."""
        if node in self.shy:
            return False
        test = self.baseline.tests.get(node)
        if test is None or node in self._checked or not test.collected:
            return True
        self._compare(self._run([test], lines=False), self.baseline.tests)
        return node not in self.shy

    def close(self) -> None:
        self.drop_collected()

    def _cold(self) -> tuple[dict[str, TestReport], float, tuple[str, ...]]:
        server = self._start("fresh")
        try:
            reports, answers = self._through(server)
        finally:
            server.close()
        last = answers[-1]
        self.modules = tuple(
            name for event in last.of("exit") for name in event.get("modules") or () if isinstance(name, str)
        )
        self._check(reports, last)
        seconds = sum(number_of(answer.done, "seconds") for answer in answers)
        test_files = tuple(dict.fromkeys(path for answer in answers for path in judging_files(answer)))
        return {report.node: report for report in reports}, seconds, test_files

    def _through(self, server: TestServer) -> tuple[list[TestReport], list[Answer]]:
        """The whole suite, going on behind each test that takes its process down."""
        reports: list[TestReport] = []
        answers: list[Answer] = []
        done = total = 0

        def tell(report: TestReport) -> None:
            nonlocal done
            done += 1
            if self._progress:
                self._progress(done, total, report.node, report.outcome)

        def watch(event: Event) -> None:
            nonlocal total
            if event.get("e") == "collected" and isinstance(event.get("nodes"), list):
                total = total or len(event["nodes"])
            elif event.get("e") == "test":
                tell(tests_of(Answer([event]))[0])

        for _ in range(RESTARTS):
            request = {
                "limits": {"start": max(120.0, self._limit_s), "default": self._limit_s + GRACE_S},
                "alarm": self._limit_s,
                "skip": [report.node for report in reports],
                "modules": True,
            }
            try:
                answer = server.ask(request, SUITE_S, watch)
            except ServerLost as lost:
                raise TestsNotRun(f"the tests cannot be run: {lost}") from None
            known = {report.node for report in reports}
            reports += [report for report in tests_of(answer) if report.node not in known]
            answers.append(answer)
            cut = interrupted(answer)
            if cut is None:
                break
            reports.append(cut)
            tell(cut)
        return reports, answers

    def _check(self, reports: Sequence[TestReport], answer: Answer) -> None:
        code = next((event.get("code") for event in answer.of("exit")), None)
        tail = text_of(answer.done, "tail").strip()
        if code == USAGE_ERROR:
            told = [name for event in answer.of("exit") for name in event.get("installed") or ()]
            raise TestsNotRun(_usage(tail, self.setup, told))
        if reports:
            return
        if code == NO_TESTS:
            raise NoTests("pytest found no tests here: name some with --test, or the command with --test-cmd")
        raise TestsNotRun(f"the tests could not be collected:\n{tail[-2000:]}")

    def _start(self, mode: str) -> TestServer:
        try:
            return TestServer(self.setup, self._tree, mode)
        except (ServerLost, FileNotFoundError) as lost:
            raise TestsNotRun(f"the tests cannot be started with {self.setup.python}: {lost}") from None

    def _trace(self, tests: dict[str, TestReport]) -> None:
        """Adds lines to the reports of `tests`; marks flaky and shy ones."""
        runnable = [test for test in tests.values() if test.collected]
        failing = [test for test in runnable if test.outcome.failing]
        quick = sorted((test for test in runnable if not test.outcome.failing), key=lambda test: test.seconds)
        differing = self._batches(tests, failing, quick)
        if differing and not self._writable:
            # Some tests write into the tree, which forks may not at first.
            self._writable = True
            self.drop_collected()
            differing = self._compare(self._run([tests[node] for node in differing], lines=False), tests)
        if differing:
            self._tell_flaky(tests, differing)

    def _batches(
        self, tests: dict[str, TestReport], failing: Sequence[TestReport], quick: Sequence[TestReport]
    ) -> list[str]:
        looping = [test for test in failing if test.timed_out]
        others = [test for test in failing if not test.timed_out]
        groups: list[Sequence[TestReport]] = [
            looping[:5],
            *(others[i : i + TRACE_BATCH] for i in range(0, len(others), TRACE_BATCH)),
        ]
        groups += [quick[i : i + TRACE_BATCH] for i in range(0, len(quick), TRACE_BATCH)]
        began = time.monotonic()
        differing: list[str] = []
        for group in groups:
            if group and time.monotonic() - began < TRACE_BUDGET_S:
                traced = self._run(group, lines=True)
                for report in traced:
                    if report.node in tests:
                        tests[report.node] = replace(tests[report.node], lines=report.lines)
                differing += self._compare(traced, tests)
        return differing

    def _run(self, group: Sequence[TestReport], lines: bool) -> list[TestReport]:
        server = self.collected()
        nodes = [test.node for test in group if server is not None and test.node in server.nodes]
        if server is None or not nodes:
            return []
        alarm = LOOP_S if all(test.timed_out for test in group) else self._limit_s
        limits = {"start": self._limit_s + GRACE_S, "default": alarm + GRACE_S}
        reports: list[TestReport] = []
        while nodes:
            request = {"nodes": nodes, "lines": lines, "alarm": alarm, "limits": limits}
            try:
                answer = server.ask(request, (alarm + 2 * GRACE_S) * (len(nodes) + 1))
            except ServerLost:
                self.drop_collected()
                break
            cut = interrupted(answer)
            reports += tests_of(answer)
            if cut is None:
                break
            reports.append(cut)
            nodes = nodes[nodes.index(cut.node) + 1 :] if cut.node in nodes else []
        return reports

    def _compare(self, again: Iterable[TestReport], tests: Mapping[str, TestReport]) -> list[str]:
        """Note which tests ended as before; mark and return those that did not."""
        differing = []
        for report in again:
            before = tests.get(report.node)
            if before is None:
                continue
            self._checked.add(report.node)
            if before.outcome.failing == report.outcome.failing:
                self.shy.discard(report.node)
            else:
                self.shy.add(report.node)
                differing.append(report.node)
        return differing

    def _tell_flaky(self, tests: dict[str, TestReport], nodes: Sequence[str]) -> None:
        """Two more cold runs: who changes there is flaky, who does not is only unfit for forks."""
        request = {"nodes": list(nodes), "limits": {"start": 120.0, "default": self._limit_s + GRACE_S}}
        server = self._start("fresh")
        try:
            for _ in range(2):
                answer = server.ask(request, self._limit_s * (len(nodes) + 6))
                for report in tests_of(answer):
                    before = tests.get(report.node)
                    if before is not None and before.outcome.failing != report.outcome.failing:
                        tests[report.node] = replace(before, flaky=True)
        except ServerLost:
            pass
        finally:
            server.close()


class Collected(TestServer):
    """A server that has collected; `nodes` are the tests it holds."""

    def __init__(self, setup: Setup, tree: WorkingCopy, writable: bool) -> None:
        super().__init__(setup, tree, "collected", writable=writable)
        nodes = self.ready.get("nodes")
        self.nodes = (
            frozenset(node for node in nodes if isinstance(node, str)) if isinstance(nodes, list) else frozenset()
        )


def _usage(tail: str, setup: Setup, installed: Collection[object]) -> str:
    """What to do when pytest did not take its arguments. `installed` are modules of plugins that they may come from."""
    lines = [line for line in tail.splitlines() if line.strip()]
    reason = next((line for line in lines if "error: " in line), lines[-1] if lines else "no message")
    text = f"pytest refused to start: {reason.strip()}"
    for option, plugin, module in _OPTIONS:
        if "unrecognized arguments" in reason and f" {option}" in reason:
            text += f"\n{option} comes from {plugin}"
            if module in installed:
                text += ", which is installed but switched off: by `-p no:…` in the options of pytest"
            else:
                text += f": install it with `{setup.python} -m pip install {plugin}`"
    if "unrecognized arguments" in reason:
        text += "\nor leave the project's own options out: coder fix … -- -o addopts="
    if "No module named" in tail:
        text += "\ninstall what is missing into that interpreter, or name the project's own with --python"
    return text
