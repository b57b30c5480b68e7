"""`coder tasks`: list, show, resume."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coder.agent.approvals import Ask
from coder.agent.budget import Limits
from coder.cli.do import (
    Apply,
    AsJson,
    AskWhen,
    Endpoint,
    MaxSteps,
    MaxTokens,
    Model,
    NoMcp,
    Open,
    Python,
    ReadOnly,
    ThinkingTokens,
    Timeout,
)
from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from coder.agent.trajectory import Trajectory
    from coder.environment import Environment

app = typer.Typer(add_completion=False, no_args_is_help=True, help="The tasks of `coder do`: list, show, resume.")
Number = Annotated[str, typer.Argument(help="Its number, as `coder tasks list` shows it.")]


@app.command("list")
def list_tasks(
    context: typer.Context,
    everywhere: Annotated[bool, typer.Option("--all", help="Of all projects, not only this one.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the tasks of this project, latest last."""
    from coder.agent.trajectory import Trajectory

    environment: Environment = context.obj
    here = environment.cwd.resolve()
    every = list(Trajectory.all(environment.state_dir))
    shown = [one for one in every if everywhere or here.is_relative_to(one.head.root)]
    if not shown and not as_json:
        others = f"; {len(every)} of other projects: `coder tasks list --all`" if every else ""
        environment.tell(f"There are no tasks of this project{others}. `coder do` begins one.")
    for trajectory in shown:
        head = trajectory.head
        if as_json:
            print(json.dumps(_facts(trajectory)))
            continue
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(head.time))
        environment.write(f"{int(head.id):>4}  {day}  {head.status:<18} {' '.join(head.request.split())[:80]}\n")


@app.command()
def show(context: typer.Context, task: Number, as_json: AsJson = False) -> None:
    """Show what was asked, said and done in a task, and what came of it."""
    from coder.agent.trajectory import Trajectory
    from coder.cli.display import print_diff

    environment: Environment = context.obj
    trajectory = Trajectory.open(environment.state_dir, task)
    steps = trajectory.steps()
    diff, edited = _diff(trajectory)
    if as_json:
        notes = [note for step in steps for note in step.notes]
        commands = [command for step in steps for command in step.commands]
        facts = {**_facts(trajectory), "notes": notes, "commands": commands, "diff": diff, "changed_since": edited}
        print(json.dumps(facts))
        return
    head = trajectory.head
    environment.tell(f"task {int(head.id)}, {head.status}: {head.message}".rstrip(": "))
    for step in steps:
        for message in step.messages:
            if message.role == "system":
                continue
            for call in message.tool_calls:
                environment.tell(f"  call {call.name} {json.dumps(dict(call.arguments))[:200]}")
            if message.content.strip():
                environment.tell(f"{message.role}: {message.content.strip()[:600]}")
    print_diff(environment, diff)
    if edited:
        environment.tell(f"changed since, so not in the diff: {', '.join(edited)}")


@app.command()
def resume(
    context: typer.Context,
    task: Number,
    more: Annotated[str, typer.Argument(metavar="[REQUEST]", help="What else is to be done.")] = "",
    apply: Apply = None,
    max_steps: MaxSteps = Limits.steps,
    timeout: Timeout = Limits.seconds,
    max_tokens: MaxTokens = Limits.tokens,
    model: Model = None,
    endpoint: Endpoint = None,
    ask: AskWhen = Ask.outside,
    read_only: ReadOnly = False,
    python: Python = None,
    thinking: ThinkingTokens = 0,
    open_result: Open = False,
    no_mcp: NoMcp = False,
    as_json: AsJson = False,
) -> None:
    """Go on with a task from its last whole step.

    Refuses when a file that the task changed was edited since it began.
    """
    from coder.agent.trajectory import APPLIED, Trajectory
    from coder.cli.task_run import Runner, Wishes, run_to_exit

    environment: Environment = context.obj
    wishes = Wishes(
        Limits(max_steps, timeout, max_tokens), apply, ask, read_only, thinking, as_json, open_result, not no_mcp
    )
    runner = Runner(environment, environment.cwd, wishes, model=model, endpoint=endpoint, python=python)

    def work() -> ExitStatus:
        trajectory = Trajectory.open(environment.state_dir, task)
        if trajectory.head.status == APPLIED:
            raise Failure(
                ExitStatus.USAGE, f"task {task} was applied", "`coder undo` takes it back; `coder do` begins another."
            )
        runner.root = Path(trajectory.head.root)  # before the engine is opened there
        chosen = runner.chosen()
        if chosen is None:
            raise Failure(ExitStatus.MODEL_FAILED, "no model is named", "Name one with --endpoint or --model.")
        return runner.carry_out(chosen, trajectory, more)

    raise typer.Exit(run_to_exit(runner, work))


def _diff(trajectory: Trajectory) -> tuple[str, list[str]]:
    """What the task comes to, against the user's files; and those of them that are neither what the task found nor what
    it made of them. Raises Failure where the project is gone."""
    from coder.patch import Change, Version, unified_diff
    from coder.repository import Repository

    repository = Repository.open(Path(trajectory.head.root))
    changes, edited = [], []
    for path, saved in trajectory.files().items():
        try:
            now: Version | None = repository.read(path)
        except (FileNotFoundError, NotADirectoryError):
            now = None
        except (OSError, Failure):
            continue
        after = None if saved.data is None else Version(saved.data, 0o755 if saved.executable else 0o644)
        if (now.hash if now else "") == saved.base:
            changes.append(Change(path, now, after))
        elif (now and now.data) != (after and after.data):
            edited.append(path)
    return unified_diff(changes), edited


def _facts(trajectory: Trajectory) -> dict[str, Any]:
    head = trajectory.head
    return {
        "task": head.id,
        "time": head.time,
        "status": head.status,
        "message": head.message,
        "request": head.request,
        "root": head.root,
        "model": head.model,
        "steps": len(trajectory.steps()) - 1,
    }
