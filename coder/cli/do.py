"""`coder do`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coder.agent.approvals import Ask
from coder.agent.budget import Limits
from coder.cli.options import HERE, Project
from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from coder.cli.task_run import Runner, Wishes
    from coder.environment import Environment

MaxSteps = Annotated[int, typer.Option(metavar="N", min=1, help="Answers of the model at most.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="Time for the task.")]
MaxTokens = Annotated[int, typer.Option(metavar="N", min=1, help="Tokens that the model reads and writes at most.")]
Apply = Annotated[bool | None, typer.Option("--apply/--dry-run", help="Do not ask: apply, or only show.")]
AskWhen = Annotated[Ask, typer.Option(help="When to ask before a call; with nobody there, asking means no.")]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Look and try, but keep no change.")]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The server's model, or a local checkpoint.")
]
Endpoint = Annotated[str | None, typer.Option(metavar="URL", help="OpenAI-compatible server, up to /v1.")]
Python = Annotated[str | None, typer.Option(metavar="PATH", help="Interpreter or environment for commands, tests.")]
ThinkingTokens = Annotated[int, typer.Option(metavar="TOKENS", help="Show reasoning; a local model may use that much.")]
Open = Annotated[bool, typer.Option("--open", help="Open a page or document that was applied.")]
NoMcp = Annotated[bool, typer.Option("--no-mcp", help="Start none of your MCP servers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Events as JSON lines on stdout; never asks.")]


def do(
    context: typer.Context,
    request: Annotated[str, typer.Argument(help="What is to be done, in plain words.")],
    path: Project = HERE,
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
    """Carry out a task on a copy, then show one diff: apply it, drop it, or keep going.

    The model works with tools on a copy of the project; commands run in the sandbox, without network. Your files change
    only when you say so (or with --apply), and `coder undo` takes it back.

    With no endpoint and no checkpoint named, the embedded model answers shell questions; requests to repair failing
    tests go to `coder fix`; and it completes, rewrites, describes and renames Python functions by their names. For
    all else it says that it cannot.

    Examples: `coder do "add a --quiet flag" --endpoint http://127.0.0.1:8000/v1`;
    `coder do "list the ten largest files"`; `coder do "complete the function slugify in text.py"`;
    `coder do "rename the parameter x to width in scale" --apply --json`.

    Exit status: 0 done, and applied where something changed; 2 no such function, or several of the name; 5 a change
    that was not applied; 9 the model cannot be used, or cannot do that; 11 not finished within the limits, no command
    known, or no edit that may be shown; docs/exit_codes.md has all.
    """
    from coder.agent import route
    from coder.agent.trajectory import Trajectory
    from coder.cli.do_edit import edited
    from coder.cli.task_run import Runner, Wishes, run_to_exit
    from coder.verbs.asked import FORMS, understand

    environment: Environment = context.obj
    wishes = Wishes(
        Limits(max_steps, timeout, max_tokens), apply, ask, read_only, thinking, as_json, open_result, not no_mcp
    )
    runner = Runner(environment, environment.cwd / path, wishes, model=model, endpoint=endpoint, python=python)

    def work() -> ExitStatus:
        if not request.strip():
            raise Failure(ExitStatus.USAGE, "the request is empty")
        chosen = runner.chosen()
        if chosen is not None:
            root = runner.engine.repository.root
            return runner.carry_out(chosen, Trajectory.create(environment.state_dir, request, root, chosen.name))
        kind = route(request)
        if kind == "fix":
            runner.ends = False
            return _fix(context, path, wishes, python)
        if kind == "shell":
            return _answer(runner, request)
        wish = understand(request)
        if wish is not None:
            return edited(runner, wish)
        raise Failure(
            ExitStatus.MODEL_FAILED,
            "the embedded model cannot do that: it answers shell questions, repairs failing tests (`coder fix`), and "
            f"edits one function at a time, asked for in these words: {'; '.join(FORMS)}",
            "Name a stronger one: --endpoint URL for a server, --model for a checkpoint that was taught to chat.",
        )

    raise typer.Exit(run_to_exit(runner, work))


def _fix(context: typer.Context, path: Path, wishes: Wishes, python: str | None) -> ExitStatus:
    """`coder fix` with what was typed here and means something there. It ends `--json` by itself."""
    import typer.main

    from coder.cli.fix import app

    arguments = [str(path), *(["--json"] if wishes.as_json else []), *(["--python", python] if python else [])]
    source = context.get_parameter_source("timeout")
    if source is not None and source.name == "COMMANDLINE":  # a repair has a limit of its own by default
        arguments += ["--timeout", str(wishes.limits.seconds)]
    if wishes.applies is not None:
        arguments.append("--apply" if wishes.applies else "--dry-run")
    command = typer.main.get_command(app)
    return ExitStatus(command.main(arguments, "coder fix", standalone_mode=False, obj=context.obj) or 0)


def _answer(runner: Runner, request: str) -> ExitStatus:
    """A shell question. Raises Failure."""
    from coder.shell import answer

    wishes = runner.wishes
    status, message = answer(
        request, runner.environment, runner.root, runner.listener, as_json=wishes.as_json, apply=wishes.applies
    )
    runner.finish(status, message)
    return status
