"""A typing trace: what is typed, where the cursor jumps, what is asked; and how it is played to a server."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import httpx
from pygls.exceptions import JsonRpcException

COLD, TYPING, READ, UNREAD = "cold", "typing on", "jump into read text", "jump into unread text"
KEYS = 14  # that are typed of a line; the rest of it is as if accepted
FAR = 120  # lines between a place that was read and one that was not


@dataclass(frozen=True)
class Open:
    name: str
    text: str


@dataclass(frozen=True)
class Insert:
    """Text comes into a document; with `key` a request follows at once, and `pause` seconds."""

    name: str
    line: int
    column: int
    text: str
    key: bool = False
    pause: float = 0.0


@dataclass(frozen=True)
class Ask:
    kind: str
    name: str
    line: int
    column: int


Step = Open | Insert | Ask


@dataclass
class _Document:
    """A document being typed into: what stands there, and the true lines that are still to come at `at`."""

    lines: list[str]
    coming: list[str]
    at: int

    def insert(self, name: str, line: int, column: int, text: str, **more: Any) -> Insert:
        old = self.lines[line]
        self.lines[line : line + 1] = (old[:column] + text + old[column:]).split("\n")
        return Insert(name, line, column, text, **more)


def trace(files: dict[str, str], requests: int, seed: int) -> list[Step]:
    """Rounds through the files: each types into a block that was taken out, key by key at 60 to 180 ms, then jumps
    into text that was not read, and back to what was (in turn another file of the last rounds, and lines above)."""
    draw = random.Random(seed)
    names, opened, steps, recent = list(files), {}, [], []
    asked = 0
    number = 0
    while asked < requests:
        name = names[number % len(names)]
        if name not in opened:
            lines = files[name].split("\n")
            start = draw.randrange(40, len(lines) // 2 - 40)
            opened[name] = _Document([*lines[:start], "", *lines[start + 40 :]], lines[start : start + 40], start)
            steps.append(Open(name, "\n".join(opened[name].lines)))
            steps.append(Ask(COLD, name, start, 0))
        file = opened[name]
        while file.coming and not file.coming[0].strip() and not file.lines[file.at]:
            file.coming.pop(0)
            steps.append(file.insert(name, file.at, 0, "\n"))
            file.at += 1
        line = file.coming.pop(0) if file.coming else "pass"
        begun = len(line) - len(line.lstrip())
        stands = len(file.lines[file.at])
        steps.append(file.insert(name, file.at, stands, line[stands:begun]))
        for column, letter in enumerate(line[begun : begun + KEYS], begun):
            steps.append(file.insert(name, file.at, column, letter, key=True, pause=draw.uniform(0.06, 0.18)))
            asked += 1
        steps.append(file.insert(name, file.at, min(len(line), begun + KEYS), line[begun + KEYS :] + "\n"))
        file.at += 1
        far = [at for at in range(20, len(file.lines) - 1) if abs(at - file.at) > FAR and file.lines[at].strip()]
        steps += _new_line(file, name, draw.choice(far), UNREAD) if far else []
        if number % 2 and recent:
            back = draw.choice(recent[-3:])
            steps += _at_work(opened[back], back)
        else:
            above = next(at for at in range(file.at - 8, 0, -1) if file.lines[at].strip())
            steps += _new_line(file, name, above, READ)
        asked += 2
        recent = [one for one in recent if one != name] + [name]
        number += 1
    return steps


def _at_work(file: _Document, name: str) -> list[Step]:
    """The cursor goes to where the file is being typed into, indented as what comes is."""
    line = file.coming[0] if file.coming else ""
    indentation = line[: len(line) - len(line.lstrip())]
    stands = len(file.lines[file.at])
    insert = file.insert(name, file.at, stands, indentation[stands:])
    return [insert, Ask(READ, name, file.at, len(file.lines[file.at]))]


def _new_line(file: _Document, name: str, line: int, kind: str) -> list[Step]:
    """A line is opened below `line`, as indented as that is, and something is asked there."""
    text = file.lines[line]
    indentation = text[: len(text) - len(text.lstrip())]
    file.at += line < file.at
    return [file.insert(name, line, len(text), "\n" + indentation), Ask(kind, name, line + 1, len(indentation))]


@dataclass(frozen=True)
class Answer:
    """`outcome` where the server tells it: hit, joined, miss …; "cancelled" where it was. `seconds` from sending on."""

    phase: str
    kind: str
    outcome: str
    seconds: float
    text: str = ""


class Subject(Protocol):
    """A server under test."""

    def phase(self) -> str: ...

    def open(self, name: str, text: str) -> None: ...

    def insert(self, step: Insert) -> None: ...

    def cancel(self) -> None: ...

    async def ask(self, name: str, line: int, column: int) -> tuple[str, str]:
        """The text and the outcome."""
        ...


async def play(subject: Subject, steps: Sequence[Step]) -> list[Answer]:
    """Plays a trace; a key cancels the request of the key before it."""
    answers: list[Answer] = []
    running: asyncio.Task[None] | None = None

    async def ask(kind: str, name: str, line: int, column: int) -> None:
        phase, begun = subject.phase(), time.perf_counter()
        try:
            text, outcome = await subject.ask(name, line, column)
        except (JsonRpcException, asyncio.CancelledError, httpx.HTTPError):
            text, outcome = "", "cancelled"
        answers.append(Answer(phase, kind, outcome, time.perf_counter() - begun, text))

    for step in steps:
        key = isinstance(step, Insert) and step.key
        if running is not None and not key:
            await running
            running = None
        if isinstance(step, Open):
            subject.open(step.name, step.text)
        elif isinstance(step, Ask):
            await ask(step.kind, step.name, step.line, step.column)
        else:
            if key and running is not None and not running.done():
                subject.cancel()
            subject.insert(step)
            if key:
                running = asyncio.ensure_future(ask(TYPING, step.name, step.line, step.column + 1))
                await asyncio.sleep(step.pause)
    if running is not None:
        await running
    return answers
