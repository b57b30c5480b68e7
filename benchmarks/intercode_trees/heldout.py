"""Questions of NL2Bash set aside, with an index of the rest: for tuning and for the reliability of confidences.

Their paths are put under one place, as InterCode did with the same source. What asks or says the same as a question
that was set aside is no example either.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Sequence

from coder.shell.examples import Example, Index, load
from coder.shell.features import inner_programs
from coder.shell.literals import Kind, literals
from coder.shell.safety import READERS, WRITERS
from coder.shell.syntax import ShellSyntaxError, parse

PLACE = "/testbed"


def set_aside(
    count: int, fit: Callable[[str], bool] = lambda command: True, seed: int = 0
) -> tuple[list[tuple[str, str]], Index]:
    """`count` pairs (question, reference command that is `fit`), and the index of all examples unlike them."""
    every = load()
    order = list(range(len(every)))
    random.Random(seed).shuffle(order)
    chosen: list[Example] = []
    pairs: list[tuple[str, str]] = []
    said: set[tuple[str, ...]] = set()
    for at in order:
        if len(pairs) == count:
            break
        pair = _placed(every[at])
        if pair is not None and every[at].terms not in said and fit(pair[1]):
            said.add(every[at].terms)
            chosen.append(every[at])
            pairs.append(pair)
    done = {_bare(one.command) for one in chosen}
    rest = [one for one in every if one.terms not in said and _bare(one.command) not in done]
    return pairs, Index(rest)


def _placed(example: Example) -> tuple[str, str] | None:
    """The pair about `PLACE`; None where it is about something else, or about more than one place."""
    sentence, command = example.sentence, example.command
    try:
        script = parse(command)
    except ShellSyntaxError:
        return None
    programs = [one.program for one in script.commands]
    programs += [name for one in script.commands for name, _ in inner_programs(one)]
    if not all(program in READERS | WRITERS for program in programs) or "$" in sentence:
        return None
    named = {one.text for one in literals(sentence) if one.kind is Kind.PATH and one.text != "."}
    if not named:
        return sentence, command
    if len(named) > 1 or (path := next(iter(named))) == "~" or path.rstrip("/") == "":
        return None
    spelled = re.escape(path.rstrip("/"))
    if not re.search(rf"(?<![\w/.]){spelled}(?![\w.-])", command):
        return None
    swap = re.compile(rf"(?<![\w/.]){spelled}/?(?![\w.-])")
    return tuple(swap.sub(lambda hit: PLACE + "/" * hit[0].endswith("/"), text) for text in (sentence, command))  # type: ignore[return-value]


def _bare(command: str) -> str:
    return re.sub(r"[\s\"'\\]", "", command)


def shares(results: Sequence[tuple[float, bool]], edges: Sequence[float]) -> list[tuple[str, int, float, float]]:
    """The reliability table of (confidence, right): range, number, mean confidence, share right."""
    rows = []
    for low, high in itertools.pairwise(edges):
        inside = [one for one in results if low <= one[0] < high or (high == edges[-1] and one[0] == high)]
        if inside:
            mean, right = sum(one[0] for one in inside) / len(inside), sum(one[1] for one in inside) / len(inside)
            rows.append((f"{low:.2f}-{high:.2f}", len(inside), mean, right))
    return rows
