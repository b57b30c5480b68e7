"""The proof: the whole suite on the patched tree, cold, in a fresh sandbox, judged by everything but its exit code."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from sandbox.testing import texts
from sandbox.testing.channel import SUITE_S, Answer, ServerLost, Setup, TestServer, text_of
from sandbox.testing.events import interrupted, is_canary, tests_of
from sandbox.testing.pace import Pace
from sandbox.testing.protected import is_protected
from sandbox.testing.report import Baseline, Outcome, TestReport, Verdict
from sandbox.working_copy import WorkingCopy

FLAKY_REPEATS = 3
SLACK = 10.0
"""A cold run must not fail by a busy machine: its time limits are that much wider than a trial's."""


def prove(
    setup: Setup,
    tree: WorkingCopy,
    baseline: Baseline,
    pace: Pace,
    files: Mapping[str, str],
    repeats: int,
    targets: Sequence[str],
) -> Verdict:
    """Run the suite `repeats` times on `tree` with `files` in place, more often where flaky tests are targets."""
    wanted = tuple(targets) or baseline.failing
    if set(wanted) & set(baseline.flaky):
        repeats = max(repeats, FLAKY_REPEATS)
    began = time.monotonic()
    runs: list[dict[str, Outcome]] = []
    with tree.fork() as patched:
        for path, text in files.items():
            patched.write(path, texts.encode(tree, path, text))
        protected = sorted(_protected(patched, frozenset(baseline.test_files)))
        for _ in range(repeats):
            problem, outcomes = _run(setup, patched, baseline, pace, protected, files)
            if problem:
                seconds = time.monotonic() - began
                return Verdict(unfixed=wanted, problem=problem, level=setup.sandbox.level, seconds=seconds)
            runs.append(outcomes)
    return _judge(setup, baseline, runs, wanted, time.monotonic() - began)


def _protected(tree: WorkingCopy, tests: frozenset[str]) -> list[str]:
    found = []
    for place in tree.root.rglob("*"):
        path = place.relative_to(tree.root).as_posix()
        if (path in tests or is_protected(path)) and place.is_file():
            found.append(path)
    return found


def _run(
    setup: Setup, tree: WorkingCopy, baseline: Baseline, pace: Pace, protected: list[str], files: Mapping[str, str]
) -> tuple[str, dict[str, Outcome]]:
    """One cold run: what is wrong with it as evidence, and how each test ended."""
    nodes = [node for node, test in baseline.tests.items() if test.collected]
    limits = pace.limits(nodes, SLACK)
    limits["start"] = max(120.0, limits["start"])
    try:
        server = TestServer(setup, tree, "fresh", protected=protected)
    except ServerLost as lost:
        return str(lost), {}
    try:
        answer = server.ask({"limits": limits, "canary": True}, SUITE_S)
    except ServerLost as lost:
        return str(lost), {}
    finally:
        server.close()
    return _evidence(answer, baseline, files), {report.node: report.outcome for report in tests_of(answer)}


def _evidence(answer: Answer, baseline: Baseline, files: Mapping[str, str]) -> str:
    """Why this run proves nothing; "" when it is sound."""
    cut = interrupted(answer)
    if cut is not None:
        return f"{cut.node}: {cut.message}"
    if answer.done.get("ended") is not True:
        return f"the test process ended early: {text_of(answer.done, 'tail')[-500:]}"
    if answer.done.get("tampered"):
        return f"test files were changed during the run: {answer.done['tampered']}"
    reports = [report for report in tests_of(answer) if report.collected]
    canaries = [report for report in reports if is_canary(report.node)]
    if not canaries or reports[-len(canaries) :] != canaries:
        return "the tests that must fail did not run last"
    if any(canary.outcome is not Outcome.FAILED for canary in canaries):
        return "a test that must fail passed: the test machinery was tampered with"
    if len(answer.of("finish")) != 1 or [event.get("code") for event in answer.of("exit")] != [1]:
        return "the run did not come to its proper end"
    return _same_tests(reports, baseline, files)


def _same_tests(reports: Sequence[TestReport], baseline: Baseline, files: Mapping[str, str]) -> str:
    ran = Counter(report.node for report in reports if not is_canary(report.node))
    if any(count > 1 for count in ran.values()):
        return "a test reported more than once"
    expected = {node for node, test in baseline.tests.items() if test.collected}
    # Files whose tests may differ: a change of them is let through with permission alone.
    free = {path for path in files if path in baseline.test_files or is_protected(path)}
    gone = [node for node in expected - ran.keys() if node.partition("::")[0] not in free]
    if gone:
        return f"{len(gone)} tests did not run, {gone[0]} among them"
    free |= {test.node for test in baseline.collection_errors}
    new = [node for node in ran.keys() - expected if node.partition("::")[0] not in free]
    return f"{len(new)} tests ran that did not exist before, {new[0]} among them" if new else ""


def _judge(
    setup: Setup, baseline: Baseline, runs: Sequence[Mapping[str, Outcome]], wanted: Sequence[str], seconds: float
) -> Verdict:
    def always(node: str, outcome: Outcome) -> bool:
        return all(_outcome(run, baseline, node) is outcome for run in runs)

    fixed, still, broken = [], [], []
    for node, before in baseline.tests.items():
        if before.outcome.failing:
            if always(node, Outcome.PASSED) and (not before.flaky or node in wanted):
                fixed.append(node)
        elif before.flaky:
            continue
        elif always(node, before.outcome):
            if before.outcome is Outcome.PASSED:
                still.append(node)
        elif not always(node, Outcome.PASSED):
            broken.append(node)
        else:
            still.append(node)
    return Verdict(
        fixed=tuple(fixed),
        unfixed=tuple(node for node in wanted if node not in fixed),
        still_passing=tuple(still),
        broken=tuple(broken),
        flaky=baseline.flaky,
        repeats=len(runs),
        level=setup.sandbox.level,
        seconds=seconds,
    )


def _outcome(run: Mapping[str, Outcome], baseline: Baseline, node: str) -> Outcome:
    """How `node` ended; a file that could not be collected passes when all tests that it now has pass."""
    if baseline.tests[node].collected:
        return run.get(node, Outcome.ERROR)
    if node in run:
        return run[node]
    inner = [outcome for name, outcome in run.items() if name.partition("::")[0] == node]
    return Outcome.PASSED if inner and all(outcome is Outcome.PASSED for outcome in inner) else Outcome.FAILED
