"""Conditions on permissions and owners, in numbers or in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coder.shell.criteria.criterion import MODE, OWNER, Criterion
from coder.shell.criteria.names import negated
from coder.shell.literals import Kind, Literal

_WHO = {"u": r"\b(?:user|owner)", "g": r"\bgroup", "o": r"\b(?:other|world)"}
_BITS = {"r": (r"\bread", 4), "w": (r"\bwrit", 2), "x": (r"\bexecut", 1)}
_ALONE = {"r": "-readable", "w": "-writable", "x": "-executable"}
_SPECIAL = {"setuid|suid|set user id": ("u", "4000"), "setgid|sgid|set group id|set guid": ("g", "2000"),
            "sticky": ("o", "1000")}  # fmt: skip
_ABOUT_ACCESS = re.compile(r"permission|able\b|\baccess|\bbits?\b|\bexecut\w+ (?:file|script|dir)")
_CHANGES_ACCESS = re.compile(
    r"\bchmod|(?:^\W*(?:\w+ly )?|\band (?:then )?)(?:change|set|make|add|give|remove|grant|revoke)s?\b"
)
_EVERYBODY = re.compile(
    r"(?:by|to|for) (?:all|every|any)|all (?:the )?users|\b(?:everyone|everybody|anyone|anybody|at least some\w+)\b"
)


def modes(sentence: str, asked: Sequence[Literal]) -> Iterator[Criterion]:
    """What permissions files must have, by number or in words; not those that are to be set."""
    low = sentence.casefold()
    numbers = [literal for literal in asked if literal.kind is Kind.MODE and not literal.target]
    if (
        len(numbers) == 1
        and _CHANGES_ACCESS.match(low)
        and not any(one.target for one in asked if one.kind is Kind.MODE)
    ):
        return  # what they are set to
    if numbers:
        no = "! " if negated(sentence, numbers[0], 30) else ""
        bare = numbers[0].text.lstrip("0") or "0"
        least = "-" if re.search(r"\bat least\b", low) else ""
        yield Criterion(MODE, (f"{no}-perm {least}{numbers[0].text}",), (rf"{no}-perm {least}0*{bare}",))
        return
    for words, (letter, mode) in _SPECIAL.items():
        if re.search(rf"\b(?:{words})\b", low):
            also = rf"-perm [-/+]?(?:{mode[0]}\d\d\d|{letter}[=+][st])"
            yield Criterion(MODE, (f"-perm -{mode}", f"-perm /{mode}"), (also,))
            return
    if re.search(r"\b(?:all|full) (?:the )?permissions?\b", low):
        yield Criterion(MODE, ("-perm 777", "-perm -777"), (r"-perm [-/]?0?777|-perm .*rwx.*",))
    else:
        yield from _in_words(low)


def _in_words(low: str) -> Iterator[Criterion]:
    """Who may do what: "writable by group", "read permission for everybody"."""
    what = [
        (letter, bit) for letter, (words, bit) in _BITS.items() if re.search(rf"{words}(?:able|eable|e|ing)?\b", low)
    ]
    if not what or not _ABOUT_ACCESS.search(low) or _CHANGES_ACCESS.search(low):
        return
    who = "ugo" if _EVERYBODY.search(low) else [letter for letter, words in _WHO.items() if re.search(words, low)]
    total = sum(bit for _, bit in what)
    digits = "".join(str(total) if not who or letter in who else "0" for letter in "ugo")
    exactly = bool(re.search(r"\bonly\b", low))
    tests = [f"-perm {digits}", f"-perm -{digits}"] if exactly else [f"-perm -{digits}", f"-perm {digits}"]
    tests.insert(0 if re.search(r"\bor\b|\beither\b", low) and len(who) > 1 else len(tests), f"-perm /{digits}")
    if not who and len(what) == 1:
        tests.insert(0, _ALONE[what[0][0]])
    no = "! " if re.search(r"\b(?:not|n't|without|no)\b", low) else ""
    yield Criterion(MODE, tuple(no + one for one in tests), (rf"{no}-perm [-/+].*",))


def owners(sentence: str) -> Iterator[Criterion]:
    """Whose files they must be: a user, a group, or nobody known."""
    low = sentence.casefold()
    if re.search(r"(?:not|n't) (?:belong\w*|owned) (?:to|by) any|no (?:valid )?(?:owner|user)|nouser", low):
        yield Criterion(OWNER, ("-nouser",), ("-nogroup",))
        return
    for who, option in (("user", "-user"), ("group", "-group")):
        named = re.search(
            rf"(?:owned by|belong\w* to|of|by)(?: (?:the|a))? {who}\s+[\"'`]?([A-Za-z_][\w-]*)"
            rf"|(?:owned by|belong\w* to)(?: (?:the|a))?\s+[\"'`]?(?!user|group)([A-Za-z_][\w-]*)[\"'`]? {who}\b",
            sentence,
            re.I,
        )
        if named:
            yield Criterion(OWNER, (f"{option} {named[1] or named[2]}",))
    if not re.search(r"\b(?:user|group)\b", low):
        named = re.search(r"owned by (?!the|a |any|me)[\"'`]?([a-z_][\w-]*)", sentence)
        if named:
            yield Criterion(OWNER, (f"-user {named[1]}",))
