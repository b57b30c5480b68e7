"""One task from beginning to end: the copy, the conversation, the diff; applied, dropped or gone on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from coder import events as shared
from coder.agent import budget, events
from coder.agent.approvals import Answer, Request
from coder.agent.loop import Conversation, Ending, How
from coder.agent.models import Chosen
from coder.agent.prompt import opening
from coder.agent.reading import read_before
from coder.agent.redact import Redactor
from coder.agent.toolbox import Command, External, Toolbox
from coder.agent.trajectory import APPLIED, DROPPED, FINISHED, RUNNING, Trajectory, saved
from coder.agent.verdict import Tests, Verdict
from coder.agent.workspace import Harvest, Workspace
from coder.engine import Engine
from coder.exit_status import ExitStatus
from coder.failure import Conflict, Failure
from coder.journal import Entry
from coder.patch import Version, unified_diff
from coder.trust import Standing, Trust, covered_files
from sandbox.contract import MIB
from sandbox.contract import Limits as RunLimits
from sandbox.text import clean

if TYPE_CHECKING:
    from model.chat import Message

ADVICE = "AGENTS.md"


@dataclass(frozen=True)
class Options:
    """How a task may go about it. `keeps` False: it may look and try, and changes nothing. `thinking` in tokens."""

    limits: budget.Limits = field(default_factory=budget.Limits)
    keeps: bool = True
    thinking: int = 0


@dataclass(frozen=True)
class Report:
    """What a task comes to."""

    harvest: Harvest
    diff: str
    verdict: Verdict
    commands: tuple[Command, ...]


class Task:
    """A context manager: the copy lives as long as it does, and nobody else works on the task. All methods raise
    Failure; making one raises Conflict where another does."""

    def __init__(
        self,
        engine: Engine,
        chosen: Chosen,
        trajectory: Trajectory,
        options: Options,
        approve: Callable[[Request], Answer],
        variables: Mapping[str, str],
        externals: Sequence[External] = (),
    ) -> None:
        self.engine, self.trajectory, self.options = engine, trajectory, options
        self._chosen, self._approve = chosen, approve
        self._redact = Redactor(variables)
        limits = RunLimits(wall_s=600.0, memory=engine.settings.memory_mb * MIB)
        with ExitStack() as stack:
            stack.enter_context(trajectory.held())
            workspace = Workspace(engine.repository, engine.sandbox(), engine.python, limits, options.keeps)
            self.workspace = stack.enter_context(workspace)
            self._budget = budget.Budget(options.limits)
            self._tests = Tests(engine, workspace, self._left_s)
            self._toolbox = Toolbox(workspace, approve, self._tests.observe, self._left_s, externals)
            self._commands_saved = 0
            self._conversation = self._begin()
            self._stack = stack.pop_all()

    def __enter__(self) -> Task:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @property
    def used(self) -> budget.Budget:
        return self._budget

    def run(self, more: str = "") -> Ending:
        """Goes on until the model ends it or a budget does. `more` is what the user adds."""
        from model.chat import ChatError, Message

        if more:
            message = Message("user", more)
            self._conversation.messages.append(message)
            self._record([message], (), self._budget.tokens)
            self._budget.renew(self.options.limits)
        self.trajectory.mark(RUNNING)
        try:
            ending = self._conversation.run()
        except ChatError as error:
            problem = clean(self._redact(str(error)))  # a server may say back what it was sent
            self.trajectory.mark("model failed", problem)
            hint = f"`coder tasks resume {int(self.trajectory.head.id)}` goes on from here."
            raise Failure(ExitStatus.MODEL_FAILED, problem, hint) from error
        except KeyboardInterrupt:
            self.trajectory.mark("interrupted")
            raise
        self.trajectory.mark(FINISHED if ending.how is How.FINISHED else ending.how.value, ending.message)
        return ending

    def report(self) -> Report:
        """The diff, and what the tests say of it. Raises Conflict where the user's files changed meanwhile."""
        harvest = self.workspace.harvest()
        paths = [change.path for change in harvest.changes]
        unchanged = Verdict(problem="nothing was changed", lost=harvest.lost)
        verdict = self._tests.verdict(harvest) if paths else unchanged
        report = Report(harvest, unified_diff(harvest.changes), verdict, self._commands())
        tests = tuple(path for path in paths if self._tests.are_in(path))
        commands = tuple(asdict(command) for command in report.commands)
        self.engine.listener(
            events.Handover(tuple(paths), report.diff, harvest.left_out, commands, self._redact(str(verdict)), tests)
        )
        return report

    def apply(self, report: Report) -> Entry:
        """Writes the changes through the journal."""
        entry = self.engine.journal.apply(report.harvest.changes, _note(self.trajectory.head.request))
        self.trajectory.mark(APPLIED, f"change {entry.id}")
        self.engine.listener(shared.Applied(entry.id, entry.paths))
        return entry

    def drop(self) -> None:
        self.trajectory.mark(DROPPED)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _left_s(self) -> float:
        return self._budget.left_s

    def _begin(self) -> Conversation:
        from model.chat import ChatOptions

        steps = self.trajectory.steps()
        head = self.trajectory.head
        known = read_before(self.engine, self._chosen.chat, head.request)
        if steps:
            self._restore()
            messages = [message for step in steps for message in step.messages]
        else:
            advice, shown = self._redact(self._advice()), {path: self._redact(text) for path, text in known.items()}
            messages = opening(head.request, list(self.workspace.files()), advice, head.mark, shown)
        self.engine.listener(
            events.TaskStart(
                head.id,
                head.request,
                str(self.engine.repository.root),
                self._chosen.name,
                self.workspace.sandbox.level.value,
                len(self.engine.repository.files),
                bool(steps),
            )
        )
        conversation = Conversation(
            self._chosen.chat,
            self._toolbox,
            self._budget,
            messages,
            self._record,
            ChatOptions(max_tokens=8192, thinking=self.options.thinking, grounded=self._chosen.small),
            self._redact,
            head.mark,
            self.engine.listener,
            self._chosen.room,
        )
        if not steps:
            self._record(messages, (), 0)
        return conversation

    def _restore(self) -> None:
        """Puts the copy back to where the log ends. Raises Conflict where the user changed what the task changed."""
        files = self.trajectory.files()
        edited = []
        for path, file in files.items():
            base = self.workspace.base(path)
            if (base.hash if base else "") != file.base:
                edited.append(path)
        if edited:
            hint = "Start the task anew; `coder tasks show` still has its log."
            raise Conflict(f"changed since the task began: {', '.join(edited)}", hint)
        self.workspace.restore(
            {
                path: None if file.data is None else Version(file.data, 0o755 if file.executable else 0o644)
                for path, file in files.items()
            }
        )

    def _record(self, messages: Sequence[Message], notes: Sequence[Mapping[str, Any]], tokens: int) -> None:
        changed = self.workspace.changed()
        files = saved(changed, {path: self.workspace.base(path) for path in changed})
        fresh = [asdict(command) for command in self._toolbox.commands[self._commands_saved :]]
        self._commands_saved = len(self._toolbox.commands)
        self.trajectory.append(messages, files, notes, fresh, tokens)

    def _commands(self) -> tuple[Command, ...]:
        logged = [command for step in self.trajectory.steps() for command in step.commands]
        return tuple(Command(tuple(one["argv"]), one["outcome"], one["seconds"]) for one in logged)

    def _advice(self) -> str:
        """What AGENTS.md says, where the user has looked at it: advice to the model and nothing else."""
        try:
            advice = self.workspace.read(ADVICE)
        except (FileNotFoundError, Conflict):
            return ""
        root = self.engine.repository.root
        standing = Trust(self.engine.state).standing(root, {**covered_files(root), ADVICE: advice})
        if standing is not Standing.TRUSTED:
            self.engine.listener(
                shared.Notice(f"{ADVICE} is not passed on: this project is {standing.value} (`coder trust`)")
            )
            return ""
        return advice.data.decode("utf-8", "replace")


def _note(request: str) -> str:
    line = " ".join(request.split())
    return f"do: {line[:60]}{'…' if len(line) > 60 else ''}"
