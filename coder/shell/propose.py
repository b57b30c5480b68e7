"""Commands that may answer a question, best first by what is known without a model and without running anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from coder.shell import actions, affinity, criteria, examples
from coder.shell.adapt import Candidate, adapt
from coder.shell.compose import compose
from coder.shell.expect import plausible, unasked
from coder.shell.features import inner_programs
from coder.shell.literals import Kind, Literal, literals
from coder.shell.syntax import Script, parse
from coder.shell.templates import templates

NEAREST = 60
_DESTRUCTION = re.compile(
    r"\b(?:remov|delet|eras|clean|purg|drop|wip|trunc|get rid|rm\b|prune|unlink|shred)", re.IGNORECASE
)
TRAITS = {  # of a candidate, and what each counts for beside the others; see `traits`
    "likeness": 1.0, "does": 1.0, "missed": -0.15, "kept": -0.1, "plausible": 0.3, "unasked": -0.3, "foreign": -0.2,
    "lacking": -0.3, "more": -0.15, "undone": -0.35, "overdone": -0.1, "astray": -0.3,
}  # fmt: skip
"""Tuned on the first file system of InterCode and on questions of NL2Bash that were set aside."""


@dataclass(frozen=True)
class Question:
    """`near`: the nearest worked examples, nearest first. `literals`: what the sentence names exactly."""

    sentence: str
    literals: tuple[Literal, ...]
    near: tuple[examples.Near, ...]
    judge: affinity.Judge
    criteria: tuple[criteria.Criterion, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """`worth`: the higher the likelier; comparable within one question only."""

    candidate: Candidate
    worth: float

    @property
    def command(self) -> str:
        return self.candidate.command


def understand(sentence: str, names: Collection[str], place: Path, index: examples.Index | None = None) -> Question:
    """`names`: of the files and folders that are there, so that the sentence may name them without quotes. `place`:
    the folder itself, which may be called by its last name. `index`: worked examples, if not those that ship."""
    index = index or examples.shipped()
    own = {place.name, f"{place.name}/"}
    found = tuple(
        replace(one, text=str(place)) if one.text in own and one.kind is not Kind.FILE else one
        for one in literals(sentence, {*names, place.name}, index.knows)
    )
    said = list(examples.combined(examples.terms(sentence, found)))
    near = tuple(index.nearest(sentence, found, NEAREST))
    return Question(sentence, found, near, affinity.shipped().judge(said), tuple(criteria.criteria(sentence, found)))


def propose(question: Question, possible: Callable[[str], bool], count: int) -> list[Proposal]:
    """At most `count`. `possible` says whether a command can run here at all."""
    wanted = bool(_DESTRUCTION.search(question.sentence))

    def fit(command: str) -> bool:
        return (wanted or not _destroys(command)) and possible(command)

    adapted = [one for near in question.near for one in adapt(near, question.literals)]
    adapted = [one for one in _unique(adapted) if fit(one.command)]
    adapted.sort(key=lambda one: -worth(question, one))
    composed = [one for one in _unique(compose(question.sentence, adapted, question.literals)) if possible(one.command)]
    nearest = max((near.likeness for near in question.near[:1]), default=0.0)
    own = [one for one in templates(question.sentence, question.literals, nearest) if fit(one.command)]
    every = (Proposal(one, worth(question, one)) for one in _unique(adapted + own) + composed)
    ranked = sorted(every, key=lambda one: -one.worth)
    return ranked[:count]


def worth(question: Question, candidate: Candidate) -> float:
    return sum(weight * trait for weight, trait in zip(TRAITS.values(), traits(question, candidate)))


def traits(question: Question, candidate: Candidate) -> tuple[float, ...]:
    """In the order of `TRAITS`."""
    sentence, command = question.sentence, candidate.command
    script = parse(command)
    lacking, more = criteria.differences(script, question.criteria)
    undone, overdone = actions.differences(sentence, command)
    return (
        candidate.likeness, question.judge.score(command), candidate.missed, candidate.kept,
        plausible(sentence, command), unasked(sentence, command), min(3, foreign(command, sentence)),
        lacking, more, undone, overdone, astray(script, question),
    )  # fmt: skip


def astray(script: Script, question: Question) -> int:
    """How many places and literals are not where they belong: files looked for where they are to go, or where nobody
    said; a name looked for in texts, a text looked for in names."""
    places = {one.text.rstrip("/") for one in question.literals if one.kind is Kind.PATH and not one.target}
    targets = {one.text.rstrip("/") for one in question.literals if one.kind is Kind.PATH and one.target}
    starts = {(one.words[0].value or "").rstrip("/") for one in script.commands if one.program == "find" and one.words}
    count = int(bool(places and starts & (targets - places)))
    own = {start for start in starts if re.match(r"[\w/~]|\.\.", start or "/")}
    count += any(start not in question.sentence for start in own) or (own == {""} and "/" not in places)
    for literal in question.literals:
        if literal.kind is not Kind.WORD or len(literal.text) < 2:
            continue
        name = criteria.name_of(question.sentence, literal)
        pattern = re.escape(literal.text)
        in_texts = re.search(rf"grep\b[^|]*[\s'\"]{pattern}['\"\s]", script.text) and "|" not in script.text
        in_names = re.search(rf"-i?name\s+\S*{pattern}", script.text)
        content = re.search(r"\bcontain\w*|\bstring|\bword|\btext", question.sentence[: literal.start])
        count += bool(in_texts if name is not None else in_names and content)
    return count


def foreign(command: str, sentence: str) -> int:
    """How many words of the command name something that the sentence does not: left over from an example."""
    said = sentence.casefold()
    words = {form for word in re.findall(r"[a-z]+", said) for form in (word, f"{word}s", word.removesuffix("s"))}
    script = parse(command)
    count = sum(name.casefold() not in said for name in script.variables if re.fullmatch(r"[A-Za-z_]\w+", name))
    for one in script.commands:
        if one.program in ("awk", "sed", "tr", "cut", "perl", "printf", "sort"):
            continue
        inner = {at for _, at in inner_programs(one)}
        for at, word in enumerate(one.words):
            text = word.value or ""
            if at in inner or text.startswith(("-", "{", "/dev/")) or word.text.startswith("$"):
                continue
            if text.strip("/").count("/") and not re.search(r"[\s*?|]", text):
                count += text.strip("/").casefold() not in said
                continue
            for name in re.findall(r"[A-Za-z]{3,}|(?<=\*\.)\w+", text):
                count += name.casefold() not in words and not (at and one.words[at - 1].text in ("-printf", "-I"))
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
