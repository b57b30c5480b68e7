"""Shell questions, answered by the embedded default: `answer` is the one entry.

The nearest worked examples (`examples`) are fitted to the question (`literals`, `adapt`) and crossed (`compose`); what
the question probably asks for (`affinity`) and the language model (`reader`) rank them; the best run in the jail on a
copy of the files (`trial`), and those that do the same vote together (`choose`). Nothing is applied here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coder.environment import Environment
    from coder.exit_status import ExitStatus


def answer(question: str, environment: Environment, path: Path, *, as_json: bool = False) -> ExitStatus:
    """Find a command for `question` about the files under `path`, and show it with its explanation and preview.

    See `coder.shell.ask.ask` for the answer as a value. DONE when there is a command, NOT_FINISHED when none is
    known. Raises Failure.
    """
    from coder.shell.show import answer_and_show

    return answer_and_show(question, environment, path, as_json)
