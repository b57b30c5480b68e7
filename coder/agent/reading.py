"""What the model of a task has read of the project before the conversation begins."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from coder.engine import Engine
from coder.failure import Failure
from coder.reading_plan import ReadingTask, plan, readable

if TYPE_CHECKING:
    from model.chat import ChatModel

LIMIT = 12_000
"""Characters of the project that are read for a task, where `coder memory build` has not read more."""


def read_before(engine: Engine, chat: ChatModel, request: str) -> dict[str, str]:
    """A local model reads the overview of the project and the files that the request names into its state; nothing is
    returned. A server has no state: it gets the same files, in the same order, as text."""
    task = ReadingTask.terminal(request, engine.repository.files)
    begin_from = getattr(chat, "begin_from", None)
    if begin_from is None:
        texts = {path: readable(engine.repository, path) for path in plan(engine.repository, task, 4 * LIMIT).near}
        return {path: text for path, text in texts.items() if text is not None and path in engine.repository.files}
    with suppress(Failure):  # a model that keeps no memory begins with none
        begin_from(engine.read(task, (chat.model, chat.tokenizer), limit=LIMIT).state)  # type: ignore[attr-defined]
    return {}
