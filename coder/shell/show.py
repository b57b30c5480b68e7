"""An answer on the terminal: the command on stdout, all else for people on stderr; or one event. And whether what it
changes is applied."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder.events import Applied, Listener, Rejected
from coder.exit_status import ExitStatus
from coder.failure import Failure, from_os_error
from coder.shell.apply import CannotApply, planned
from coder.shell.ask import Answer, Parts, ask
from coder.shell.confidence import SURE
from coder.shell.events import ShellAnswer
from coder.shell.preview import diff
from coder.shell.safety import Effect
from coder.shell.tree import Tree

if TYPE_CHECKING:
    from coder.environment import Environment
    from coder.shell.trial import Outcome

_LINES = 20


def answer_and_show(
    question: str, environment: Environment, path: Path, listener: Listener, as_json: bool, apply: bool | None
) -> tuple[ExitStatus, str]:
    """Answers a shell question about the folder `path`. Raises Failure where no sandbox works or the copy fails."""
    from sandbox.contract import SandboxUnavailable
    from sandbox.jail import Sandbox

    try:
        sandbox = Sandbox.detect()
        parts = Parts(sandbox, partial(_model, environment))
        if environment.interactive and not as_json:
            environment.tell("trying commands on a copy …")
        tree = Tree.read(path.resolve())
        answer = ask(question, tree, parts)
    except SandboxUnavailable as error:
        raise Failure(ExitStatus.NO_SANDBOX, "no sandbox works here", str(error)) from error
    except OSError as error:
        raise from_os_error(error, "copy the files to try commands on") from error
    if as_json:
        listener(ShellAnswer.of(answer, tree.root))
    else:
        _show(answer, environment, tree.root)
    if not answer.command:
        return ExitStatus.NOT_FINISHED, "no command is known well enough"
    reason = _applied(answer, tree, environment, listener, apply, environment.interactive and not as_json)
    if not reason:
        return ExitStatus.DONE, answer.command
    listener(Rejected(reason))
    if not as_json:
        environment.tell(f"not applied ({reason}): your files are as they were")
    return ExitStatus.NOT_APPLIED, reason


def _model(environment: Environment) -> tuple[Any, Any]:
    from coder.cli.local_model import load_model, user_settings

    model, tokenizer = load_model(environment, user_settings(environment))
    return getattr(model, "trunk", model), tokenizer  # commands are read from the left: no block side is needed


def _applied(
    answer: Answer, tree: Tree, environment: Environment, listener: Listener, apply: bool | None, somebody: bool
) -> str:
    """Applies what is to be applied. Why it did not; empty where it did, or where there is nothing to apply."""
    outcome = answer.outcome
    if outcome is None:
        return "it was not tried on a copy" if answer.safety.effect is not Effect.READS else ""
    if not outcome.changes:
        return ""
    if apply is False:
        return "only shown, as asked"
    if apply is None and not somebody:
        return "nobody was there to ask"
    return _through_the_journal(answer.command, outcome, tree, environment, listener, asks=apply is None)


def _through_the_journal(
    command: str, outcome: Outcome, tree: Tree, environment: Environment, listener: Listener, asks: bool
) -> str:
    from coder.journal import Journal

    try:
        changes = planned(outcome, tree)
    except CannotApply as why:
        return f"{why}; run the command yourself if that is meant"
    if asks and environment.ask("Apply it?", {"a": "apply", "d": "drop"}) != "a":
        return "declined"
    line = " ".join(command.split())
    note = f"do: {line[:70]}{'…' if len(line) > 70 else ''}"
    entry = Journal(tree.root, environment.state_dir).apply(changes, note)
    listener(Applied(entry.id, entry.paths))
    return ""


def _show(answer: Answer, environment: Environment, root: Path) -> None:
    sure = f"confidence {answer.confidence:.0%}"
    if not answer.command:
        environment.tell("I do not know a command for that.")
        if answer.guess:
            environment.tell(f"The nearest that was found ({sure}): {answer.guess}")
        return
    environment.write(answer.command + "\n")
    for part in answer.explanation:
        if part.meaning:
            environment.tell(f"  {part.text:<12} {part.meaning}")
    if answer.confidence < SURE:
        sure = f"a guess, {sure}: look whether it is what you meant"
    environment.tell(f"{answer.command.split()[0]}: {answer.safety.effect.value}; {sure}.")
    if answer.safety.effect is Effect.REFUSED:
        environment.tell(f"Not tried: {answer.safety.reason}.")
    elif answer.outcome is not None:
        _preview(answer, answer.outcome, environment, root)
    if answer.alternatives:
        environment.tell("Others that do something else:")
        for other in answer.alternatives:
            environment.tell(f"  {other}")


def _preview(answer: Answer, outcome: Outcome, environment: Environment, root: Path) -> None:
    from coder.repository.secrets import redact
    from sandbox.text import clean, visible

    for title, text in (("prints", clean(outcome.stdout)), ("would change", visible(diff(outcome, root)))):
        lines = redact(text).splitlines()  # after cleaning: an escape inside a token would hide it
        if lines:
            copy = "a copy" if answer.whole else "a copy of part of the files"
            environment.tell(f"On {copy} it {title}:")
            for line in lines[:_LINES]:
                environment.tell(f"  {line}")
            if len(lines) > _LINES:
                environment.tell(f"  … {len(lines) - _LINES} more lines")
    if not outcome.acted:
        environment.tell("On a copy it printed and changed nothing.")
