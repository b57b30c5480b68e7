"""What an exception tells: its type and message, where it passed through the repository, what it lacked."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Iterator
from typing import Any

MESSAGE_LIMIT = 2000
FRAMES_HEAD, FRAMES_TAIL = 30, 30
FOREIGN = ("site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox", "node_modules")
NETWORK_TEXT = re.compile(
    "Temporary failure in name resolution|Name or service not known|Network is unreachable|"
    "No address associated with hostname|Failed to resolve|Max retries exceeded with url"
)
UNREACHABLE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)


class TimeLimit(BaseException):
    """Raised inside a test that has run for too long, so that its traceback shows where."""


class Repository:
    """Which files belong to the repository at `root`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._known: dict[str, str] = {}

    def relative(self, filename: str) -> str:
        """The posix path of a code object's file below the root; "" for files of others."""
        known = self._known.get(filename)
        if known is None:
            known = self._known[filename] = self._relative(filename)
        return known

    def _relative(self, filename: str) -> str:
        if filename.startswith("<"):
            return ""
        path = os.path.relpath(os.path.abspath(filename), self.root)
        parts = path.split(os.sep)
        return "" if parts[0] == ".." or any(part in FOREIGN for part in parts) else "/".join(parts)

    def has_module(self, name: str) -> bool:
        top = name.partition(".")[0]
        return any(
            os.path.exists(os.path.join(self.root, folder, top + ending))
            for folder in ("", "src", "lib")
            for ending in ("", ".py")
        )


def describe(error: BaseException, repository: Repository) -> dict[str, Any]:
    """A bounded account of `error`; the exception that pytest wrapped while it collected stands for its wrapper."""
    chain = list(_chain(error))
    if type(error).__name__ == "CollectError" and len(chain) > 1:
        chain = chain[1:]
    frames: list[list[Any]] = []
    for link in chain:
        frames += _frames(link, repository)
    shown = chain[0]
    return {
        "error": type(shown).__name__,
        "message": _text(shown),
        "frames": frames if len(frames) <= FRAMES_HEAD + FRAMES_TAIL else frames[:FRAMES_HEAD] + frames[-FRAMES_TAIL:],
        "missing": next((name for name in map(_missing, chain) if name and not repository.has_module(name)), ""),
        "network": any(_wants_network(link) for link in chain),
    }


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: Any = error
    while link is not None and id(link) not in seen and len(seen) < 10:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _frames(error: BaseException, repository: Repository) -> list[list[Any]]:
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        path = repository.relative(code.co_filename)
        if path:
            frames.append([path, trace.tb_lineno, code.co_name])
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        path = repository.relative(error.filename)
        if path:
            frames.append([path, error.lineno or 1, "<module>"])
    return frames


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MESSAGE_LIMIT]
    except Exception as problem:
        return f"<its text raised {type(problem).__name__}>"


def _missing(error: BaseException) -> str:
    """The module that has to be installed. What no module is named, `__name__` say, was asked for by mistake."""
    name = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    plain = all(part.isidentifier() for part in name.split(".")) and not name.startswith("__")
    return name if plain else ""


def _wants_network(error: BaseException) -> bool:
    if isinstance(error, socket.gaierror) or (isinstance(error, OSError) and error.errno in UNREACHABLE):
        return True
    if isinstance(error, PermissionError) and _raised_in(error, "socket.py"):
        return True
    return bool(NETWORK_TEXT.search(_text(error)))


def _raised_in(error: BaseException, name: str) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and os.path.basename(trace.tb_frame.f_code.co_filename) == name
