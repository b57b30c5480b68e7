"""Carrying out a task for a command: from the settings to the exit status."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder import events as shared
from coder.agent import budget, events
from coder.agent.approvals import Answer, Approvals, Ask, Request, nobody
from coder.cli.json_lines import JsonLines
from coder.cli.options import open_engine
from coder.cli.task_display import TaskDisplay
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure, unexpected
from sandbox.text import visible

if TYPE_CHECKING:
    from coder.agent.models import Chosen
    from coder.agent.task import Report, Task
    from coder.agent.trajectory import Trajectory
    from coder.engine import Engine

PREVIEWED = (".html", ".htm", ".pdf", ".svg", ".tex")


@dataclass(frozen=True)
class Wishes:
    """What the user typed. `apply`: True applies without asking, False only shows, None asks where somebody is."""

    limits: budget.Limits
    apply: bool | None = None
    ask: Ask = Ask.outside
    read_only: bool = False
    thinking: int = 0
    as_json: bool = False
    open_result: bool = False
    servers: bool = True

    @property
    def applies(self) -> bool | None:
        """As `apply`; with `read_only` False."""
        return False if self.read_only else self.apply


class Runner:
    """One task for one command. `typed` are settings from the command line. The engine is opened when it is first used,
    in the work that `run_to_exit` looks after."""

    def __init__(self, environment: Environment, root: Path, wishes: Wishes, **typed: Any) -> None:
        self.environment, self.root, self.wishes = environment, root, wishes
        self.listener: Callable[[shared.Event], None] = (
            JsonLines(environment.stdout) if wishes.as_json else TaskDisplay(environment, wishes.thinking > 0)
        )
        self.begun = time.monotonic()
        self.task = ""
        self.ends = True
        """Whether the last event of `--json` is the task's: not where another command takes over, that has its own."""
        self._used: budget.Budget | None = None
        self._typed = typed

    @cached_property
    def engine(self) -> Engine:
        """Raises Failure."""
        return open_engine(self.environment, self.root, self.listener, not self.wishes.as_json, **self._typed)

    def chosen(self) -> Chosen | None:
        from coder.agent.models import choose

        return choose(self.engine.settings, self.environment.variables, self.wishes.limits.seconds)

    def carry_out(self, chosen: Chosen, trajectory: Trajectory, more: str = "") -> ExitStatus:
        """Raises Failure, KeyboardInterrupt."""
        from coder.agent.task import Options, Task

        self.task = trajectory.head.id
        wishes, engine = self.wishes, self.engine
        approve = Approvals(engine.state, engine.repository.root, wishes.ask, self._asker())
        options = Options(wishes.limits, not wishes.read_only, wishes.thinking)
        with ExitStack() as stack:
            externals = self._externals(approve, stack)
            task = stack.enter_context(
                Task(engine, chosen, trajectory, options, approve, self.environment.variables, externals)
            )
            self._used = task.used
            stack.callback(self._pause)
            while True:
                ending = task.run(more)
                report = task.report()
                self._pause()
                status, message, more = self._decide(task, report, ending.how.value == "finished", ending.message)
                if not more:
                    break
        self.finish(status, message)
        return status

    def finish(self, status: ExitStatus, message: str) -> None:
        """The last event of `--json`."""
        if self.wishes.as_json and self.ends:
            used = self._used
            seconds = round(time.monotonic() - self.begun, 3)
            steps, tokens = (used.steps, used.tokens) if used else (0, 0)
            self.listener(events.TaskResult(status.name.lower(), status, message, self.task, seconds, steps, tokens))

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _decide(self, task: Task, report: Report, finished: bool, message: str) -> tuple[ExitStatus, str, str]:
        """What becomes of the diff: exit status, message, and what the user wants done next if anything."""
        changed = bool(report.harvest.changes)
        if finished:
            self._say(message, answer=not changed)
        else:
            self.environment.tell(f"not finished: {message}. `coder tasks resume {int(self.task)}` goes on.")
        unfinished = ExitStatus.DONE if finished else ExitStatus.NOT_FINISHED
        if not changed:
            return (ExitStatus.NOT_APPLIED if finished and report.harvest.lost else unfinished), message, ""
        wish = self.wishes.apply
        if wish and finished and not report.verdict.worse:
            self._apply(task, report)
            return ExitStatus.DONE, message, ""
        if wish is None and self._somebody:
            answer = self.environment.ask("Apply it?", {"a": "apply", "k": "keep going", "d": "drop"})
            if answer == "a":
                self._apply(task, report)
                return unfinished, message, ""
            if answer == "k":
                self.environment.tell("What is to be done?")
                more = self.environment.stdin.readline().strip()
                return ExitStatus.NOT_APPLIED, message, more or "Go on."
            task.drop()
            reason = "dropped"
        elif wish and finished:
            reason = f"not applied, because {report.verdict}"
        else:
            reason = "only shown, as asked" if wish is False else "nobody was there to ask" if finished else message
        self.listener(shared.Rejected(reason))
        if not self.wishes.as_json:
            self.environment.tell(f"not applied ({reason}): your files are as they were")
        return (ExitStatus.NOT_APPLIED if finished else ExitStatus.NOT_FINISHED), reason, ""

    def _apply(self, task: Task, report: Report) -> None:
        task.apply(report)
        root = self.engine.repository.root
        shown = [root / change.path for change in report.harvest.changes if change.after is not None]
        for path in (path for path in shown if path.suffix.lower() in PREVIEWED):
            self.environment.tell(f"to look at: {path}")
            if self.wishes.open_result:
                import webbrowser

                self.environment.parts.get("open", webbrowser.open)(path.as_uri())

    def _pause(self) -> None:
        if isinstance(self.listener, TaskDisplay):
            self.listener.pause()

    def _say(self, text: str, answer: bool) -> None:
        """The model's last word: the result itself where there is no diff."""
        if self.wishes.as_json:
            return
        if answer:
            self.environment.write(text.rstrip() + "\n")
        else:
            self.environment.tell(text)

    @property
    def _somebody(self) -> bool:
        return self.environment.interactive and not self.wishes.as_json

    def _asker(self) -> Callable[[Request], Answer]:
        return self._ask if self._somebody else nobody

    def _ask(self, request: Request) -> Answer:
        self._pause()
        kinds = {"run": "Run", "server": "Start the MCP server", "tool": "Call"}
        answers = {"y": "yes", "a": "always exactly this here", "n": "no"}
        answer = self.environment.ask(f"{kinds.get(request.kind, request.kind)} {visible(request.shown)}?", answers)
        if answer != "n":
            return Answer(True, lasting=answer == "a")
        self.environment.tell("Why not? The model is told; empty for no reason.")
        return Answer(False, reason=self.environment.stdin.readline().strip())

    def _externals(self, approve: Approvals, stack: ExitStack) -> list[Any]:
        if not self.wishes.servers:
            return []
        from coder.agent.mcp.config import load_servers

        servers = load_servers(self.environment.config_dir)
        if not servers:
            return []
        from coder.agent.mcp.client import Connections

        connections = stack.enter_context(Connections(self.environment.config_dir, self.environment.variables))
        found: list[Any] = []
        for server in servers:
            answer = approve(server.request())
            if not answer.allowed:
                self.listener(shared.Notice(f"MCP server {server.name} is left out: {answer.reason or 'not approved'}"))
                continue
            try:
                found += connections.open(server)
            except Failure as failure:
                self.listener(shared.Notice(f"MCP server {server.name} is left out: {failure.message}"))
        return found


def run_to_exit(runner: Runner, work: Callable[[], ExitStatus]) -> ExitStatus:
    """`work`, its failures told in the way that the user wants: with `--json`, whatever happens, a result is the last
    line."""
    try:
        return work()
    except Failure as failure:
        return _failed(runner, failure)
    except BrokenPipeError:
        raise  # nobody reads the result
    except OSError as error:
        return _failed(runner, unexpected(error))
    except KeyboardInterrupt:
        runner.finish(ExitStatus.INTERRUPTED, "interrupted")
        if runner.task:
            runner.environment.tell(f"`coder tasks resume {int(runner.task)}` goes on from the last whole step")
        raise
    except Exception as error:
        runner.finish(ExitStatus.INTERNAL_ERROR, unexpected(error).message)
        raise


def _failed(runner: Runner, failure: Failure) -> ExitStatus:
    runner.finish(failure.status, failure.message)
    if runner.wishes.as_json:
        return failure.status
    raise failure
