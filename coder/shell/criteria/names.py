"""Conditions on names: exact, by their beginning or end or middle, by extension; one of several; all but these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coder.shell.criteria.criterion import NAME, Criterion
from coder.shell.literals import Kind, Literal

_A = r"(?: (?:the|a|an))?(?: (?:word|string|letter|prefix|suffix|extension|pattern|name|text))?\s*$"
_INSIDE = "inside"
_BEFORE = [  # words before a literal, and how its name is matched then
    (rf"(?:start|begin)\w* with{_A}", "{}*"),
    (r"(?:prefix\w*|beginning)(?: (?:of|with|is|the))*\s*$", "{}*"),
    (rf"\bend\w* (?:with|in){_A}", "*{}"),
    (rf"\bnames?\b[^,]{{0,25}}\b(?:contain\w*|includ\w*|ha(?:s|ve|ving)){_A}", "*{}*"),
    (
        r"\b(?:named|called|(?:file|base|by|of)[- ]?names?|with (?:the )?names?"
        r"|names? (?:is|are|as|of|like|match\w*)(?: (?:the|pattern))*)\s*$",
        "{}",
    ),
    (rf"\b(?:contain\w*|includ\w*|with|ha(?:s|ve|ving)){_A}", _INSIDE),
]
_IN_NAME = re.compile(
    r"\s*(?:\([^)]*\))?\s*in (?:its|their|the|his)? ?(?:file|base|path)?-? ?(?:names?|paths?)\b", re.I
)
_NOT = re.compile(
    r"\b(?:not|except|excluding|other than|n't|without|ignor\w+|omit\w*|skip\w*|exclud\w+|apart from)\b"
    r"(?! only)[^,.()]{0,32}$",
    re.I,
)
_ANY_CASE = re.compile(r"case[- ]?insensitiv|insensitive|ignor\w+ (?:the )?case|regardless of (?:the )?case", re.I)
_NOT_HIDDEN = re.compile(r"not hidden|non-?hidden|(?:exclud|ignor|skip)\w+ (?:all )?hidden", re.I)


def negated(sentence: str, literal: Literal, within: int = 45) -> bool:
    """Whether the words before the literal leave it out: "except", "not ending with"."""
    return bool(_NOT.search(sentence[max(0, literal.start - within) : literal.start]))


def name_of(sentence: str, literal: Literal) -> str | None:
    """The pattern of names that the literal stands for; None where it is no part of a name."""
    before, after = sentence[max(0, literal.start - 60) : literal.start], sentence[literal.end :]
    text = literal.text
    if literal.kind is Kind.EXTENSION:
        bare = sentence[literal.start] not in "*.\"'`" and sentence[literal.start + 1] not in "*."
        return f"*{text}" if bare and re.search(r"\bend\w* (?:with|in)[^.]*$", before, re.I) else f"*.{text}"
    if literal.kind is Kind.GLOB:
        return text.rsplit("/", 1)[-1]
    if literal.kind not in (Kind.FILE, Kind.WORD) or re.search(r"[\s/']", text) or literal.target:
        return None
    for words, form in _BEFORE:
        if re.search(words, before, re.I):
            if form is _INSIDE:
                return f"*{text}*" if _IN_NAME.match(after) else None
            return form.format(text)
    file = literal.kind is Kind.FILE and not re.search(r"than|\bof\b|with|from|list|newer", before[-12:])
    return text if file else None


def names(sentence: str, asked: Sequence[Literal]) -> Iterator[Criterion]:
    """What names files must have: any of those that the sentence lists, each of them, or none."""
    test = "-iname" if _ANY_CASE.search(sentence) else "-name"
    wanted: list[tuple[Literal, str]] = []
    left_out: Literal | None = None
    for literal in asked:
        name = name_of(sentence, literal)
        if name is None or (literal.target and literal.kind in (Kind.FILE, Kind.EXTENSION)):
            continue
        listed = left_out and re.fullmatch(r"\W*(?:or|and|,)\W*", sentence[left_out.end : literal.start])
        if listed or negated(sentence, literal):
            left_out = literal
            spelled = re.escape(name.strip("*"))
            yield Criterion(NAME, (f"! {test} '{name}'",), (rf"! -i?(?:name|path) .*{spelled}.*",))
        else:
            wanted.append((literal, name))
    if re.search(r"\bhidden (?:files|dir|fold)", sentence, re.I) and not _NOT_HIDDEN.search(sentence):
        yield Criterion(NAME, ("-name '.*'",), (r"-i?(?:name|path|regex) .*\..*",))
    if not wanted:
        return
    between = sentence[wanted[0][0].end : wanted[-1][0].start]
    found = list(dict.fromkeys(name for _, name in wanted))
    ends = {(name.startswith("*"), name.endswith("*")) for name in found}  # a beginning and an end go together
    joint = r"\bor\b|,|/" if len(ends) == len(found) else r"\b(?:or|and)\b|,|/"
    every = len(wanted) > 1 and not re.search(joint, between)
    for group in [[name] for name in found] if every else [found]:
        tests = " -o ".join(f"{test} '{name}'" for name in group)
        also = tuple(_alike(name, len(wanted) == 1) for name in group)
        yield Criterion(NAME, (f"\\( {tests} \\)" if " -o " in tests else tests,), also)


def _alike(name: str, alone: bool) -> str:
    """Patterns of conditions that say the same of a name; where it is one of several, also more in one."""
    glob = re.escape(name) if alone else re.escape(name).replace(r"\*", r"\S*\*\S*")
    return rf"-i?name '{glob}'|-i?(?:path|wholename|regex) .*{re.escape(name.strip('*'))}.*"
