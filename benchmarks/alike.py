"""Whether two versions of a function behave alike on the inputs of its tests and on mutations of them."""

from __future__ import annotations

import copy
import multiprocessing
import random
import signal
from collections.abc import Callable
from typing import Any

MUTATIONS = 200
INPUT_LIMIT_S = 1.0
WHOLE_LIMIT_S = 120.0


def alike(first: str, reference: str, test: str, entry: str, seed: int) -> str:
    """Runs both modules (source text) in a child process on the inputs that `test` gives to `entry` and on seeded
    mutations of them. Returns "" when they agree wherever the reference returns, else one input where they differ."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_compare, args=(sender, first, reference, test, entry, seed))
    child.start()
    sender.close()
    answer = receiver.recv() if receiver.poll(WHOLE_LIMIT_S) else "no answer in time"
    child.kill()
    child.join()
    return answer


def _compare(sender: Any, first: str, reference: str, test: str, entry: str, seed: int) -> None:
    try:
        sender.send(_difference(first, reference, test, entry, seed))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")


def _difference(first: str, reference: str, test: str, entry: str, seed: int) -> str:
    ours, theirs = _module(first)[entry], _module(reference)[entry]
    inputs = _recorded(reference, test, entry)
    if not inputs:
        return "the test gave no inputs"
    generator = random.Random(seed)
    mutated = [_mutated(generator.choice(inputs), generator) for _ in range(MUTATIONS)]
    for arguments in [*inputs, *mutated]:
        expected = _outcome(theirs, arguments)
        if expected[0] != "returned":
            continue
        found = _outcome(ours, arguments)
        if found[0] != "returned" or not _same(found[1], expected[1]):
            return f"{entry}{arguments!r:.120} gives {found[1]!r:.60}, not {expected[1]!r:.60}"
    return ""


def _module(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "solution"}
    exec(compile(text, "solution.py", "exec"), names)
    return names


def _recorded(reference: str, test: str, entry: str) -> list[tuple[Any, ...]]:
    names = _module(reference)
    function = names[entry]
    inputs: list[tuple[Any, ...]] = []

    def record(*arguments: Any) -> Any:
        if len(inputs) < 400:
            inputs.append(copy.deepcopy(arguments))
        return function(*arguments)

    names[entry] = record
    exec(compile(test, "test.py", "exec"), names)
    return inputs


def _outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    def late(signum: int, frame: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, INPUT_LIMIT_S)
    try:
        return "returned", function(*copy.deepcopy(arguments))
    except Exception as error:
        return "raised", type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b)) or (a != a and b != b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _mutated(value: Any, generator: random.Random) -> Any:
    """A value of the same type, changed a little at one or two places."""
    if isinstance(value, tuple):
        items = list(value)
        for _ in range(generator.choice((1, 1, 2))):
            if items:
                index = generator.randrange(len(items))
                items[index] = _mutated(items[index], generator)
        return tuple(items)
    if isinstance(value, bool):
        return generator.random() < 0.5
    if isinstance(value, int):
        return generator.choice((value + 1, value - 1, value * 2, value // 2, generator.randint(0, 30), value + 10))
    if isinstance(value, float):
        return generator.choice((value + 1, value - 0.5, value * 1.5, round(generator.uniform(-10, 30), 2)))
    if isinstance(value, str):
        return _mutated_text(value, generator)
    if isinstance(value, list):
        return _mutated_list(value, generator)
    if isinstance(value, dict) and value:
        changed = dict(value)
        key = generator.choice(list(changed))
        changed[key] = _mutated(changed[key], generator)
        return changed
    return value


def _mutated_text(value: str, generator: random.Random) -> str:
    letters = value or "ab1"
    place = generator.randrange(len(value) + 1)
    kind = generator.randrange(5)
    if kind == 0:
        return value[:place] + generator.choice(letters) + value[place:]
    if kind == 1:
        return value[:place] + value[place + 1 :]
    if kind == 2:
        return value.swapcase()
    if kind == 3:
        shuffled = list(value)
        generator.shuffle(shuffled)
        return "".join(shuffled)
    return value[:place] + value[place + 1 :][::-1] + value[place : place + 1]


def _mutated_list(value: list[Any], generator: random.Random) -> list[Any]:
    items = list(value)
    kind = generator.randrange(5)
    if kind == 0 and items:
        del items[generator.randrange(len(items))]
    elif kind == 1 and items:
        items.insert(generator.randrange(len(items) + 1), copy.deepcopy(generator.choice(items)))
    elif kind == 2:
        generator.shuffle(items)
    elif items:
        index = generator.randrange(len(items))
        items[index] = _mutated(items[index], generator)
    return items
