"""What the tests say of a task's changes, in terms of what they said before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coder.agent.observation import Observation, Standing, bounded
from coder.agent.timed import TimedSandbox
from coder.engine import Engine, FixRequest
from coder.targets import some
from sandbox.contract import SandboxUnavailable
from sandbox.testing.protected import is_protected
from sandbox.testing.report import TestsNotRun

if TYPE_CHECKING:
    from coder.agent.workspace import Harvest, Workspace
    from sandbox.testing.report import Baseline
    from sandbox.working_copy import WorkingCopy

AT_LEAST_S = 120.0
"""So long the tests at the end may take, however little of the budget is left."""
_DETAILED = 8
_MESSAGE = 1_500


class OutOfTime(Exception):
    """The tests did not end within the time that there was for them; the message says how long that was."""


@dataclass(frozen=True)
class Verdict:
    """`broken`: tests that passed before and do not now, be it that they are gone. `failing`: all that fail now.
    `lost`: paths without which the changes are but a part. `late`: the tests did not end in time. `running`: tests
    that run the lines that were asked about; None where that is not known."""

    passing: int = 0
    failing: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    problem: str = ""
    lost: tuple[str, ...] = ()
    late: bool = False
    running: tuple[str, ...] | None = None

    @property
    def worse(self) -> bool:
        """Whether the changes are not to be applied unless somebody who has read this says so."""
        return bool(self.broken or self.lost) or self.late

    def __str__(self) -> str:
        if self.lost:
            return f"what became of {some(self.lost)} cannot be handed over; {replace(self, lost=())}"
        if self.problem:
            return self.problem + (f"; {len(self.broken)} passed before" if self.broken else "")
        if self.broken:
            return f"{len(self.broken)} tests passed before and do not now: {some(self.broken)}"
        fail = "1 other fails, and did not pass before"
        if len(self.failing) > 1:
            fail = f"{len(self.failing)} others fail, none of which passed before"
        others = f"; {fail}" if self.failing else ""
        return f"passes {self.passing} test{'s' * (self.passing != 1)}{others}"


class Tests:
    """Runs the project's tests, within what is left of the budget in seconds."""

    __test__ = False

    def __init__(self, engine: Engine, workspace: Workspace, left_s: Callable[[], float]) -> None:
        self._engine, self._workspace, self._left_s = engine, workspace, left_s
        self._test_files: set[str] = set()
        self._before: tuple[str, ...] | None = None

    def observe(self, nodes: Sequence[str]) -> Observation:
        """As a tool, on the copy as it is: how many pass, and why those fail that do."""
        try:
            baseline = self._run(self._workspace.tree, self._sandbox(1.0), nodes)
        except TestsNotRun as error:
            return Observation(Standing.FAILED, f"the tests cannot be run: {error}")
        except OutOfTime as late:
            return Observation(Standing.FAILED, str(late))
        line = f"{len(baseline.passing)} passed, {len(baseline.failing)} failed"
        details = [
            f"\n{node}: {baseline.tests[node].error}\n{bounded(baseline.tests[node].message, _MESSAGE)}"
            for node in baseline.failing[:_DETAILED]
        ]
        rest = [f"\nalso failing: {', '.join(baseline.failing[_DETAILED:])}"] if baseline.failing[_DETAILED:] else []
        standing = Standing.FAILED if baseline.failing else Standing.DONE
        return Observation(standing, "\n".join([line, *details, *rest]), line)

    def verdict(self, harvest: Harvest, path: str = "", lines: Sequence[int] = ()) -> Verdict:
        """With the changes that are handed over, and nothing else that the task did; and before them too, where that
        matters to what is said. `lines` of `path`, as it is then, are those that are asked about."""
        changed = [change.path for change in harvest.changes]
        if not self._there_are(changed):
            return Verdict(problem="there are no tests", lost=harvest.lost)
        try:
            with self._workspace.result(harvest.changes) as tree:
                verdict = self._compared(tree, changed, self._sandbox(AT_LEAST_S), path, lines)
        except OutOfTime as late:
            verdict = Verdict(problem=str(late), late=True)
        return replace(verdict, lost=harvest.lost)

    def _compared(
        self, tree: WorkingCopy, changed: Sequence[str], sandbox: TimedSandbox, path: str, lines: Sequence[int]
    ) -> Verdict:
        try:
            after = self._run(tree, sandbox)
        except TestsNotRun as error:
            return Verdict(broken=self._passed_before(sandbox), problem=f"the tests cannot be run: {error}")
        known = bool(lines) and any(test.lines for test in after.tests.values())
        running = after.covering(path, lines) if known else None
        # Where tests may have changed or gone, it takes those from before to tell.
        if not after.failing and not any(self.are_in(path) or not (tree.root / path).exists() for path in changed):
            return Verdict(len(after.passing), running=running)
        before = self._passed_before(sandbox)
        passing = {*after.passing, *after.flaky}
        broken = tuple(node for node in before if node not in passing)
        return Verdict(len(after.passing), after.failing, broken, running=running)

    def are_in(self, path: str) -> bool:
        """Whether a file is of tests or configures them: by its name, or by the runs so far."""
        return is_protected(path) or path in self._test_files

    def _passed_before(self, sandbox: TimedSandbox) -> tuple[str, ...]:
        if self._before is None:
            try:
                self._before = self._run(self._workspace.original, sandbox).passing
            except TestsNotRun:
                self._before = ()
        return self._before

    def _there_are(self, changed: Sequence[str]) -> bool:
        """Whether there are tests, or were before."""
        if self._engine.settings.test_command:
            return True
        files = (*self._engine.repository.files, *changed)
        return any(path.endswith(".py") and is_protected(path) for path in files)

    def _sandbox(self, least_s: float) -> TimedSandbox:
        return TimedSandbox(self._workspace.sandbox, max(self._left_s(), least_s))

    def _run(self, tree: WorkingCopy, sandbox: TimedSandbox, nodes: Sequence[str] = ()) -> Baseline:
        """Raises TestsNotRun, OutOfTime."""
        late = OutOfTime(f"the tests did not end within {sandbox.seconds:.0f} s")
        tester = self._engine.tester(sandbox, tree, FixRequest(allow_test_edits=True))
        try:
            baseline = tester.baseline(nodes, progress=lambda *_: None)
        except (TestsNotRun, SandboxUnavailable) as error:
            if not sandbox.left_s:
                raise late from error
            raise TestsNotRun(str(error)) from error
        finally:
            tester.close()
        if not sandbox.left_s and any(test.timed_out for test in baseline.tests.values()):
            raise late  # it was cut off, which says nothing of the test
        self._test_files.update(baseline.test_files)
        return baseline
