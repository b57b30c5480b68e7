"""A command that failed, with what its own complaint says how to put right.

Only slips of form and of place: what the command is for stays as it is, and no removal takes a folder that it did not.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

from coder.shell.features import inner_programs
from coder.shell.syntax import Command, Script, ShellSyntaxError, Word, parse

_NAMED = {"-name", "-iname", "-path", "-ipath", "-wholename", "-lname", "-regex", "-iregex"}
_STARTS = {"-exec", "-execdir", "-ok", "-okdir"}
_ENDS = {"\\;", ";", "';'", '";"', "+"}
_ACTS = {*_STARTS, "-print", "-print0", "-printf", "-delete", "-ls", "-quit"}
_DEPTHS = {"-maxdepth", "-mindepth"}
_MISSING = re.compile(
    r"(?:['‘](?P<quoted>[^'’\n]+)['’]|can't read (?P<read>[^:\n]+)|: (?P<bare>[^:'‘\n]+))"
    r"(?: for reading|: Cannot stat)?: No such file or directory"
)
_LEAVE = re.compile(r"cannot (?:create|touch|move|remove)|for writing|failed to|^tee:")  # no name to look for

Replacement = tuple[int, int, str]
"""[start, end) of the command, and what to put there."""


def mended(command: str, stderr: str, paths: Collection[str], place: Path) -> str:
    """The command without the slips that `stderr` tells of; as it was where none is known. `paths`: all that is there,
    relative; `place`: the folder in which it ran, as its absolute paths call it."""
    try:
        script = parse(command)
    except ShellSyntaxError:
        return command
    found = [*_elsewhere(script, stderr, paths, place), *_recursive(script, stderr), *_spaced(script, stderr, paths)]
    for one in script.commands:
        if one.program == "find":
            found += _finds(one, stderr)
    at = len(command)
    for start, end, text in sorted(set(found), reverse=True):
        if end <= at:
            command = command[:start] + text + command[end:]
            at = start
    return command


def _elsewhere(script: Script, stderr: str, paths: Collection[str], place: Path) -> Iterator[Replacement]:
    """Names of files without their folders: the only path there that ends so. What is to be made or removed stays."""
    words = [word for one in script.commands for word in one.words]
    words += [one.target for one in script.redirects if one.operator == "<"]
    for line in stderr.splitlines():
        match = None if _LEAVE.search(line) else _MISSING.search(line)
        if match is None:
            continue
        name = (match["quoted"] or match["read"] or match["bare"]).rstrip("/")
        last = name.rsplit("/", 1)[-1]
        there = [path for path in paths if path.rsplit("/", 1)[-1] == last]
        if len(there) == 1 and there[0].isprintable():
            path = str(place / there[0]) if name.startswith("/") else there[0]
            yield from {(word.start, word.end, shlex.quote(path)) for word in words if _names(word, name)}


def _names(word: Word, name: str) -> bool:
    return word.value is not None and word.value.rstrip("/") == name


def _recursive(script: Script, stderr: str) -> Iterator[Replacement]:
    """A folder where files were expected: `cp` and `grep` go into it when they are told to."""
    finds = any(one.program == "find" for one in script.commands)
    for name, end, words in _calls(script):
        told = any(re.match(r"-[a-zA-Z]*[rRad]|--(?:recursive|archive|directories)", word.text) for word in words)
        copies = name == "cp" and "omitting directory" in stderr
        searches = name in ("grep", "egrep", "fgrep") and "Is a directory" in stderr and not finds
        if (copies or searches) and not told:
            yield end, end, " -r"


def _spaced(script: Script, stderr: str, paths: Collection[str]) -> Iterator[Replacement]:
    """Names with spaces or quotes, which `xargs` takes apart unless they end with a zero byte."""
    if not re.search(r"No such file or directory|unmatched (?:single|double) quote", stderr):
        return
    if not any(re.search(r"[\s'\"\\]", path) for path in paths):
        return
    for one, other in pairwise(script.commands):
        fed = script.text[one.end : other.start].strip() == "|"
        if not fed or (one.program, other.program) != ("find", "xargs"):
            continue
        acts = [word for word in one.words if word.text in _ACTS]
        if any(re.match(r"-0|-d|--null|--delim", word.text) for word in other.words):
            continue
        if not acts:
            yield one.end, one.end, " -print0"
        elif len(acts) == 1 and acts[0].text == "-print":
            yield acts[0].start, acts[0].end, "-print0"
        else:
            continue
        yield other.start, other.start + len("xargs"), "xargs -0"


def _finds(command: Command, stderr: str) -> Iterator[Replacement]:
    """Slips of `find`: an action without its end, a pattern that the shell expanded, folders where files were meant."""
    texts = [word.text for word in command.words]
    if "missing argument to" in stderr and _STARTS.intersection(texts) and not _ENDS.intersection(texts):
        yield command.end, command.end, " \\;"
    if "paths must precede expression" in stderr or "unquoted pattern" in stderr:
        for option, word in pairwise(command.words):
            if option.text in _NAMED and re.search(r"[*?[]", word.text) and not re.search(r"['\"\\$]", word.text):
                yield word.start, word.end, f"'{word.text}'"
    if "Is a directory" in stderr and not {"-type", "-o", "-or"}.intersection(texts):
        at = command.start + len("find")
        for word in command.words:
            if word.text[0] in "-(!\\" and word.text not in _DEPTHS:
                break
            at = word.end
        yield at, at, " -type f"


def _calls(script: Script) -> Iterator[tuple[str, int, tuple[Word, ...]]]:
    """(program, where its name ends, its words), also for programs that others start."""
    for one in script.commands:
        name = one.program or ""
        if name and script.text.startswith(name, one.start):
            yield name, one.start + len(name), one.words
        for inner, at in inner_programs(one):
            yield inner, one.words[at].end, one.words[at + 1 :]
