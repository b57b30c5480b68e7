"""The program: parses the command line, runs one command, and turns whatever happens into words and an exit status."""

from __future__ import annotations

import contextlib
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from coder.cli.commands import COMMANDS
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure, unexpected
from sandbox.text import clean

_EXAMPLES = """Start in a project with a failing test:

  coder fix            find, prove, show, ask
  coder fix --apply    the same, without asking
  coder undo           take it back

`coder COMMAND --help` explains each."""


class LazyCommand(TyperCommand):
    """Stands for a command until it is used."""

    def __init__(self, name: str, target: str, help: str) -> None:
        super().__init__(name, help=help, callback=None, params=[])
        self.target = target

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent=parent, **extra)

    def load(self) -> Any:
        module, _, name = self.target.partition(":")
        found = getattr(import_module(module), name)
        if not isinstance(found, typer.Typer):
            function, found = found, typer.Typer(add_completion=False)
            found.command()(function)
        return typer.main.get_command(found)


def program() -> TyperGroup:
    """The whole command tree, its branches not yet imported."""
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, epilog=_EXAMPLES)
    app.callback()(_global_options)
    group = typer.main.get_group(app)
    install, show = typer.main.get_install_completion_arguments()
    group.params += [install, show]
    for name, (target, help) in COMMANDS.items():
        group.add_command(LazyCommand(name, target, help), name)
    return group


def main(arguments: Sequence[str], environment: Environment) -> int:
    """Runs one command in-process. Returns its exit status; raises nothing."""
    with contextlib.redirect_stdout(environment.stdout), contextlib.redirect_stderr(environment.stderr):
        try:
            program().main(args=list(arguments), prog_name="coder", obj=environment)
        except SystemExit as ended:
            if ended.code == ExitStatus.INTERRUPTED:
                environment.tell("interrupted")
            return int(ended.code or 0)
        except Failure as failure:
            environment.report(failure)
            return failure.status
        except BrokenPipeError:
            return ExitStatus.INTERNAL_ERROR
        except OSError as error:
            environment.report(unexpected(error))
            return ExitStatus.INTERNAL_ERROR
        except Exception as error:
            environment.stderr.write(clean(traceback.format_exc()))
            environment.report(unexpected(error))
            return ExitStatus.INTERNAL_ERROR
    return ExitStatus.DONE


def run() -> None:
    """Entry point of the installed program."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is signal.SIG_DFL:
            signal.signal(ending, signal.default_int_handler)  # clean up as for Ctrl-C
    sys.exit(main(sys.argv[1:], Environment()))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("coder"))
        raise typer.Exit


def _global_options(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Reads a repository, writes patches, and proves each one in a sandbox before it touches your files."""
    _recover(context.obj)


def _recover(environment: Environment) -> None:
    """Whatever the command: first a change that an earlier one left half done is finished or taken back."""
    if (environment.state_dir / "journal").is_dir():
        from coder.journal import recover_all

        for outcome in recover_all(environment.state_dir):
            if isinstance(outcome, Failure):
                environment.report(outcome)
            else:
                environment.tell(str(outcome))
