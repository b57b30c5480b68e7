"""What the tests say of a task's changes, in terms of what they said before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coder.agent.observation import Observation, Standing, bounded
from coder.engine import Engine, FixRequest
from coder.targets import some
from sandbox.contract import SandboxUnavailable
from sandbox.testing.protected import is_protected
from sandbox.testing.report import TestsNotRun

if TYPE_CHECKING:
    from coder.agent.workspace import Workspace
    from sandbox.testing.report import Baseline
    from sandbox.working_copy import WorkingCopy

_DETAILED = 8
_MESSAGE = 1_500


@dataclass(frozen=True)
class Verdict:
    """`broken`: tests that passed before and do not now, be it that they are gone. `failing`: all that fail now."""

    passing: int = 0
    failing: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    problem: str = ""

    @property
    def worse(self) -> bool:
        return bool(self.broken)

    def __str__(self) -> str:
        if self.problem:
            return self.problem + (f"; {len(self.broken)} passed before" if self.broken else "")
        if self.broken:
            return f"{len(self.broken)} tests passed before and do not now: {some(self.broken)}"
        others = f"; {len(self.failing)} others fail, none of which passed before" if self.failing else ""
        return f"passes {self.passing} test{'s' * (self.passing != 1)}{others}"


class Tests:
    """Runs the project's tests on a workspace."""

    __test__ = False

    def __init__(self, engine: Engine, workspace: Workspace) -> None:
        self._engine, self._workspace = engine, workspace
        self._test_files: set[str] = set()

    def observe(self, nodes: Sequence[str]) -> Observation:
        """As a tool: how many pass, and why those fail that do."""
        try:
            baseline = self._run(self._workspace.tree, nodes)
        except TestsNotRun as error:
            return Observation(Standing.FAILED, f"the tests cannot be run: {error}")
        line = f"{len(baseline.passing)} passed, {len(baseline.failing)} failed"
        details = [
            f"\n{node}: {baseline.tests[node].error}\n{bounded(baseline.tests[node].message, _MESSAGE)}"
            for node in baseline.failing[:_DETAILED]
        ]
        rest = [f"\nalso failing: {', '.join(baseline.failing[_DETAILED:])}"] if baseline.failing[_DETAILED:] else []
        standing = Standing.FAILED if baseline.failing else Standing.DONE
        return Observation(standing, "\n".join([line, *details, *rest]), line)

    def verdict(self, changed: Sequence[str]) -> Verdict:
        """After the changes; and before them too, where that matters to what is said."""
        if not self._there_are():
            return Verdict(problem="there are no tests")
        try:
            after = self._run(self._workspace.tree)
        except TestsNotRun as error:
            return Verdict(broken=self._passed_before(), problem=f"the tests cannot be run: {error}")
        # Where tests may have changed or gone, it takes those from before to tell.
        if not after.failing and not any(self.are_in(path) or self._is_gone(path) for path in changed):
            return Verdict(len(after.passing))
        before = self._passed_before()
        passing = {*after.passing, *after.flaky}
        broken = tuple(node for node in before if node not in passing)
        return Verdict(len(after.passing), after.failing, broken)

    def are_in(self, path: str) -> bool:
        """Whether a file is of tests or configures them: by its name, or by the runs so far."""
        return is_protected(path) or path in self._test_files

    def _is_gone(self, path: str) -> bool:
        return not (self._workspace.tree.root / path).exists()

    def _passed_before(self) -> tuple[str, ...]:
        try:
            return self._run(self._workspace.original).passing
        except TestsNotRun:
            return ()

    def _there_are(self) -> bool:
        if self._engine.settings.test_command:
            return True
        return any(path.endswith(".py") and is_protected(path) for path in self._workspace.files())

    def _run(self, tree: WorkingCopy, nodes: Sequence[str] = ()) -> Baseline:
        request = FixRequest(allow_test_edits=True)
        tester = self._engine.tester(self._workspace.sandbox, tree, request)
        try:
            baseline = tester.baseline(nodes, progress=lambda *_: None)
        except SandboxUnavailable as error:
            raise TestsNotRun(str(error)) from error
        finally:
            tester.close()
        self._test_files.update(baseline.test_files)
        return baseline
