"""Which files a question is about, as conditions of `find`: kind, name, size, age, permissions, owner, depth.

Each condition has the ways in which it may be written; a command that has none of them leaves out what was asked for,
and one that has a condition nobody named says more than the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coder.shell.criteria.access import modes, owners
from coder.shell.criteria.criterion import DEPTH, TYPE, Criterion, differences
from coder.shell.criteria.measures import ages, sizes
from coder.shell.criteria.names import name_of, names
from coder.shell.literals import Kind, Literal

__all__ = ["DEPTH", "TYPE", "Criterion", "criteria", "differences", "name_of"]

_SHALLOW = re.compile(
    r"\bnon-?recursiv|without (?:recurs|descend|travers|search|go)|\bdirectly (?:in|under)|\btop[- ]level"
    r"|\b(?:not|don'?t|never|no) (?:\w+ ){0,3}?(?:in |into |to )?(?:the |its |any )?(?:recurs|sub)"
    r"|(?:only|just) (?:in|under|inside) (?:the )?(?:current|this|top)"
    r"|exclud\w* (?:the |all )?sub-? ?(?:dir|fold)|maximum depth of (?:1|one)"
)
_PLACED = re.compile(
    r"\b(?:in|under|below|inside|within|from|into|of|at|its|and|with|through|to|current|this|working|home|root|parent"
    r"|same)\b(?: (?:the|a|an|all|this|given|current|of))*(?: \S+)?(?: \S+)? $"
)  # what stands before a folder that is searched, not looked for
_BOTH = re.compile(
    r"files? ?(?:/|and|or|&|,) ?(?:sub-?)?(?:director|folder|drector)|(?:director\w+|folders?) ?(?:/|and|or) ?files"
)
_NOUN = re.compile(
    r"\b(?:(?P<plain>regular |normal |ordinary )?(?P<file>files?)"
    r"(?! (?:systems?|names?|types?|sizes?|trees?|extensions?)\b)"
    r"|(?P<folder>(?:sub-? ?)?(?:d\w{0,2}rector(?:ies|y'?s)|folders))|(?P<link>(?:symbolic |soft |sym-?)links?))\b"
)


def criteria(sentence: str, asked: Sequence[Literal]) -> list[Criterion]:
    """In the order in which `find` takes them best: depth, kind, then the rest."""
    low = sentence.casefold()
    found = [*_depth(low, asked), *_type(low), *names(sentence, asked), *sizes(sentence, asked)]
    return [*found, *ages(sentence, asked), *modes(sentence, asked), *owners(sentence)]


def _depth(low: str, asked: Sequence[Literal]) -> Iterator[Criterion]:
    for literal in asked:
        after = low[literal.end : literal.end + 12]
        if literal.kind is Kind.NUMBER and re.match(r"\s*(?:levels?|sub-?levels?)\b", after):
            yield Criterion(DEPTH, (f"-maxdepth {literal.text}",), (r"-m(?:in|ax)depth \d+",))
            return
    if re.search(r"\bimmediate(?:ly)? (?:sub|child)", low):
        yield Criterion(DEPTH, ("-mindepth 1 -maxdepth 1", "-maxdepth 1"), (r"-m(?:in|ax)depth 1",))
    elif _SHALLOW.search(low):
        yield Criterion(DEPTH, ("-maxdepth 1",), ("-mindepth 1",))


def _type(low: str) -> Iterator[Criterion]:
    """By the first noun that is looked for."""
    if _BOTH.search(low):
        yield Criterion(TYPE, ("",))
        return
    for noun in _NOUN.finditer(low):
        if noun["folder"] and _PLACED.search(low[: noun.start()]):
            continue
        if noun["link"]:
            yield Criterion(TYPE, ("-type l",), ("-xtype l|-lname .*",))
        elif noun["folder"]:
            yield Criterion(TYPE, ("-type d",))
        else:
            yield Criterion(TYPE, ("-type f",) if noun["plain"] else ("-type f", ""))
        return
