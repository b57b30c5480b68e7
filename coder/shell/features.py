"""What a command does, as a set of names: its programs, their options, and which program feeds which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from coder.shell.syntax import Command, Script, ShellSyntaxError, parse

_WHOLE_OPTIONS = {"find", "java", "openssl", "convert", "gcc"}  # -name is one option, not four
_TAKES_PROGRAM = {"xargs", "sudo", "env", "nohup", "time", "nice", "parallel", "exec", "command"}
_VALUED = {"-type", "-perm", "-size", "-mtime", "-maxdepth", "-mindepth", "-mmin", "-printf"}


@lru_cache(maxsize=20_000)
def features(command: str) -> frozenset[str]:
    """Empty for what cannot be parsed."""
    try:
        script = parse(command)
    except ShellSyntaxError:
        return frozenset()
    return frozenset(_all(script))


def inner_programs(command: Command) -> Iterator[tuple[str, int]]:
    """Programs that this command starts: (name, index of its word), for xargs, find -exec and the like."""
    words = command.words
    if command.program in _TAKES_PROGRAM:
        skip = False
        for at, word in enumerate(words):
            if skip:
                skip = False
            elif word.text in ("-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E"):
                skip = True
            elif not word.text.startswith("-") and word.value and not re.fullmatch(r"\w+=.*|\d+", word.value):
                yield word.value, at
                return
    for at, word in enumerate(words[:-1]):
        if command.program == "find" and word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            yield words[at + 1].value or "", at + 1


def _all(script: Script) -> Iterator[str]:
    before = ""
    for command in script.commands:
        program = (command.program or "?").rsplit("/", 1)[-1]
        yield program
        if before:
            yield f"{before}|{program}"
        before = program
        owner, inner = program, dict((at, name) for name, at in inner_programs(command))
        for at, word in enumerate(command.words):
            if at in inner:
                owner = inner[at].rsplit("/", 1)[-1]
                yield owner
                yield f"{program}>{owner}"
            elif program == "find" and word.text in ("\\;", ";", "+"):
                owner = program
            elif word.text.startswith("-") and len(word.text) > 1:
                following = command.words[at + 1].text if at + 1 < len(command.words) else ""
                yield from _options(owner, word.text, following)
        if "$" in script.text and program in ("awk", "gawk"):
            yield from (f"awk {part}" for part in re.findall(r"END|NR|\$NF|\+=|\$\d|length|printf", script.text))
    yield from (f"kind {kind}" for kind in script.kinds & {"for_statement", "while_statement", "command_substitution"})
    yield from (f"redirect {redirect.operator}" for redirect in script.redirects)


def _options(owner: str, text: str, following: str) -> Iterator[str]:
    if re.fullmatch(r"-\d+", text):
        yield f"{owner} -N"
    elif text.startswith("--"):
        yield f"{owner} {text.split('=')[0]}"
    elif owner in _WHOLE_OPTIONS:
        yield f"{owner} {text}"
        if text in _VALUED:
            yield f"{owner} {text} {following[:1] if text != '-printf' else ''}"
    else:
        yield from (f"{owner} -{letter}" for letter in re.match(r"-([A-Za-z]*)", text)[1])  # type: ignore[index]
