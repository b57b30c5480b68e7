"""Commands that may answer a question, best first by what is known without a model and without running anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from coder.shell import affinity, examples
from coder.shell.adapt import Candidate, adapt
from coder.shell.compose import compose
from coder.shell.expect import plausible, unasked
from coder.shell.features import inner_programs
from coder.shell.literals import Kind, Literal, literals
from coder.shell.syntax import parse

NEAREST = 60
_DESTRUCTION = re.compile(
    r"\b(?:remov|delet|eras|clean|purg|drop|wip|trunc|get rid|rm\b|prune|unlink|shred)", re.IGNORECASE
)
MISSED, KEPT, DOES, PLAUSIBLE, FOREIGN = 0.15, 0.10, 1.0, 0.3, 0.2
"""Weights beside a likeness of 1, tuned on the first file system of InterCode."""


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
        for one in literals(sentence, {*names, place.name}, index.knows)
    )
    said = list(examples.combined(examples.terms(sentence, found)))
    near = tuple(index.nearest(sentence, found, NEAREST))
    return Question(sentence, found, near, affinity.shipped().judge(said))


def propose(question: Question, possible: Callable[[str], bool], count: int) -> list[Proposal]:
    """At most `count`. `possible` says whether a command can run here at all."""
    adapted = [one for near in question.near for one in adapt(near, question.literals)]
    wanted = bool(_DESTRUCTION.search(question.sentence))
    adapted = [one for one in _unique(adapted) if (wanted or not _destroys(one.command)) and possible(one.command)]
    adapted.sort(key=lambda one: -worth(question, one))
    composed = [one for one in _unique(compose(question.sentence, adapted, question.literals)) if possible(one.command)]
    ranked = sorted((Proposal(one, worth(question, one)) for one in adapted + composed), key=lambda one: -one.worth)
    return ranked[:count]


def worth(question: Question, candidate: Candidate) -> float:
    does = question.judge.score(candidate.command)
    counts = PLAUSIBLE * plausible(question.sentence, candidate.command)
    counts -= PLAUSIBLE * unasked(question.sentence, candidate.command)
    strange = min(3, foreign(candidate.command, question.sentence))
    against = MISSED * candidate.missed + KEPT * candidate.kept + FOREIGN * strange
    return candidate.likeness + DOES * does + counts - against


def foreign(command: str, sentence: str) -> int:
    """How many words of the command name something that the sentence does not: left over from an example."""
    said = sentence.casefold()
    count = 0
    for one in parse(command).commands:
        if one.program in ("awk", "sed", "tr", "cut", "perl", "printf", "sort"):
            continue
        inner = {at for _, at in inner_programs(one)}
        for at, word in enumerate(one.words):
            text = word.value or ""
            if at in inner or text.startswith(("-", "{", "$", "/dev/")) or word.text.startswith("$"):
                continue
            for name in re.findall(r"[A-Za-z]{3,}|(?<=\*\.)\w+", text):
                count += name.casefold() not in said and not (at and one.words[at - 1].text in ("-printf", "-I"))
    return count


def _destroys(command: str) -> bool:
    return bool(
        re.search(
            r"(?:^|[|;&]\s*|xargs (?:-\S+ )*|-exec(?:dir)? )(?:/bin/)?(?:rm|unlink|shred|truncate|mv /dev)\b|-delete\b",
            command,
        )
    )


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
