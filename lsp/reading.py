"""Reads the workspace in the background: most relevant files first, and never in the way of a completion.

What was read becomes token sequences in the n-gram knowledge, and the set of modules that imports may name. Tokens are
kept on disk by the hash of the text, so the next start reads only what changed.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

from coder.failure import Failure
from coder.reading_plan import is_source, readable
from coder.repository import Repository
from lsp.knowledge import Knowledge
from lsp.tokens_kept import TokensKept

_log = logging.getLogger(__name__)
MOST = 8_000_000  # tokens of a workspace that are kept: 64 MB, and an index of twelve times that
_BATCH = 16  # files between two reports of progress

Progress = Callable[[int, int], None]
Finished = Callable[[int | None], None]


class Reading:
    """One pass over the workspace, in a thread of its own. `stop` ends it early."""

    def __init__(
        self,
        knowledge: Knowledge,
        tokenizer: Any,
        busy: Callable[[], bool],
        kept: TokensKept | None = None,
        progress: Progress = lambda done, total: None,
    ) -> None:
        self.modules: set[str] = set()
        self._knowledge = knowledge
        self._tokenizer = tokenizer
        self._busy = busy
        self._kept = kept
        self._progress = progress
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, repositories: Sequence[Repository], near: Iterable[str], finished: Finished) -> None:
        """Begins to read; `near`: paths of the open files in any of the repositories. `finished` is told how many
        files were read, None where that ended with an error."""
        self.stop()
        self._stop = threading.Event()
        arguments = (list(repositories), list(near), finished, self._stop)
        self._thread = threading.Thread(target=self._run, args=arguments, name="reading", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def again(self, repository: Repository, path: str) -> None:
        """One file was saved: its new text counts from the next build on."""
        self._read(repository, path)

    def _run(
        self,
        repositories: list[Repository],
        near: list[str],
        finished: Finished,
        stop: threading.Event,
    ) -> None:
        try:
            todo = [(one, path) for one in repositories for path in relevant_first(_files(one), near)]
            read = 0
            for number, (repository, path) in enumerate(todo):
                if stop.is_set() or len(self._knowledge) > MOST:
                    break
                self._give_way(stop)
                if number % _BATCH == 0:
                    self._progress(number, len(todo))
                read += self._read(repository, path)
                if self._knowledge.due():
                    self._give_way(stop)
                    self._knowledge.build()
            if not stop.is_set():
                self._knowledge.build()
                if self._kept is not None:
                    self._kept.save()
                self._progress(len(todo), len(todo))
            finished(read)
        except Exception as error:
            _log.warning("reading the workspace ended early: %s", type(error).__name__)
            finished(None)

    def _give_way(self, stop: threading.Event) -> None:
        while self._busy() and not stop.is_set():
            time.sleep(0.02)

    def _read(self, repository: Repository, path: str) -> bool:
        name = f"{repository.root}/{path}"
        text = readable(repository, path)
        if text is None:
            self._knowledge.remove(name)
            return False
        key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        tokens = self._kept.get(key) if self._kept is not None else None
        if tokens is None:
            tokens = self._tokenizer.encode(text)
            if self._kept is not None:
                self._kept.put(key, tokens)
        self._knowledge.add(name, tokens)
        self._note_modules(path, text)
        return True

    def _note_modules(self, path: str, text: str) -> None:
        parts = PurePosixPath(path)
        if parts.suffix not in (".py", ".pyi"):
            return
        self.modules.update(part for part in (*parts.parts[:-1], parts.stem) if part.isidentifier())
        for line in text.split("\n"):
            words = line.split()
            if len(words) > 1 and words[0] in ("import", "from"):
                self.modules.update(one.strip(",").partition(".")[0] for one in words[1:2])


def relevant_first(paths: Sequence[str], near: Sequence[str]) -> list[str]:
    """The open files, then those next to them in the tree, then the rest; text of code before other text."""
    opened = set(near)
    folders = [PurePosixPath(path).parent.parts for path in near]

    def distance(path: str) -> tuple[bool, int, bool, str]:
        parts = PurePosixPath(path).parent.parts
        steps = min((_steps(parts, folder) for folder in folders), default=len(parts))
        return path not in opened, steps, not path.endswith((".py", ".js", ".ts", ".go", ".rs", ".java", ".cpp")), path

    return sorted(paths, key=distance)


def _steps(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many folders lie between two."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return len(one) + len(other) - 2 * shared


def _files(repository: Repository) -> list[str]:
    with suppress(Failure, OSError):
        return [path for path in repository.files if is_source(path)]
    return []
