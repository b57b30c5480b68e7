"""From a worked example and a question to commands: the example's literals are slots, the question's own fill them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from coder.shell.examples import Example, Near
from coder.shell.literals import Kind, Literal, literals
from coder.shell.syntax import Script, ShellSyntaxError, Word, parse

CROSSED = 0.3  # likeness lost where what something goes to stands for what it comes from
_ORDERS = 3  # assignments tried for one template
_FITS: dict[Kind, tuple[Kind, ...]] = {  # what may stand in a slot, in order of preference
    Kind.PATH: (Kind.PATH, Kind.FILE),
    Kind.FILE: (Kind.FILE, Kind.PATH, Kind.GLOB, Kind.EXTENSION),
    Kind.EXTENSION: (Kind.EXTENSION, Kind.GLOB, Kind.FILE),
    Kind.GLOB: (Kind.GLOB, Kind.EXTENSION, Kind.FILE),
    Kind.SIZE: (Kind.SIZE,),
    Kind.MODE: (Kind.MODE,),
    Kind.NUMBER: (Kind.NUMBER,),
    Kind.WORD: (Kind.WORD, Kind.FILE),
}
_ROAMERS = ("find", "du", "grep", "egrep", "fgrep", "ls", "tree")


@dataclass(frozen=True)
class Candidate:
    """A command for the question. `missed` of the question's literals do not occur in it, `kept` of the example's
    still do: both speak against it."""

    command: str
    likeness: float
    missed: int
    kept: int
    source: Example


@dataclass(frozen=True)
class _Slot:
    """A literal of the example and where the command spells it. `whole`: it spells an extension as `*.c`."""

    kind: Kind
    text: str
    places: tuple[tuple[int, int], ...]
    whole: bool = False
    target: bool = False


def adapt(near: Near, asked: Sequence[Literal]) -> Iterator[Candidate]:
    """The example's command with the question's literals, the likeliest assignment first. May be empty."""
    example = near.example
    try:
        script = parse(example.command)
    except ShellSyntaxError:
        return
    slots = _slots(example, script)
    seen = set()
    for rank, order in enumerate(_assignments(slots, asked)):
        crossed = rank > 0 and any(one is not None and one.target != slot.target for slot, one in zip(slots, order))
        filled, used = _fill(example.command, slots, order)
        kept = sum(1 for slot, literal in zip(slots, order) if literal is None and slot.kind is not Kind.PATH)
        unused = [literal for literal in asked if literal not in used and literal.text not in filled]
        for command, rest in _complete(filled, unused):
            if command not in seen:
                seen.add(command)
                yield Candidate(command, near.likeness - (CROSSED if crossed else 0.0), len(rest), kept, example)


def filled(example: Example, asked: Sequence[Literal]) -> Iterator[str]:
    """The example's command with all of its slots filled, the likeliest assignment first; none where one stays empty,
    other than "here". Sources and targets keep their roles."""
    slots = _slots(example, parse(example.command))
    for rank, order in enumerate(_assignments(slots, asked)):
        pairs = list(zip(slots, order))
        whole = all(one is not None or slot.text in (".", "./") for slot, one in pairs)
        crossed = rank > 0 and any(one is not None and one.target != slot.target for slot, one in pairs)
        if whole and not crossed:
            yield _fill(example.command, slots, order)[0]


def _slots(example: Example, script: Script) -> list[_Slot]:
    words = [word for command in script.commands for word in command.words]
    words += [redirect.target for redirect in script.redirects]
    names = {word.value for word in words if word.value and re.fullmatch(r"[\w.-]*[a-zA-Z][\w.-]*", word.value)}
    found = [one for one in literals(example.sentence, names) if one.text]
    slots: list[_Slot] = []
    taken: set[tuple[int, int]] = set()
    for literal in sorted(found, key=lambda one: -len(one.text)):
        if any(slot.text == literal.text and slot.kind is literal.kind for slot in slots):
            continue
        whole = False
        places: list[tuple[int, int]] = []
        if literal.kind is Kind.EXTENSION:
            places = _places(words, rf"\*\.{re.escape(literal.text)}(?!\w)", taken)
            whole = bool(places)
        places = places or _places(words, _spelling(literal), taken)
        if places:
            taken.update(places)
            slots.append(_Slot(literal.kind, literal.text, tuple(places), whole, literal.target))
    order = {literal.text: literal.start for literal in reversed(found)}
    return sorted(slots, key=lambda slot: order[slot.text])


def _spelling(literal: Literal) -> str:
    text = re.escape(literal.text.strip("\"'"))
    if literal.kind in (Kind.NUMBER, Kind.MODE):
        return rf"(?<![\w.]){text}(?![\w.])|(?<=-){text}$|(?<=[+-]){text}(?!\d)|(?<=-[a-zA-Z]){text}$"
    if literal.kind is Kind.SIZE:
        number, unit = text[:-1], text[-1]
        return rf"{number}[{unit}{unit.swapcase()}]" if unit != "c" else rf"(?<!\d){number}c?(?!\d)"
    if literal.kind is Kind.EXTENSION:
        return rf"(?<=\.){text}(?!\w)"
    if literal.text == ".":
        return r"^\./?$"
    if literal.kind is Kind.PATH:
        return rf"(?<![\w/]){text.rstrip('/')}(?![\w-]|/\w)"
    return rf"(?<![A-Za-z0-9]){text}(?![A-Za-z0-9])"


def _places(words: Sequence[Word], pattern: str, taken: set[tuple[int, int]]) -> list[tuple[int, int]]:
    places = []
    for word in words:
        for match in re.finditer(pattern, word.text):
            place = word.start + match.start(), word.start + match.end()
            known = place in places  # a word inside another one, as in <(sort a)
            if not known and not any(place[0] < end and start < place[1] for start, end in taken):
                places.append(place)
    return places


def _assignments(slots: Sequence[_Slot], asked: Sequence[Literal]) -> Iterator[list[Literal | None]]:
    """Literals for the slots, in the order of both sentences; then with those of one kind exchanged."""
    first = _assign(slots, asked)
    yield first
    at = [index for index, literal in enumerate(first) if literal is not None]
    seen = 1
    for order in permutations(at):
        if seen >= _ORDERS:
            return
        exchanged = list(first)
        for here, there in zip(at, order):
            exchanged[here] = first[there]
        fits = all(one is None or one.kind in _FITS[slot.kind] for slot, one in zip(slots, exchanged))
        if fits and exchanged != first:
            seen += 1
            yield exchanged


def _assign(slots: Sequence[_Slot], asked: Sequence[Literal]) -> list[Literal | None]:
    chosen: list[Literal | None] = [None] * len(slots)
    free = list({(literal.kind, literal.text): literal for literal in reversed(asked)}.values())[::-1]
    for rank in range(4):
        for at, slot in enumerate(slots):
            if chosen[at] is None and rank < len(_FITS[slot.kind]):
                fitting = [one for one in free if one.kind is _FITS[slot.kind][rank]]
                if slot.target:  # a pattern is not where something goes
                    fitting = [one for one in fitting if one.kind not in (Kind.GLOB, Kind.EXTENSION)]
                fitting.sort(key=lambda one: one.target != slot.target)
                chosen[at] = fitting[0] if fitting else None
                if (literal := chosen[at]) is not None:
                    free.remove(literal)
    return chosen


def _fill(command: str, slots: Sequence[_Slot], chosen: Sequence[Literal | None]) -> tuple[str, list[Literal]]:
    changes: list[tuple[int, int, str]] = []
    used = []
    for slot, literal in zip(slots, chosen):
        if literal is None:
            if slot.kind is Kind.PATH and slot.text not in (".", "~"):
                changes += [(*place, ".") for place in slot.places if place[0] and command[place[0] - 1] in " '\""]
            continue
        used.append(literal)
        for start, end in slot.places:
            changes.append((start, end, _written(literal, slot, command[start:end])))
    for start, end, text in sorted(changes, reverse=True):
        if start and not _is_quoted(command, start) and re.search(r"[*?\s()$&;|<>]", text) and text[0] != "$":
            left, right = _word_around(command, start, end)
            if (left, right) == (start, end):
                text = "'" + text.replace("'", "'\\''") + "'" if not text.startswith("/") else text
        command = command[:start] + text + command[end:]
    return command, used


def _written(literal: Literal, slot: _Slot, before: str) -> str:
    text = literal.text
    if slot.kind is Kind.EXTENSION and slot.whole:
        return f"*.{text}" if literal.kind is Kind.EXTENSION else text
    if literal.kind is Kind.EXTENSION and slot.kind in (Kind.GLOB, Kind.FILE):
        return f"*.{text}"
    if slot.kind is Kind.SIZE and before[-1:].isalpha() is False:
        return text.rstrip("c")
    if slot.kind is Kind.PATH and before.endswith("/") and not text.endswith("/"):
        return text + "/"
    return text


def _is_quoted(command: str, at: int) -> bool:
    """Whether the place lies between quotes: an odd number of one kind before it."""
    before = command[:at].replace("\\'", "").replace('\\"', "")
    return before.count("'") % 2 == 1 or before.count('"') % 2 == 1


def _word_around(command: str, start: int, end: int) -> tuple[int, int]:
    while start and not command[start - 1].isspace():
        start -= 1
    while end < len(command) and not command[end].isspace():
        end += 1
    return start, end


def _complete(command: str, unused: Sequence[Literal]) -> Iterator[tuple[str, list[Literal]]]:
    """The command, and forms of it that also say what the question names and the example did not."""
    rest = list(unused)
    places = sorted((one for one in rest if one.kind is Kind.PATH), key=lambda one: one.target)
    if (path := next(iter(places), None)) is not None:
        placed = _place_path(command, path.text)
        if placed is not None:
            command = placed
            rest.remove(path)
    named = next((one for one in rest if one.kind in (Kind.EXTENSION, Kind.GLOB)), None)
    if named is not None and (placed := _restrict(command, named)) is not None:
        rest.remove(named)
        yield placed, rest
        return
    yield command, rest


def _place_path(command: str, path: str) -> str | None:
    """The path where the command says "here", or nothing, or a place of the example's own."""
    try:
        script = parse(command)
    except ShellSyntaxError:
        return None
    for one in script.commands:
        if one.program == "find":
            starts = []
            for word in one.words:
                if word.text[0] in "-(!\\" or word.value in ("(", "!"):
                    break
                starts.append(word)
            if not starts:
                return f"{command[: one.start + 4]} {path}{command[one.start + 4 :]}"
            return command[: starts[0].start] + path + command[starts[-1].end :]
    for one in script.commands:
        for word in one.words:
            if word.value in (".", "./", "*", "./*", "~") or (word.value or "").startswith("/path"):
                star = "/*" if (word.value or "").endswith("*") and one.program not in _ROAMERS else ""
                return command[: word.start] + path.rstrip("/") + star + command[word.end :]
    for one in script.commands:
        for word in one.words:
            if re.fullmatch(r"\*[\w.*-]*", word.text):
                return command[: word.start] + path.rstrip("/") + "/" + command[word.start :]
    for one in script.commands:
        if one.program in ("ls", "du") and all(word.text.startswith("-") for word in one.words):
            end = one.words[-1].end if one.words else one.start + len(one.program)
            return f"{command[:end]} {path}{command[end:]}"
    return None


def _restrict(command: str, named: Literal) -> str | None:
    """`find` looks only for names of this pattern."""
    pattern = f"'*.{named.text}'" if named.kind is Kind.EXTENSION else f"'{named.text}'"
    try:
        script = parse(command)
    except ShellSyntaxError:
        return None
    for one in script.commands:
        if one.program == "find":
            if any(word.value in ("-name", "-iname") for word in one.words):
                return None
            at = one.start + 4
            for word in one.words:
                if word.text[0] in "-(!\\":
                    break
                at = word.end
            return f"{command[:at]} -name {pattern}{command[at:]}"
    return None
