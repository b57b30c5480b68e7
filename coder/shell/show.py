"""An answer on the terminal: the command on stdout, all else for people on stderr; or one JSON object."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder.exit_status import ExitStatus
from coder.failure import Failure, from_os_error
from coder.shell.ask import Answer, Parts, ask
from coder.shell.preview import diff
from coder.shell.safety import Effect
from coder.shell.tree import Tree

if TYPE_CHECKING:
    from coder.environment import Environment

_LINES = 20


def answer_and_show(question: str, environment: Environment, path: Path, as_json: bool) -> ExitStatus:
    """Answers a shell question about the folder `path`. Raises Failure where no sandbox works or the copy fails."""
    from sandbox.contract import SandboxUnavailable
    from sandbox.jail import Sandbox

    try:
        sandbox = Sandbox.detect()
        parts = Parts(sandbox, partial(_model, environment))
        if environment.interactive and not as_json:
            environment.tell("trying commands on a copy …")
        answer = ask(question, Tree.read(path.resolve()), parts)
    except SandboxUnavailable as error:
        raise Failure(ExitStatus.NO_SANDBOX, "no sandbox works here", str(error)) from error
    except OSError as error:
        raise from_os_error(error, "copy the files to try commands on") from error
    if as_json:
        environment.output.print(json.dumps(as_object(answer, path.resolve())), markup=False)
    else:
        _show(answer, environment, path.resolve())
    return ExitStatus.DONE if answer.command else ExitStatus.NOT_FINISHED


def as_object(answer: Answer, root: Path) -> dict[str, Any]:
    """What `--json` prints: `type` is "shell_answer"."""
    outcome = answer.outcome
    return {
        "type": "shell_answer",
        "command": answer.command,
        "guess": answer.guess,
        "confidence": round(answer.confidence, 3),
        "effect": answer.safety.effect.name.casefold(),
        "reason": answer.safety.reason,
        "explanation": [{"text": part.text, "meaning": part.meaning} for part in answer.explanation],
        "output": outcome.stdout if outcome else None,
        "diff": diff(outcome, root) if outcome else None,
        "alternatives": list(answer.alternatives),
    }


def _model(environment: Environment) -> tuple[Any, Any]:
    from coder.cli.local_model import load_model, user_settings

    model, tokenizer = load_model(environment, user_settings(environment))
    return getattr(model, "trunk", model), tokenizer  # commands are read from the left: no block side is needed


def _show(answer: Answer, environment: Environment, root: Path) -> None:
    if not answer.command:
        environment.tell("I do not know a command for that.")
        if answer.guess:
            environment.tell(f"The nearest that was found (confidence {answer.confidence:.0%}): {answer.guess}")
        return
    environment.output.print(answer.command, markup=False)
    for part in answer.explanation:
        if part.meaning:
            environment.tell(f"  {part.text:<12} {part.meaning}")
    environment.tell(f"{answer.command.split()[0]}: {answer.safety.effect.value}. Confidence {answer.confidence:.0%}.")
    if answer.safety.effect is Effect.REFUSED:
        environment.tell(f"Not tried: {answer.safety.reason}.")
    elif answer.outcome is not None:
        _preview(answer, environment, root)
    if answer.alternatives:
        environment.tell("Others that do something else:")
        for other in answer.alternatives:
            environment.tell(f"  {other}")


def _preview(answer: Answer, environment: Environment, root: Path) -> None:
    from coder.repository.secrets import redact

    assert answer.outcome is not None
    changed = diff(answer.outcome, root)
    for title, text in (("prints", answer.outcome.stdout), ("would change", changed)):
        lines = redact(text).splitlines()
        if lines:
            copy = "a copy" if answer.whole else "a copy of part of the files"
            environment.tell(f"On {copy} it {title}:")
            for line in lines[:_LINES]:
                environment.tell(f"  {line}")
            if len(lines) > _LINES:
                environment.tell(f"  … {len(lines) - _LINES} more lines")
    if not answer.outcome.acted:
        environment.tell("On a copy it printed and changed nothing.")
