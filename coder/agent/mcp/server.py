"""What this program offers to other assistants over MCP: fix, prove, complete, do. Nothing here writes the user's
files: a diff comes back, and whoever asked decides."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from coder.agent.approvals import Approvals
    from coder.agent.models import Chosen
    from coder.engine import Engine
    from model.local_chat import LocalChat

INSTRUCTIONS = """Tools over one Python project, the folder that the server was started for. Tests and commands run \
in a sandbox on a copy. No tool changes the user's files: each returns a unified diff that you may apply."""


@dataclass
class Offers:
    """The tools. `make_engine` opens the project anew, so that each call sees its files as they are. One call at a
    time: models and tests take the whole machine."""

    make_engine: Callable[[], Engine]
    choose: Callable[[Engine], Chosen | None]
    approvals: Callable[[Engine], Approvals]
    open_chat: Callable[[Engine], LocalChat]
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._one = threading.Lock()
        self._chat: LocalChat | None = None

    def fix(self, tests: list[str] | None = None, use_model: bool = True) -> dict[str, Any]:
        """Find a patch that makes failing tests pass and keeps the others passing, proved in a fresh sandbox.

        tests: node ids, files or folders; none for all that fail.
        """
        from coder.engine import FixRequest

        with self._one:
            try:
                patches = self.make_engine().fix(FixRequest(tests=tuple(tests or ()), use_model=use_model))
            except Failure as failure:
                return _failed(failure)
            if not patches:
                return {"status": "not_repaired", "diff": ""}
            best = patches[0]
            return {"status": "proved", "diff": best.diff, "note": best.proposal.note, "proof": best.verdict.summary()}

    def prove(self, files: dict[str, str]) -> dict[str, Any]:
        """Say what the project's tests say of a change: files maps paths to their whole new texts.

        The tests run before and after, cold and twice, each in a fresh sandbox. A change of tests is refused.
        """
        from coder.engine import FixRequest

        with self._one:
            try:
                engine = self.make_engine()
                for path in files:
                    if path in engine.repository.files:
                        engine.repository.read(path)
                    elif engine.repository.rules.hidden(path):
                        raise Failure(ExitStatus.USAGE, f"{path} is hidden by an ignore or secret rule")
                with engine.session(FixRequest()) as session:
                    before = engine.run_tests(session)
                    verdict = session.tester.confirm(files, repeats=2)
            except Failure as failure:
                return _failed(failure)
            except ValueError as error:
                return {"status": "usage", "message": str(error)}
            harmless = not (before.failing or verdict.broken or verdict.problem or verdict.dishonest)
            return {
                "status": "proved" if verdict.passed else "still_passing" if harmless else "not_proved",
                "verdict": f"{len(before.passing)} tests still pass" if harmless else verdict.summary(),
                "failing_before": list(before.failing),
            }

    def complete(self, prefix: str, suffix: str = "", max_tokens: int = 64) -> str:
        """Write what stands between prefix and suffix, with the local model."""
        from model.chat import ChatOptions, Text

        with self._one:
            self._chat = self._chat or self.open_chat(self.make_engine())
            options = ChatOptions(max_tokens=max(1, min(max_tokens, 1024)))
            return "".join(one.text for one in self._chat.complete(prefix, suffix, options) if isinstance(one, Text))

    def do(self, request: str, max_steps: int = 30) -> dict[str, Any]:
        """Carry out a task on a copy of the project with the model that the user configured; returns its diff."""
        from coder.agent.budget import Limits
        from coder.agent.task import Options, Task
        from coder.agent.trajectory import Trajectory

        with self._one:
            try:
                engine = self.make_engine()
                chosen = self.choose(engine)
                if chosen is None:
                    raise Failure(ExitStatus.MODEL_FAILED, "no endpoint and no chat model is configured")
                trajectory = Trajectory.create(engine.state, request, engine.repository.root, chosen.name)
                options = Options(Limits(steps=max(1, max_steps)))
                with Task(engine, chosen, trajectory, options, self.approvals(engine), self.variables) as task:
                    ending, report = task.run(), task.report()
            except Failure as failure:
                return _failed(failure)
            return {
                "status": ending.how.value,
                "summary": ending.message,
                "diff": report.diff,
                "tests": str(report.verdict),
                "left_out": report.harvest.left_out,
                "task": trajectory.head.id,
            }


def build(offers: Offers) -> MCPServer:
    """The server, not yet running."""
    from importlib.metadata import version

    from mcp.server.mcpserver import MCPServer

    server = MCPServer("coder", instructions=INSTRUCTIONS, version=version("coder"), log_level="WARNING")
    for tool in (offers.fix, offers.prove, offers.complete, offers.do):
        server.tool()(tool)
    return server


def _failed(failure: Failure) -> dict[str, Any]:
    return {"status": failure.status.name.lower(), "message": failure.message, "hint": failure.hint}
