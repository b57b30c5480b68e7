"""One condition on files, and how a command's own conditions compare with those that a question names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coder.shell.syntax import Command, Script

NAME, SIZE, AGE, MODE, TYPE, OWNER, DEPTH, EMPTY = "name", "size", "age", "mode", "type", "owner", "depth", "empty"
_FAMILIES = {
    "-name": NAME, "-iname": NAME, "-path": NAME, "-ipath": NAME, "-wholename": NAME, "-regex": NAME, "-iregex": NAME,
    "-size": SIZE, "-mtime": AGE, "-atime": AGE, "-ctime": AGE, "-mmin": AGE, "-amin": AGE, "-cmin": AGE,
    "-newer": AGE, "-perm": MODE, "-executable": MODE, "-readable": MODE, "-writable": MODE, "-type": TYPE,
    "-user": OWNER, "-group": OWNER, "-nouser": OWNER, "-nogroup": OWNER, "-maxdepth": DEPTH, "-mindepth": DEPTH,
    "-empty": EMPTY,
}  # fmt: skip
_FREE = {"-empty", "-executable", "-readable", "-writable", "-nouser", "-nogroup"}  # take no value


@dataclass(frozen=True)
class Criterion:
    """`tests`: ways to write it, likeliest first; "" among them: it may be left out. `also`: patterns of another way,
    each of which some condition of the command must match."""

    family: str
    tests: tuple[str, ...]
    also: tuple[str, ...] = ()

    def met(self, has: Sequence[str]) -> bool:
        """Whether a command with these conditions has this one."""
        plain = {_plain(one) for one in has}
        if any(test and plain.issuperset(_pieces(test)) for test in self.tests):
            return True
        return bool(self.also) and all(any(re.fullmatch(one, condition) for condition in has) for one in self.also)


def conditions(command: Command) -> list[tuple[str, str]]:
    """(family, condition) of each test of a `find`, spelled one way: `! -name '*.c'`."""
    found = []
    negated = ""
    at, words = 0, command.words
    while at < len(words):
        text = words[at].text
        if text in ("-exec", "-execdir", "-ok"):
            at = next((i for i in range(at, len(words)) if words[i].text in ("\\;", ";", "+", "';'")), len(words))
        elif text in ("!", "-not"):
            negated = "! "
        elif text in _FAMILIES:
            value = ""
            if text not in _FREE and at + 1 < len(words):
                at += 1
                spelled = words[at].value
                spelled = words[at].text if spelled is None else spelled
                value = f" '{spelled}'" if _FAMILIES[text] == NAME else f" {spelled}"
            found.append((_FAMILIES[text], negated + text + value))
            negated = ""
        at += 1
    return found


def differences(script: Script, asked: Sequence[Criterion]) -> tuple[int, int]:
    """How many conditions the command lacks, and how many it has that nobody asked for. What is no `find` may meet a
    condition on names, on kinds or on depth in ways of its own: it is held to the others alone."""
    has = [one for command in script.commands if command.program == "find" for one in conditions(command)]
    finds = any(command.program == "find" for command in script.commands)
    texts = [condition for _, condition in has]
    lacking = sum(
        not one.met(texts) for one in asked if "" not in one.tests and (finds or one.family not in (NAME, TYPE, DEPTH))
    )
    families = {one.family for one in asked} | {TYPE, NAME}
    families |= {EMPTY, SIZE} if families & {EMPTY, SIZE} else set()
    extra = {family for family, _ in has} - families
    kinds = {test for one in asked if one.family == TYPE for test in one.tests}
    wrong = bool(kinds) and any(family == TYPE and condition not in kinds for family, condition in has)
    whole_days = any("daystart" in word.text for command in script.commands for word in command.words)
    asked_days = any("daystart" in test for one in asked for test in one.tests)
    return lacking, len(extra) + wrong + (whole_days and not asked_days)


def _pieces(test: str) -> list[str]:
    bare = test.removeprefix("\\( ").removesuffix(" \\)")
    return [_plain(one) for one in re.split(r" -o | (?=-m(?:ax|in)depth|-[acm]time|!)", bare)]


def _plain(condition: str) -> str:
    return condition.replace("-not ", "! ").replace("-daystart ", "").strip()
