"""Commands put together from parts of several: what one example finds, and what another does with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coder.shell.adapt import Candidate
from coder.shell.literals import Kind, Literal
from coder.shell.syntax import ShellSyntaxError, parse

_ACTIONS = re.compile(
    r"\s(?:-print0?|-ls)\b.*|\s-exec(?:dir)?\s.*|\s-delete\b.*|\s-printf\s.*|\s*(?<!\|)\|(?!\|).*", re.DOTALL
)
_LIMIT = 400


def compose(
    candidates: Sequence[Candidate], asked: Sequence[Literal], heads: int = 12, tails: int = 16
) -> list[Candidate]:
    """Crossings of the best candidates: the part that finds files, and what follows it. Best first as they came."""
    starts: dict[str, Candidate] = {}
    ends: dict[str, Candidate] = {}
    for one in candidates:
        parts = split(one.command)
        if parts is None:
            continue
        if len(starts) < heads:
            starts.setdefault(parts[0], one)
        if parts[1] and len(ends) < tails:
            ends.setdefault(parts[1], one)
    known = {one.command for one in candidates}
    crossed = []
    for head, first in starts.items():
        for tail, second in [("", first), *ends.items(), *((tail, first) for tail in _common(asked))]:
            command = head + tail
            if command in known or len(crossed) >= _LIMIT:
                continue
            known.add(command)
            likeness = 0.5 * (first.likeness + second.likeness) if tail in ends else 0.9 * first.likeness
            missed = sum(1 for one in asked if not mentions(command, one))
            crossed.append(Candidate(command, likeness, missed, max(first.kept, second.kept), first.source))
    return crossed


def split(command: str) -> tuple[str, str] | None:
    """(`find` and what it looks for, what happens to it); None for commands of another form."""
    if not command.startswith("find "):
        return None
    match = _ACTIONS.search(command)
    if match is None:
        return command.rstrip(), ""
    head = command[: match.start()].rstrip()
    try:
        parse(head)
    except ShellSyntaxError:
        return None
    return head, command[match.start() :]


def mentions(command: str, literal: Literal) -> bool:
    if literal.kind is Kind.EXTENSION:
        return bool(re.search(rf"\.{re.escape(literal.text)}\b|\b{re.escape(literal.text)}['\"]", command))
    if literal.text == ".":
        return True
    return literal.text.rstrip("/") in command


def _common(asked: Sequence[Literal]) -> Iterator[str]:
    """Ends that any list of files may have."""
    yield " | wc -l"
    yield " | xargs cat | wc -l"
    yield " | xargs wc -l"
    yield " | sort"
    for literal in asked:
        if literal.kind is Kind.WORD and re.fullmatch(r"[\w.-]+", literal.text):
            yield f" | xargs grep -l {literal.text}"
            yield f" | xargs grep {literal.text}"
            yield f" | xargs grep -l {literal.text} | wc -l"
        if literal.kind is Kind.MODE:
            yield f" -exec chmod {literal.text} {{}} \\;"
        if literal.kind is Kind.NUMBER:
            yield f" | head -n {literal.text}"
