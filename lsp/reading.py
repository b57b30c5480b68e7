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
from typing import Any

from coder.completion.knowledge import Knowledge
from coder.completion.names import modules_of
from coder.failure import Failure
from coder.reading_plan import is_source, readable
from coder.repository import Repository
from lsp.relevance import Place, name_of, relevant_first
from lsp.tokens_kept import TokensKept

_log = logging.getLogger(__name__)
MOST = 8_000_000  # tokens of a workspace that are kept: 64 MB, and an index of twelve times that
_BATCH = 16  # files between two reports of progress

Progress = Callable[[int, int], None]
Finished = Callable[[int | None], None]


class Reading:
    """One pass over the workspace, in a thread of its own, and what changes after it. `stop` ends it early.
    `complaints` say which folders could not be read, and why."""

    def __init__(
        self,
        knowledge: Knowledge,
        tokenizer: Any,
        busy: Callable[[], bool],
        kept: TokensKept | None = None,
    ) -> None:
        self.modules: set[str] = set()
        self.complaints: list[Failure] = []
        self._knowledge = knowledge
        self._tokenizer = tokenizer
        self._busy = busy
        self._kept = kept
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(
        self,
        repositories: Sequence[Repository],
        near: Sequence[Place],
        finished: Finished,
        progress: Progress = lambda done, total: None,
    ) -> None:
        """Begins to read, once; `near`: the open files. `finished` is told how many files were read, None where that
        ended with an error; `progress` how many of how many, now and then."""
        arguments = (repositories, near, finished, progress)
        self._thread = threading.Thread(target=self._run, args=arguments, name="reading", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def again(self, repository: Repository, path: str) -> bool:
        """One file has a new text, which counts from the next build on. Whether that is due."""
        with suppress(Failure):
            if is_source(path):
                self._read((repository, path))
        return self._knowledge.due()

    def take_over(self, changed: Iterable[Place], gone: set[str]) -> bool:
        """Files that changed on disk, and names of files and folders that are no longer there. Whether the next build
        is due. Gives way to completions, so it is not for the thread of the model."""
        forgotten = self._knowledge.forget(gone)
        for place in changed:
            self._give_way()
            if self._stop.is_set() or len(self._knowledge) > MOST:
                break
            self.again(*place)
        return forgotten or self._knowledge.due()

    def _run(
        self, repositories: Sequence[Repository], near: Sequence[Place], finished: Finished, progress: Progress
    ) -> None:
        try:
            todo = relevant_first([place for one in repositories for place in self._files(one)], near)
            read = 0
            for number, place in enumerate(todo):
                if self._stop.is_set() or len(self._knowledge) > MOST:
                    break
                self._give_way()
                if number % _BATCH == 0:
                    progress(number, len(todo))
                read += self._read(place, self._kept)
                if self._knowledge.due():
                    self._give_way()
                    self._knowledge.build()
            if not self._stop.is_set():
                self._knowledge.build()
                if self._kept is not None:
                    self._kept.save()
                progress(len(todo), len(todo))
            finished(read)
        except Exception as error:
            _log.warning("reading the workspace ended early: %s", type(error).__name__)
            finished(None)
        finally:
            self._kept = None  # its old tokens are of no more use, and may be many

    def _files(self, repository: Repository) -> list[Place]:
        try:
            return [(repository, path) for path in repository.files if is_source(path)]
        except Failure as failure:
            self.complaints.append(failure)
        except OSError as error:
            _log.warning("a folder of the workspace cannot be listed: %s", type(error).__name__)
        return []

    def _give_way(self) -> None:
        while self._busy() and not self._stop.is_set():
            time.sleep(0.02)

    def _read(self, place: Place, kept: TokensKept | None = None) -> bool:
        """Without `kept` for a text that is soon replaced: each of its versions would be kept."""
        text = readable(*place)
        if text is None:
            self._knowledge.remove(name_of(place))
            return False
        key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        tokens = kept.get(key) if kept is not None else None
        if tokens is None:
            tokens = self._tokenizer.encode(text)
            if kept is not None:
                kept.put(key, tokens)
        self._knowledge.add(name_of(place), tokens)
        self.modules |= modules_of(place[1], text)
        return True
