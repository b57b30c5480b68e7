"""Wrong neighbours of a command: a stage or an option less, another number, pattern or place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coder.shell.syntax import ShellSyntaxError, parse


def mutants(gold: str, place: str) -> list[str]:
    """Different commands that can be parsed, in a fixed order."""
    found = []
    for text in dict.fromkeys(_all(gold, place)):
        try:
            parse(text)
        except ShellSyntaxError:
            continue
        if text != gold:
            found.append(text)
    return found


def _all(gold: str, place: str) -> Iterator[str]:
    stages = re.split(r"(?<!\|)\|(?!\|)", gold)
    if len(stages) > 1:
        yield "|".join(stages[:-1])
        for at in range(1, len(stages) - 1):
            yield "|".join(stages[:at] + stages[at + 1 :])
    for match in re.finditer(r"(?<![\w.*])(\d+)(?![\w.])", gold):
        yield gold[: match.start()] + str(int(match[0]) + 2) + gold[match.end() :]
    for match in re.finditer(r"\*?\.(\w+)(?=['\"\s])", gold):
        yield gold[: match.start(1)] + "zzz" + gold[match.end(1) :]
    for match in re.finditer(r"-(?:i?name|type|perm|mtime|size|maxdepth|mindepth) \S+", gold):
        yield gold[: match.start()] + gold[match.end() :]
    for match in re.finditer(r"(?<=\s)-{1,2}[A-Za-z][\w-]*(?=\s)", gold):
        yield gold[: match.start()] + gold[match.end() :]
    for match in re.finditer(rf"{place}(?![\w/])", gold):
        yield gold[: match.end()] + "/dir1" + gold[match.end() :]
    for match in re.finditer(rf"{place}(?:/[\w.-]+)+", gold):
        yield gold[: match.start()] + match[0].rsplit("/", 1)[0] + gold[match.end() :]
    for match in re.finditer(r"\b(?:FooBar|[Hh]ello|foo|world|FAIL|\w{4,})(?=['\"])", gold):
        yield gold[: match.start()] + "qqq" + gold[match.end() :]
