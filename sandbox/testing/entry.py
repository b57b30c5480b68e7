"""Which files a test command runs: they judge, so they are not to be repaired."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from sandbox.testing.protected import is_protected

# A program of its own that asserts, in the languages that are compiled.
_MAIN = re.compile(r"\b(?:int|void|fn|func|fun)\s+main\s*\(")
_ASSERTS = re.compile(r"\bassert|\bpanic\b|\bexit\s*\(\s*[1-9]|\bExit\s*\(")
# Programs whose first file is run; those that get files to compile, or a folder, are none.
_RUNNERS = re.compile(
    r"(python|node|deno|bun|ruby|perl|lua|php)[\d.]*|ts-node|tsx|sh|bash|dash|zsh|mocha|jest|vitest|ava|tap|"
    r"jasmine|pytest|nodejs|Rscript"
)
_ENDS = re.compile(r"&&|\|\||[;|&\n()]")
_BOOLEAN = re.compile(r"-\w|--[\w-]+(=.*)?")


def judges(command: str, files: Iterable[str], text_of: Callable[[str], str] = lambda path: "") -> tuple[str, ...]:
    """Those of `files` that a shell command runs as tests: scripts given to an interpreter, programs called by their
    path, programs that it compiles and that assert, and whatever file it names that by its name or folder is a test.
    """
    known = frozenset(files)
    found: dict[str, None] = {}
    folder = PurePosixPath()
    for part in _ENDS.split(command):
        try:
            words = [word for word in shlex.split(part) if not re.fullmatch(r"\w+=.*", word)]
        except ValueError:
            continue
        if words[:1] == ["cd"] and len(words) == 2:
            folder = folder / words[1]
            continue
        named = [path for word in words if (path := _path(folder, word)) in known]
        found |= dict.fromkeys(path for path in named if is_protected(path) or _asserts(text_of(path)))
        if words and _RUNNERS.fullmatch(PurePosixPath(words[0]).name):
            scripts = [word for word in words[1:] if not _BOOLEAN.fullmatch(word)]
            found |= dict.fromkeys(path for word in scripts[:1] if (path := _path(folder, word)) in known)
        elif words and _path(folder, words[0]) in known:
            found[_path(folder, words[0])] = None
    return tuple(found)


def _asserts(text: str) -> bool:
    return _MAIN.search(text) is not None and _ASSERTS.search(text) is not None


def _path(folder: PurePosixPath, word: str) -> str:
    parts: list[str] = []
    for part in (folder / word).parts:
        if part == "..":
            del parts[-1:]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
