"""Commands put together from parts of several: what one example finds, and what another does with it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from coder.shell.adapt import Candidate
from coder.shell.literals import Kind, Literal
from coder.shell.steps import ends as ends_for
from coder.shell.steps import starts as starts_for
from coder.shell.syntax import ShellSyntaxError, parse

_ACTIONS = re.compile(
    r"\s(?:-print0?|-ls)\b.*|\s-exec(?:dir)?\s.*|\s-delete\b.*|\s-printf\s.*|\s*(?<!\|)\|(?!\|).*", re.DOTALL
)
_HEADS, _TAILS = 12, 16  # parts taken from the candidates: those that find files, and what follows them
_LIMIT = 1_000
PLAIN = 0.8  # likeness, in parts of the best example's, of what is put together from the question's words alone


def compose(sentence: str, candidates: Sequence[Candidate], asked: Sequence[Literal]) -> list[Candidate]:
    """Crossings of the best candidates: the part that finds files, and what follows it. Best first as they came."""
    if not candidates:
        return []
    near = max(one.likeness for one in candidates)
    own = (Candidate(start, PLAIN * near, 0, 0, candidates[0].source) for start in starts_for(sentence, asked))
    starts = {one.command: one for one in own}
    heads = _HEADS + len(starts)
    ends: dict[str, Candidate] = {}
    for one in candidates:
        parts = split(one.command)
        if parts is None:
            continue
        if len(starts) < heads:
            starts.setdefault(parts[0], one)
        if parts[1] and len(ends) < _TAILS:
            ends.setdefault(parts[1], one)
    ends.update(_longer(sentence, ends, asked))
    common = list(ends_for(sentence, asked))
    known = {one.command for one in candidates}
    crossed: list[Candidate] = []
    for head, first in starts.items():
        for tail, second in [("", first), *ends.items(), *((tail, first) for tail in common)]:
            command = head + tail
            if command in known or len(crossed) >= _LIMIT:
                continue
            known.add(command)
            likeness = 0.5 * (first.likeness + second.likeness) if tail in ends else 0.9 * first.likeness
            missed = sum(1 for one in asked if not mentions(command, one))
            crossed.append(Candidate(command, likeness, missed, max(first.kept, second.kept), first.source))
    return crossed


def _longer(sentence: str, ends: dict[str, Candidate], asked: Sequence[Literal]) -> dict[str, Candidate]:
    """The first few ends with one more step."""
    steps = [step for step in ends_for(sentence, ()) if step.startswith((" | wc -l", " | sort", " | md5sum"))]
    steps += [f" | head -n {one.text}" for one in asked if one.kind is Kind.NUMBER]
    return {end + step: one for end, one in list(ends.items())[:5] for step in steps if step.split()[1] not in end}


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
    """Whether a command has in it what the sentence names."""
    if literal.kind is Kind.EXTENSION:
        return bool(re.search(rf"\.{re.escape(literal.text)}\b|\b{re.escape(literal.text)}['\"]", command))
    if literal.text == ".":
        return True
    text = re.escape(literal.text.rstrip("/"))
    return bool(re.search(rf"(?<![\w/]){text}(?!/?\w)" if literal.kind is Kind.PATH else text, command))
