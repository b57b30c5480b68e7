"""`coder fix`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from coder import events
from coder.cli.display import Display, print_diff, safe
from coder.cli.json_lines import JsonLines
from coder.cli.options import HERE, Project, open_engine
from coder.config import Settings
from coder.endpoint import endpoint_named, open_endpoint
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure, unexpected

if TYPE_CHECKING:
    from coder.engine import Engine, Patch
    from model.chat import ChatModel

_PYTEST_ARGUMENTS = "pytest_arguments"

_HELP = """Repair failing tests: find the fault, write a patch, prove it, apply it.

The tests run in a sandbox, on a copy. A patch counts when the failing tests pass, all others still pass, and this was
confirmed in a fresh sandbox. Your files change only when you say so (or with --apply), and `coder undo` takes it back.
"""
_EXAMPLES = """Examples:

  coder fix                               repair whatever fails here
  coder fix --test tests/test_cart.py     only the tests of one file
  coder fix --apply --commit              no questions, and a commit
  coder fix --dry-run > fix.patch         only the diff
  coder fix --test-cmd "make check"       another test command: a weaker proof
  coder fix --json -- -x -p no:randomly   JSON lines; arguments for pytest
  coder fix --endpoint http://127.0.0.1:8000/v1   patches from a server, proved here

Exit status:

  0 repaired and applied   3 nothing fails   4 not repaired within the limits
  5 proved, not applied    8 tests cannot be run     docs/exit_codes.md has all
"""


class _WithPytestArguments(TyperCommand):
    """Leaves what follows `--` to pytest."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_PYTEST_ARGUMENTS] = tuple(args[at + 1 :])
            args = args[:at]
        as_json = "--json" in args
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # The class of wrong arguments goes by different names in typer's versions; each can put it into words.
            words = getattr(error, "format_message", None)
            if words is not None and as_json:
                status = ExitStatus.USAGE
                JsonLines(ctx.obj.stdout)(events.Result(status.name.lower(), status, words(), 0.0))
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- PYTEST ARGS]"]


app = typer.Typer(add_completion=False)


@app.command(cls=_WithPytestArguments, help=_HELP, epilog=_EXAMPLES)
def fix(
    context: typer.Context,
    path: Project = HERE,
    test: Annotated[
        list[str] | None,
        typer.Option("--test", metavar="NODE", help="Repair this test, file or folder only; may be given again."),
    ] = None,
    test_cmd: Annotated[str | None, typer.Option(help="Run this instead of pytest; its exit status decides.")] = None,
    apply: Annotated[bool | None, typer.Option("--apply/--dry-run", help="Do not ask: apply, or only show.")] = None,
    commit: Annotated[bool, typer.Option("--commit", help="Also commit the changed files.")] = False,
    find_all: Annotated[bool, typer.Option("--all", help="Search on for patches that behave differently.")] = False,
    timeout: Annotated[float | None, typer.Option(metavar="SECONDS", help="Limit of the search.")] = None,
    max_candidates: Annotated[int | None, typer.Option(metavar="N", help="Candidates to try at most.")] = None,
    allow_test_edits: Annotated[bool, typer.Option("--allow-test-edits", help="Let patches change tests too.")] = False,
    no_sandbox: Annotated[
        bool, typer.Option("--no-sandbox", help="Run the tests without a jail. Only for code that you trust.")
    ] = False,
    no_model: Annotated[bool, typer.Option("--no-model", help="Search without the language model.")] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="The server's model, or a local one."),
    ] = None,
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="OpenAI-compatible server that is asked for patches, up to /v1.")
    ] = None,
    python: Annotated[
        str | None, typer.Option(metavar="PATH", help="Interpreter or environment for the tests.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show what the model writes while it does.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines on stdout.")] = False,
) -> None:
    environment: Environment = context.obj
    arguments: tuple[str, ...] | None = context.meta.get(_PYTEST_ARGUMENTS)
    begun = time.monotonic()
    tally = _Tally()
    lines = JsonLines(environment.stdout)
    show = Display(environment, watch)

    def listener(event: events.Event) -> None:
        tally(event)
        (lines if as_json else show)(event)

    def finish(status: ExitStatus, message: str) -> None:
        if as_json:
            seconds = round(time.monotonic() - begun, 3)
            lines(events.Result(status.name.lower(), status, message, seconds, tally.candidates, tally.patches))

    try:
        engine = open_engine(
            environment,
            environment.cwd / path,
            listener,
            may_ask=not as_json,
            timeout=timeout,
            max_candidates=max_candidates,
            test_command=test_cmd,
            model=model,
            endpoint=endpoint,
            python=python,
            pytest_args=arguments,
        )
        from coder.engine import FixRequest

        _refuse_early(engine, arguments, commit and apply is not False)
        engine.chat = engine.chat or _chat(engine.settings, environment.variables)
        request = FixRequest(tuple(test or ()), find_all, allow_test_edits, not no_sandbox, not no_model, watch)
        with nullcontext() if as_json else show:
            patches = engine.fix(request)
        tally.patches = len(patches)
        if not patches:
            raise _not_repaired(tally.candidates, time.monotonic() - begun)
        status, message = _decide(environment, engine, patches, apply, commit, listener, quiet=as_json)
        finish(status, message)
    except Failure as failure:
        finish(failure.status, failure.message)
        if as_json:
            raise typer.Exit(failure.status) from None
        raise
    except KeyboardInterrupt:
        finish(ExitStatus.INTERRUPTED, "interrupted")
        raise
    except Exception as error:
        finish(ExitStatus.INTERNAL_ERROR, unexpected(error).message)
        raise
    raise typer.Exit(status)


def _refuse_early(engine: Engine, arguments: Sequence[str] | None, commit: bool) -> None:
    """Raises Failure for what makes no sense together, or could not be done once a patch is found."""
    command = engine.settings.test_command
    if arguments and command:
        message = f"what follows `--` is for pytest, and here `{command}` decides"
        raise Failure(ExitStatus.USAGE, message, "Put the arguments into the command, or leave one of both out.")
    if commit:
        engine.git_to_commit_to()


def _chat(settings: Settings, variables: Mapping[str, str]) -> Callable[[], tuple[ChatModel, str]] | None:
    """The server that the settings or the user's own variables name, if any, asked for once it is needed."""
    if not endpoint_named(settings, variables):
        return None

    def ask() -> tuple[ChatModel, str]:
        endpoint = open_endpoint(settings, variables, settings.timeout)
        return endpoint, endpoint.name

    return ask


def _decide(
    environment: Environment,
    engine: Engine,
    patches: Sequence[Patch],
    apply: bool | None,
    commit: bool,
    listener: events.Listener,
    quiet: bool,
) -> tuple[ExitStatus, str]:
    """Shows each patch with its proof and applies one, if that is what the user wants."""
    asking = apply is None and environment.interactive and not quiet
    reason = "only shown, as asked" if apply is False else "nobody was there to ask"
    for number, patch in enumerate(patches, 1):
        if not quiet:
            print_diff(environment, patch.diff)
            of = f" ({number} of {len(patches)})" if len(patches) > 1 else ""
            environment.console.print(f"[green]proved[/]{of}: {safe(patch.verdict.summary())}", soft_wrap=True)
        answer = "s"
        if asking:
            answer = environment.ask("Apply it?", {"a": "apply", "s": "skip", "q": "quit"})
            reason = "declined"
        if apply or answer == "a":
            engine.apply(patch, commit)
            return ExitStatus.DONE, patch.verdict.summary()
        if answer == "q":
            break
    listener(events.Rejected(reason))
    if not quiet:
        environment.tell("not applied: your files are as they were" + ("" if asking else " (--apply applies)"))
    return ExitStatus.NOT_APPLIED, reason


def _not_repaired(candidates: int, seconds: float) -> Failure:
    if not candidates:
        hint = "Files that do not parse are not edited, nor are tests unless you say --allow-test-edits."
        return Failure(
            ExitStatus.NOT_REPAIRED, "not repaired: nothing to try in the files that these tests reach", hint
        )
    message = f"not repaired: {candidates:,} candidates tried in {seconds:.0f} s"
    hint = "Give it more with --timeout, or name the tests that matter with --test."
    return Failure(ExitStatus.NOT_REPAIRED, message, hint)


class _Tally:
    """Counts what the last event reports."""

    def __init__(self) -> None:
        self.candidates = 0
        self.patches = 0

    def __call__(self, event: events.Event) -> None:
        if isinstance(event, events.Candidate):
            self.candidates = max(self.candidates, event.number)
