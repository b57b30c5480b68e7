"""What some command has read of a file, for another that goes on within it: an editor's first completion, say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder.failure import Failure
from coder.reading import files_of, heading, state_format
from model.prefix import in_common

if TYPE_CHECKING:
    from model.memory_store import MemoryStore, StoredState

BOUNDARY = 64
"""Tokens between two places of a file at which the state is given."""
_LOOKED_AT = 4  # stored states whose last file has the right path, the latest first
_LONGEST = 130_000  # characters that are compared: no file that is longer is ever read


@dataclass(frozen=True)
class Resumed:
    """`tokens` of a file, from its heading on, that a model has read, and the model's states after some of them: pairs
    of a count and a state, rising, the last one after all of them. `files` were read before it, in that order."""

    tokens: tuple[int, ...]
    states: tuple[tuple[int, Any], ...]
    files: tuple[str, ...]

    @property
    def state(self) -> Any:
        return self.states[-1][1]


def resume(store: MemoryStore, root: Path, model: Any, tokenizer: Any, path: str, text: str) -> Resumed | None:
    """The longest beginning of the file `path`, which holds `text`, that a stored state of the project at `root` has
    read last. None where nothing useful is stored, or the model's states are not.

    The text need not be as it was read, nor the whole file: what is the same at its beginning is found.
    """
    from model.memory import MemoryState, StateFileError
    from model.partial import piece_of

    entries = _entries(store, root, path)
    if not entries:
        return None  # as of most files; to name the forms of the model and to encode a long file take long
    stored = [
        (form, turned, entry)
        for form, turned in _forms(model)
        for entry in [one for one in entries if one.model_id == form.model_id][:_LOOKED_AT]
    ]
    wanted = tokenizer.encode((heading(path) + text)[:_LONGEST])
    best: Resumed | None = None
    for form, turned, entry in stored:
        with suppress(StateFileError, FileNotFoundError, ValueError):
            memory = MemoryState.load(entry.path, form.model_id, getattr(model, "device", "cpu"))
            count = in_common(piece_of(memory), wanted)
            if count > (len(best.tokens) if best else 0):
                found = tuple(_states(form, memory, count))
                states = tuple((at, turned(state, wanted[at - 1])) for at, state in found)
                if states:
                    before = tuple(file.path for file in files_of(dict(entry.notes))[:-1])
                    best = Resumed(tuple(wanted[: states[-1][0]]), states, before)
    return best


def _forms(model: Any) -> Iterator[tuple[Any, Callable[[Any, int], Any]]]:
    """How states are stored that the model can go on from, and what makes its own of one, given the last token: those
    of the model, and those of a trunk that it stands on."""
    from model.sprig import Sprig
    from model.sprig_memory import on_trunk

    with suppress(Failure):  # its states cannot be stored
        yield state_format(model), lambda state, last: state
    if isinstance(model, Sprig):
        yield state_format(model.trunk), partial(on_trunk, model)


def _entries(store: MemoryStore, root: Path, path: str) -> list[StoredState]:
    found = []
    for entry in store.entries():
        if entry.notes.get("root") == str(root):
            files = files_of(dict(entry.notes))
            if files and files[-1].path == path:
                found.append(entry)
    return found


def _states(form: Any, memory: Any, count: int) -> Iterator[tuple[int, Any]]:
    """The states at the boundaries up to `count`, those that can be had."""
    from model.partial import within

    for at in [*range(BOUNDARY, count, BOUNDARY), count]:
        with suppress(ValueError):
            yield at, within(form, memory, at)
