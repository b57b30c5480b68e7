"""Which files a test command runs: they judge, so they are not to be repaired."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
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
# The modules and programs that run whatever files they are given as tests.
_TESTERS = {"pytest", "unittest"}
# A class of tests in Python: these are found by a pattern that only the command knows.
_CASES = re.compile(r"^[ \t]*class\s+\w+\s*\([^)]*TestCase\b", re.MULTILINE)
_ENDS = re.compile(r"&&|\|\||[;|&\n()]")
# What only hands on its output is judged by what reads it.
_JUDGED = re.compile(r"\$\([^()]*\)|`[^`]*`|[^;&|\n]*(?<!\|)\|(?!\|)(?=\s*(?:diff|cmp|grep|test|\[)\s)")
_BOOLEAN = re.compile(r"-\w|--[\w-]+(=.*)?")


def judges(command: str, files: Iterable[str], text_of: Callable[[str], str] = lambda path: "") -> tuple[str, ...]:
    """Those of `files` that a shell command runs as tests: scripts given to an interpreter, programs called by their
    path, programs that it compiles and that assert, and whatever file it names that by its name or folder is a test.
    So do the commands that it stands for: scripts of package.json, recipes of a makefile, a shell script's own. Last
    come all other files with cases of Python's unittest.
    """
    known = frozenset(files)
    run = _judges(command, known, text_of, PurePosixPath(), 3)
    python = sorted(path for path in known if path.endswith(".py") and not is_protected(path))
    return tuple(run | dict.fromkeys(path for path in python if _CASES.search(text_of(path))))


def _judges(
    command: str, known: frozenset[str], text_of: Callable[[str], str], folder: PurePosixPath, depth: int
) -> dict[str, None]:
    found: dict[str, None] = {}
    for part in _ENDS.split(_JUDGED.sub("", command)):
        try:
            words = [word for word in shlex.split(part) if not re.fullmatch(r"\w+=.*", word)]
        except ValueError:
            continue
        if words[:1] == ["cd"] and len(words) == 2:
            folder = folder / words[1]
            continue
        named = [path for word in words if (path := _path(folder, word.partition("::")[0])) in known]
        found |= dict.fromkeys(path for path in named if is_protected(path) or _asserts(text_of(path)))
        if words and _RUNNERS.fullmatch(PurePosixPath(words[0]).name):
            scripts = [word for word in words[1:] if not _BOOLEAN.fullmatch(word)]
            found |= dict.fromkeys(path for word in scripts[:1] if (path := _path(folder, word)) in known)
            found |= dict.fromkeys(named if _runs_tests(words) else ())
        elif words and _path(folder, words[0]) in known:
            found[_path(folder, words[0])] = None
        for inner in _inner(words, list(found), text_of, folder) if depth else ():
            found |= _judges(inner, known, text_of, folder, depth - 1)
    return found


def _inner(
    words: Sequence[str], run: Sequence[str], text_of: Callable[[str], str], folder: PurePosixPath
) -> Iterator[str]:
    """The commands that a command stands for."""
    yield from (text_of(path) for path in run if path.endswith((".sh", ".bash")))
    if words[:1] in (["npm"], ["yarn"], ["pnpm"]):
        try:
            scripts = json.loads(text_of(_path(folder, "package.json")) or "{}").get("scripts", {})
        except (ValueError, AttributeError):
            return
        if isinstance(scripts, dict):
            names = ["test" if word == "t" else word for word in words[1:]]
            yield from (str(scripts[name]) for word in names for name in (f"pre{word}", word) if name in scripts)
    elif words[:1] == ["make"]:
        text = text_of(_path(folder, "Makefile")) or text_of(_path(folder, "makefile"))
        yield from (line.lstrip("\t@-+") for line in text.splitlines() if line.startswith("\t"))


def _runs_tests(words: Sequence[str]) -> bool:
    """Whether each file that is named is run as one of tests."""
    return PurePosixPath(words[0]).name in _TESTERS or (words[1:2] == ["-m"] and not _TESTERS.isdisjoint(words[2:3]))


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
