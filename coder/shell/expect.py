"""What a question lets one expect of a command's output and effect, held against what happened when it ran."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from coder.shell.literals import Kind, Literal
from coder.shell.trial import Outcome

_CHANGES = re.compile(
    r"^\W*(?:\w+ly |then |and )?(?:change|set|create|make|delete|remove|copy|copies|move|compress|decompress|archive|"
    r"rename|add|append|replace|insert|touch|unzip|extract|gzip|zip|write|save|split|link|clean|convert|update|assign|grant|"
    r"prepend|merge|truncate|empty|back ?up|recursively (?:change|remove|delete|copy|set|rename|add))s?\b",
    re.IGNORECASE,
)
_ALSO_CHANGES = re.compile(
    r"\band (?:then )?(?:change|set|delete|remove|copy|move|compress|rename|replace|save)\b", re.I
)
_COUNTS = re.compile(r"\b(?:count|counts|number of|how many|total|sum of|mean|average)\b", re.IGNORECASE)
_EACH = re.compile(
    r"\b(?:each|per|every|occurr?ences? of all|along with|sorted by|names? and|with their|as well|unique)\b",
    re.IGNORECASE,
)
_CONTENTS = re.compile(
    r"\bz?cat\b|\bwc\b(?!\s+-l\s*$)(?=[^|]*(?:\{\}|/|\*|\w\.\w))|xargs(?: -\S+)* wc|-exec wc|grep(?! -\w*[lL])"
)
_FEW = re.compile(r"\b(?:first|last|top|largest|smallest|biggest|oldest|newest|latest|most recent)\b", re.IGNORECASE)
_LISTS = re.compile(r"^\W*(?:find|list|search|locate|print|display|show|get|look)s?\b", re.IGNORECASE)


def fit(sentence: str, found: Sequence[Literal]) -> Callable[[str, Outcome], float]:
    """A judge of (command, outcome): the sum of the expectations met less those that were not."""
    changes = bool(_CHANGES.search(sentence) or _ALSO_CHANGES.search(sentence))
    counts = bool(_COUNTS.search(sentence)) and not changes
    each = bool(_EACH.search(sentence))
    limit = _limit(sentence, found)
    contents = bool(re.search(r"\b(?:lines?|words?|characters?|bytes)\b", sentence, re.IGNORECASE))

    def judge(command: str, outcome: Outcome) -> float:
        lines = [line for line in outcome.stdout.splitlines() if line.strip()]
        score = 0.0
        if changes:
            score += 1.0 if outcome.changes else -1.0
            if _COUNTS.search(sentence):
                score += 0.5 if len(lines) == 1 and re.fullmatch(r"\s*[1-9]\d*\s*", lines[0]) else -0.5
        elif outcome.changes:
            score -= 1.0
        if counts and not each:
            score += 1.0 if len(lines) == 1 and re.search(r"\d", lines[0]) else -0.5
            if len(lines) == 1 and re.fullmatch(r"\s*[\d.]+\s*", lines[0]):
                score += 0.3
            if _reads_contents(command) != contents:
                score -= 0.6
        elif counts and lines:
            score += 0.5 if all(re.search(r"\d", line) for line in lines) else -0.5
            score += 0.6 if len(lines) > 1 else -0.4
        elif not changes and _LISTS.search(sentence) and len(lines) == 1 and lines[0].strip().isdigit():
            score -= 0.7
        if limit is not None and not changes and lines:
            score += 0.6 if len(lines) == limit else 0.2 if len(lines) < limit else -0.6
        return score

    return judge


def plausible(sentence: str, command: str) -> float:
    """As `fit`, from the command's text alone: negative where it cannot print what is asked for."""
    if _CHANGES.search(sentence) or not _COUNTS.search(sentence):
        return 0.0
    if re.search(r"\bwc\b.*\bwc\b", command):
        return -1.0
    counted = bool(re.search(r"\bwc\b|-c\b|\+=|END|\bbc\b", command))
    if _EACH.search(sentence):
        return 0.0 if counted else -0.5
    contents = bool(re.search(r"\b(?:lines?|words?|characters?|bytes)\b", sentence, re.IGNORECASE))
    alone = bool(re.search(r"\|\s*wc -\w\s*$|END|\bbc\b|\| *md5sum\s*$", command))
    return (0.5 if alone else -0.5) + (0.0 if _reads_contents(command) == contents else -0.5)


def unasked(sentence: str, command: str) -> float:
    """What the command does that no word of the question calls for (searching texts, folders for files, less depth),
    and an order that it lacks."""
    low = sentence.casefold()
    score = 0.0
    if re.search(r"grep\b", command) and not re.search(
        r"contain|match|string|text|word|pattern|search|with|empty|code", low
    ):
        score += 1.0
    if "-type d" in command and re.search(r"\bfiles\b", low) and not re.search(r"director(?:ies)|folders", low):
        score += 1.0
    if re.search(r"descending|reverse|largest first", low) and not re.search(r"sort (?:-\S+ )*-\w*r", command):
        score += 1.0
    if "-maxdepth" in command and not re.search(r"depth|level|direct|only|current|not recurs|without|immediate", low):
        score += 1.0
    return score


def _limit(sentence: str, found: Sequence[Literal]) -> int | None:
    """How many lines "the five largest", "first 3" allow."""
    if not _FEW.search(sentence):
        return None
    for literal in found:
        around = sentence[max(0, literal.start - 25) : literal.end + 25]
        if literal.kind is Kind.NUMBER and _FEW.search(around) and literal.text.isdigit():
            return int(literal.text)
    return None


def _reads_contents(command: str) -> bool:
    """Whether what is counted lies in files, not in a list of their names."""
    return bool(_CONTENTS.search(command))
