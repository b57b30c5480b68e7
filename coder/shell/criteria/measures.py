"""Conditions on sizes and ages, with the sign that the words beside a number have: more, less, exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coder.shell.criteria.criterion import AGE, EMPTY, SIZE, Criterion
from coder.shell.literals import Kind, Literal

_MORE = r"\b(?:more|larger|bigger|greater|over|above|exceed\w*|at least|older|longer|minimum|before)\b|>"
_LESS = (
    r"\b(?:less|smaller|(?:under|below)(?=\s*$)|at most|up to|within|newer|younger|last(?! (?:modif|access|chang))"
    r"|past|maximum|fewer|lower|since)\b|<"
)
_AFTER = (
    ("+", re.compile(r"\s*(?:\w+\s+)?(?:or|and) (?:more|older|larger|greater|above)", re.I)),
    ("-", re.compile(r"\s*(?:\w+\s+)?or (?:less|newer)", re.I)),
)
_UNITS = {
    "minute": ("min", 1), "min": ("min", 1), "hour": ("min", 60), "hr": ("min", 60), "day": ("time", 1),
    "week": ("time", 7), "month": ("time", 30), "year": ("time", 365),
}  # fmt: skip
_NOT_EMPTY = re.compile(r"\bnon-?empty|not empty|ignoring (?:any )?empty|(?:except|excluding) empty", re.I)
_EMPTY = re.compile(
    r"\bempty\b(?! line)|\bzero[- ](?:length|size|byte)|\bsize (?:of )?(?:zero|0)\b|\b0[- ]?bytes?\b", re.I
)
_THAN = re.compile(
    r"(?:newer|more recent(?:ly)?|(?:modified|changed) (?:later|after)) (?:than )?(?:the )?(?:file )?"
    r"[\"'`]?([\w./-]+\.\w+)",
    re.I,
)


def sign(sentence: str, literal: Literal) -> str | None:
    """`+` or `-` as the words beside a size or an age have it; "" for "exactly"; None where they say nothing."""
    before, after = sentence[max(0, literal.start - 45) : literal.start], sentence[literal.end :]
    for mark, words in _AFTER:
        if words.match(after):
            return mark
    if re.search(r"\bbetween\b", before, re.I):
        return "-" if re.search(r"\band\s*$", before, re.I) else "+"
    before = re.split(r"[,;]|\band\b|\bor\b", before)[-1]
    near = [(hit.end(), mark) for mark, of in (("+", _MORE), ("-", _LESS)) for hit in re.finditer(of, before, re.I)]
    if near:
        turned = re.search(r"\b(?:not|no) (?:more|larger|bigger|greater|older|over)", before, re.I)
        return "-" if turned else max(near)[1]
    return "" if re.search(r"\bexactly|\bsizes? (?:of |is |= ?)|\bequal", before, re.I) else None


def sizes(sentence: str, asked: Sequence[Literal]) -> Iterator[Criterion]:
    """How large files must be, or that they must be empty or not."""
    if _NOT_EMPTY.search(sentence):
        yield Criterion(EMPTY, ("-not -empty", "! -empty", "-size +0"), (r"! -empty|! -size 0c?",))
    elif _EMPTY.search(sentence):
        if not re.search(r"\b(?:create|make|touch)\b", sentence, re.I):
            yield Criterion(EMPTY, ("-empty", "-size 0"), ("-size 0c?",))
        return
    for literal in asked:
        if literal.kind is Kind.SIZE:
            mark, (amount, unit) = sign(sentence, literal), (literal.text[:-1], literal.text[-1])
            marks = ("", "+", "-") if mark is None else (mark,)
            also = rf"-size {re.escape(mark or '')}{re.escape(amount)}(?:{unit}|{unit.swapcase()})"
            yield Criterion(SIZE, tuple(f"-size {one}{literal.text}" for one in marks), (also,))


def ages(sentence: str, asked: Sequence[Literal]) -> Iterator[Criterion]:
    counted = list(_counted(sentence, asked))
    yield from counted or _uncounted(sentence)


def _kinds(low: str) -> list[str]:
    """Access, change, modification: the likelier first, then what else the words may mean."""
    first = "a" if re.search(r"\baccess", low) else "c" if re.search(r"status|change time|\binode", low) else "m"
    return list(dict.fromkeys((first, "c" if re.search(r"\bchang|creat", low) else first)))


def _counted(sentence: str, asked: Sequence[Literal]) -> Iterator[Criterion]:
    low = sentence.casefold()
    for literal in asked:
        unit = re.match(r"[\s-]*(minute|min|hour|hr|day|week|month|year)", low[literal.end :])
        if literal.kind is not Kind.NUMBER or not unit or not literal.text.isdigit():
            continue
        test, times = _UNITS[unit[1]]
        counts = [(test, int(literal.text) * times)]
        if times == 60 and counts[0][1] % 1440 == 0:
            counts.insert(0, ("time", counts[0][1] // 1440))
        mark = sign(sentence, literal)
        marks = ("", "+", "-") if mark is None else (mark,)
        ways = [(one, *count, kind) for one in marks for count in counts for kind in _kinds(low)]
        yield Criterion(AGE, tuple(f"-{kind}{test} {one}{number}" for one, test, number, kind in ways))


def _uncounted(sentence: str) -> Iterator[Criterion]:
    """Newer than a file, the last week, today."""
    low = sentence.casefold()
    kinds = _kinds(low)
    if than := _THAN.search(sentence):
        yield Criterion(AGE, (f"-newer {than[1]}",))
    elif hit := re.search(r"\b(?:last|past|an?|this) (minute|hour|day|week|month|year)\b", low):
        test, times = _UNITS[hit[1]]
        mark = "+" if re.search(r"\b(?:more|older) than\b|ago", low) else "-"
        yield Criterion(AGE, tuple(f"-{kind}{test} {mark}{times}" for kind in kinds))
    elif re.search(r"\btoday\b|last 24 hours", low):
        yield Criterion(AGE, (f"-daystart -{kinds[0]}time 0", f"-{kinds[0]}time -1", f"-{kinds[0]}time 0"))
