"""Worked examples of the shell, and the search for those whose sentences say nearly the same as a question.

The examples are the pairs of NL2Bash (Lin et al., 2018, arXiv:1802.08979; MIT). A sentence is compared without its
literals: each stands as its kind, so that "all *.c files under /usr" finds "all *.py files under src".
"""

from __future__ import annotations

import gzip
import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from coder.shell.literals import Literal

DATA = Path(__file__).with_name("data") / "nl2bash.tsv.gz"

_SAME = {
    "folder": "directory", "dir": "directory", "folders": "directory", "subfolder": "subdirectory",
    "locate": "find", "search": "find", "look": "find", "list": "print", "display": "print", "show": "print",
    "output": "print", "report": "print", "delete": "remove", "erase": "remove", "calculate": "count",
    "compute": "count", "get": "find", "tree": "recursive", "recursively": "recursive", "subdirectory": "recursive",
    "beneath": "under", "below": "under", "inside": "under", "within": "under", "in": "under", "from": "under",
    "larger": "bigger", "greater": "bigger", "above": "bigger", "exceeding": "bigger", "less": "smaller",
    "containing": "contain", "biggest": "largest", "modify": "change", "set": "change", "all": "every",
    "each": "every", "any": "every", "whose": "with", "that": "with", "which": "with", "having": "with",
    "case-insensitive": "insensitive", "ignoring": "insensitive", "called": "name", "named": "name",
    "totally": "total", "sum": "total", "symbolic": "symlink", "soft": "symlink", "descending": "reverse",
    "occurrence": "count", "occurence": "count", "hash": "md5", "md5sum": "md5", "older": "ago", "delet": "remove",
}  # fmt: skip
_LIGHT = frozenset("the a an of to and for is are be on by it its as this at or their them with".split())


@dataclass(frozen=True)
class Example:
    """`terms`: those of the sentence, without its literals."""

    sentence: str
    command: str
    terms: tuple[str, ...]


@dataclass(frozen=True)
class Near:
    """An example and how near its sentence is to the question: 1 for the same sentence, 0 for nothing in common."""

    example: Example
    likeness: float


def terms(sentence: str, found: Sequence[Literal]) -> list[str]:
    """The words of a sentence, folded, with the kind of each literal in its place."""
    pieces, at = [], 0
    for literal in found:
        pieces += [sentence[at : literal.start], f" _{literal.kind.value} "]
        at = literal.end
    words = re.findall(r"_?[a-z][a-z0-9'-]*", ("".join(pieces) + sentence[at:]).casefold())
    return [folded for word in words if (folded := _fold(word)) not in _LIGHT]


@lru_cache(maxsize=20_000)
def _fold(word: str) -> str:
    word = _SAME.get(word, word)
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", ""), ("ing", ""), ("ed", "")):
        if len(word) > len(ending) + 2 and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            word = word.removesuffix(ending) + instead
            break
    return _SAME.get(word, word)


def load(path: Path = DATA) -> list[Example]:
    """The examples that ship with the package. Raises OSError."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = (line.rstrip("\n").split("\t") for line in lines)
        return [Example(sentence, command, tuple(said.split())) for sentence, command, said in rows]


class Index:
    """BM25 over single terms and pairs of neighbours (Robertson and Zaragoza 2009), made symmetric: a sentence that
    asks for more than the question, or for less, is further away."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        self._counts = [Counter(combined(one.terms)) for one in examples]

    @cached_property
    def _postings(self) -> dict[str, list[int]]:
        postings: dict[str, list[int]] = defaultdict(list)
        for at, counts in enumerate(self._counts):
            for feature in counts:
                postings[feature].append(at)
        return postings

    def _weight(self, feature: str) -> float:
        documents = len(self._postings.get(feature, ()))
        return math.log(1 + (len(self.examples) - documents + 0.5) / (documents + 0.5)) * (0.5 if " " in feature else 1)

    @cached_property
    def _sizes(self) -> list[float]:
        return [self._size(counts) for counts in self._counts]

    def _size(self, counts: Counter[str]) -> float:
        return math.sqrt(sum((self._weight(feature) * _damped(count)) ** 2 for feature, count in counts.items())) or 1.0

    def knows(self, word: str) -> bool:
        """Whether the word is common in sentences about the shell."""
        return len(self._postings.get(_fold(word.casefold()), ())) > 3

    def nearest(self, sentence: str, found: Sequence[Literal], count: int) -> list[Near]:
        """The `count` nearest examples, nearest first; fewer where fewer have anything in common."""
        asked = Counter(combined(terms(sentence, found)))
        scores: dict[int, float] = defaultdict(float)
        for feature, times in asked.items():
            weight = self._weight(feature) ** 2 * _damped(times)
            for at in self._postings.get(feature, ()):
                scores[at] += weight * _damped(self._counts[at][feature])
        size = self._size(asked)
        ranked = sorted(((score / (size * self._sizes[at]), at) for at, score in scores.items()), reverse=True)
        return [Near(self.examples[at], likeness) for likeness, at in ranked[:count]]


def _damped(count: int) -> float:
    return 1 + math.log(count)


def combined(words: Sequence[str]) -> Iterator[str]:
    """The words, and each pair of neighbours."""
    yield from words
    yield from (f"{one} {other}" for one, other in itertools.pairwise(words))


@lru_cache(maxsize=1)
def shipped() -> Index:
    """The index of the examples that ship with the package: about a second, once per process."""
    return Index(load())
