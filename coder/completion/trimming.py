"""What is taken off a completion before it is shown: what stands there already, and what goes in circles.

The rules follow those that completion servers came to (llama.vscode, Tabby's post-processing): see docs/lsp.md.
"""

from __future__ import annotations

import re

from coder.completion.situation import Situation, depth

_EXIT = re.compile(r"\s*(?:return|raise|throw|break|continue)\b")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def trim(text: str, situation: Situation) -> str:
    """The completion without the parts that repeat what is around the cursor; empty where nothing is left."""
    text = drop_suffix(text.rstrip(), situation.line_after)
    text = drop_next_lines(text, situation.after)
    text = drop_exits(text, situation.after)
    text = drop_circles(text)
    return "" if repeats_above(text, situation.before) else text


def drop_suffix(text: str, line_after: str) -> str:
    """Without an end that is how the rest of the cursor's line begins: those signs stand there already.

    A bracket that the completion opened itself is its own to close. Of several lines, the rest of the cursor's line
    comes behind the last: a first line that closes what the rest closes is shown alone.
    """
    rest = line_after.rstrip()
    if not rest.strip():
        return text
    first, newline, _ = text.partition("\n")
    alone = drop_suffix(first, line_after) if newline else first
    if alone.rstrip() != first.rstrip():
        return alone
    for size in range(min(len(text), len(rest)), 0, -1):
        if text.endswith(rest[:size]):
            kept = text[: len(text) - size]
            if _balanced(rest[:size], kept):
                return kept
    at = text.find(rest)
    return text[:at] if at >= 0 and len(rest.strip()) > 1 and not newline else text


def drop_next_lines(text: str, after: str) -> str:
    """Without last lines that are the next lines below the cursor, and without what only completes the line into
    the one below."""
    below = [line.strip() for line in after.split("\n")[1:] if line.strip()][:8]
    lines = text.split("\n")
    for count in range(min(len(lines), len(below)), 0, -1):
        tail = [line.strip() for line in lines[-count:]]
        if tail == below[:count] and (count > 1 or len(tail[0]) > 1 or len(lines) > 1):
            return "\n".join(lines[:-count]).rstrip()
    return text


def drop_exits(text: str, after: str) -> str:
    """Cut before a further line that leaves the block while what stands below still belongs to it."""
    below = next((line for line in after.split("\n")[1:] if line.strip()), "")
    first, *further = text.split("\n")
    for at, line in enumerate(further, 1):
        if _EXIT.match(line) and below and depth(below) >= depth(line) and below.strip()[0] not in ")]}":
            return "\n".join([first, *further[: at - 1]])
    return text


def drop_circles(text: str) -> str:
    """Cut before a run of lines that comes a second time at once, or a line that comes a third time."""
    lines = text.split("\n")
    for end in range(1, len(lines)):
        for size in range(1, end + 1):
            one, two = lines[end - size : end], lines[end : end + size]
            if one == two and any(len(line.strip()) > 1 for line in one):
                return "\n".join(lines[:end])
    return text


def repeats_above(text: str, before: str) -> bool:
    """Whether the completed line, or all of several lines, are just what stands above the cursor."""
    if not text.strip():
        return False
    head, _, line = before.rpartition("\n")
    completed = [one.strip() for one in (line + text).split("\n")]
    above = [one.strip() for one in head.split("\n")]
    while above and not above[-1]:
        above.pop()
    return above[-len(completed) :] == completed and len(completed[0]) > 2


def _balanced(end: str, kept: str) -> bool:
    """Whether the closing signs of `end` do not close what `kept` opened."""
    for closer, opener in _PAIRS.items():
        if closer in end and kept.count(opener) > kept.count(closer):
            return False
    return not any(quote in end and kept.count(quote) % 2 for quote in "\"'`")
