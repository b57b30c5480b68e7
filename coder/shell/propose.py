"""Commands that may answer a question, best first by what is known without a model and without running anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from coder.shell import affinity, examples
from coder.shell.adapt import Candidate, adapt
from coder.shell.compose import compose
from coder.shell.literals import Kind, Literal, literals

NEAREST = 60
MISSED, KEPT, DOES = 0.15, 0.10, 1.5  # weights beside a likeness of 1, tuned on InterCode's first file system


@dataclass(frozen=True)
class Question:
    """`near`: the nearest worked examples, nearest first. `literals`: what the sentence names exactly."""

    sentence: str
    literals: tuple[Literal, ...]
    near: tuple[examples.Near, ...]
    judge: affinity.Judge


@dataclass(frozen=True)
class Proposal:
    """`worth`: the higher the likelier; comparable within one question only."""

    candidate: Candidate
    worth: float

    @property
    def command(self) -> str:
        return self.candidate.command


def understand(sentence: str, names: Collection[str], place: Path) -> Question:
    """`names`: of the files and folders that are there, so that the sentence may name them without quotes. `place`:
    the folder itself, which may be called by its last name."""
    index = examples.shipped()
    own = {place.name, f"{place.name}/"}
    found = tuple(
        replace(one, text=str(place)) if one.text in own and one.kind is not Kind.FILE else one
        for one in literals(sentence, {*names, place.name})
    )
    said = list(examples.combined(examples.terms(sentence, found)))
    near = tuple(index.nearest(sentence, found, NEAREST))
    return Question(sentence, found, near, affinity.shipped().judge(said))


def propose(question: Question, possible: Callable[[str], bool], count: int) -> list[Proposal]:
    """At most `count`. `possible` says whether a command can run here at all."""
    adapted = [one for near in question.near for one in adapt(near, question.literals)]
    adapted = [one for one in _unique(adapted) if possible(one.command)]
    adapted.sort(key=lambda one: -worth(question, one))
    composed = [one for one in _unique(compose(adapted, question.literals)) if possible(one.command)]
    ranked = sorted((Proposal(one, worth(question, one)) for one in adapted + composed), key=lambda one: -one.worth)
    return ranked[:count]


def worth(question: Question, candidate: Candidate) -> float:
    does = question.judge.score(candidate.command)
    return candidate.likeness + DOES * does - MISSED * candidate.missed - KEPT * candidate.kept


def _unique(candidates: list[Candidate]) -> list[Candidate]:
    """One of those that differ in spaces and quotes only: the nearest."""
    best: dict[str, Candidate] = {}
    for one in candidates:
        if re.search(r"[“”‘’]|\.\.\.", one.command):
            continue
        key = (
            re.sub(r"\s+", " ", re.sub(r"[\"'\\]", "", one.command))
            .replace("/ ", " ")
            .replace(" |", "|")
            .replace("| ", "|")
        )
        if key not in best or best[key].likeness < one.likeness:
            best[key] = one
    return list(best.values())
