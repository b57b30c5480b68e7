"""Shell questions, answered by the embedded default: `answer` is the one entry.

The nearest worked examples (`examples`) are fitted to the question (`literals`, `adapt`) and crossed (`compose`); plain
forms for one or two files join them (`templates`). What the question probably asks for (`affinity`) and the language
model (`reader`) rank them; the best run in the jail on a copy of the files (`trial`), those whose complaints say how
are mended and run again (`mend`), and those that do the same vote together (`choose`). What the chosen one did there
can be done to the user's files (`apply`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coder.events import Listener, ignore

if TYPE_CHECKING:
    from coder.environment import Environment
    from coder.exit_status import ExitStatus


def answer(
    question: str,
    environment: Environment,
    path: Path,
    listener: Listener = ignore,
    *,
    as_json: bool = False,
    apply: bool | None = None,
) -> tuple[ExitStatus, str]:
    """Find a command for `question` about the files under `path`; show it with its explanation and preview, or, with
    `as_json`, tell the listener. What it changes is applied with `apply`, never with False, else where somebody says
    so.

    Exit status and what became of it: DONE when there is a command, and its changes, if any, were applied; NOT_APPLIED
    when they were not; NOT_FINISHED when none is known. See `coder.shell.ask.ask` for the answer as a value.
    Raises Failure.
    """
    from coder.shell.show import answer_and_show

    return answer_and_show(question, environment, path, listener, as_json, apply)
