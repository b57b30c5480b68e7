"""Code swap and re-collection must say what a cold run says, whatever kind of code the candidate changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from sandbox.testing.report import Outcome, Trial, Way
from sandbox.testing.session import TestSession

SHAPES = '''
from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass, field

LIMIT = 3
TABLE = {n: n * n for n in range(LIMIT)}


def scale(value, factor=2):
    """Doctest-free."""
    return value * factor


def make_squares(count):
    return [n * n for n in range(count)]


SQUARES = make_squares(4)


def loud(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments) + "!"

    return wrapper


@loud
def greet(name):
    return "hi " + name


class Box:
    kind = "box"
    count: int = 0

    def __init__(self, items):
        self.items = list(items)

    @property
    def size(self):
        return len(self.items)

    @staticmethod
    def label(text):
        return f"<{text}>"

    @classmethod
    def empty(cls):
        return cls([])

    def __len__(self):
        return self.size


class Crate(Box):
    def label_all(self):
        return [super(Crate, self).label(item) for item in self.items]

    def __len__(self):
        return super().__len__() + 1


@dataclass
class Point:
    x: int
    y: int = 0
    tags: list = field(default_factory=list)

    def norm(self):
        return abs(self.x) + abs(self.y)


def counter(start):
    count = start

    def step(by=1):
        nonlocal count
        count += by
        return count

    return step


tick = counter(10)


def evens(limit):
    for number in range(limit):
        if number % 2 == 0:
            yield number


def tickets():
    number = 0
    while True:
        number += 1
        yield number


TICKETS = tickets()


async def later(value):
    await asyncio.sleep(0)
    return value + 1


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


double = lambda value: value * 2  # noqa: E731


def sort_key(pairs):
    return sorted(pairs, key=lambda pair: pair[1])


def quoted(words):
    return ", ".join("<" + word for word in words)
'''
OTHER = """
from pkg.shapes import LIMIT, scale

MARGIN = LIMIT + 1


def lazy(value):
    from pkg import late

    return late.half(value)


def scaled(value):
    return scale(value) + MARGIN
"""
LATE = """
def half(value):
    return value // 2
"""
TESTS = """
import asyncio
import subprocess
import sys
import unittest

import pytest

from pkg import other, shapes
from pkg.shapes import LIMIT, SQUARES, TICKETS, Box, Crate, Point, counter, double, evens, fib, greet, later
from pkg.shapes import scale, sort_key, tick


def test_scale(): assert scale(3) == 6
def test_quoted(): assert shapes.quoted("ab") == "<a, <b"
def test_scale_factor(): assert scale(3, 3) == 9
def test_limit(): assert LIMIT == 3
def test_table(): assert shapes.TABLE == {0: 0, 1: 1, 2: 4}
def test_squares(): assert SQUARES == [0, 1, 4, 9]
def test_make_squares(): assert shapes.make_squares(2) == [0, 1]
def test_greet(): assert greet("ann") == "hi ann!"
def test_box(): assert (Box("abc").size, len(Box("ab")), Box.label("x"), Box.empty().items) == (3, 2, "<x>", [])
def test_kind(): assert Box.kind == "box"
def test_crate(): assert (Crate("ab").label_all(), len(Crate("ab"))) == (["<a>", "<b>"], 3)
def test_point(): assert Point(3, -4).norm() == 7
def test_point_default(): assert Point(3).y == 0
def test_counter():
    step = counter(1)
    assert (step(), step(2)) == (2, 4)
def test_tick(): assert tick() == 11
def test_evens(): assert list(evens(5)) == [0, 2, 4]
def test_tickets(): assert [next(TICKETS), next(TICKETS)] == [1, 2]
def test_later(): assert asyncio.run(later(1)) == 2
def test_fib(): assert fib(10) == 55
def test_double(): assert double(4) == 8
def test_sort_key(): assert sort_key([(1, 2), (2, 1)]) == [(2, 1), (1, 2)]
def test_lazy(): assert other.lazy(4) == 2
def test_scaled(): assert other.scaled(1) == 6
def test_elsewhere():
    code = "from pkg.shapes import scale; print(scale(4))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "8\\n"
@pytest.mark.parametrize("n", shapes.make_squares(3))
def test_param(n): assert n in (0, 1, 4)
class TestOld(unittest.TestCase):
    def test_unit(self):
        self.assertEqual(scale(1), 2)
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/shapes.py": SHAPES,
    "pkg/other.py": OTHER,
    "pkg/late.py": LATE,
    "tests/test_shapes.py": TESTS,
}


@dataclass(frozen=True)
class Change:
    name: str
    old: str
    new: str
    way: Way
    path: str = "pkg/shapes.py"
    spoils: bool = True


SWAP, RECOLLECT = Way.SWAP, Way.RECOLLECT
CHANGES = [
    Change("body", "return value * factor", "return value + factor", SWAP),
    Change("body, same meaning",
           "return value * factor", "result = factor * value\n    return result", SWAP, spoils=False),
    Change("constant of the module", "LIMIT = 3", "LIMIT = 4", RECOLLECT),
    Change("default argument", "factor=2", "factor=3", RECOLLECT),
    Change("function that ran at import", "n * n for n in range(count)", "n + n for n in range(count)", RECOLLECT),
    Change("decorator's wrapper", '+ "!"', '+ "?"', SWAP),
    Change("decorator's own body", "return wrapper", "return function", RECOLLECT),
    Change("decorator taken away", "@loud\ndef greet", "def greet", RECOLLECT),
    Change("decorated function", '"hi " + name', '"hi " + name[1:]', SWAP),
    Change("class attribute", 'kind = "box"', 'kind = "bag"', RECOLLECT),
    Change("method", "list(items)", "list(items)[1:]", SWAP),
    Change("property", "return len(self.items)", "return len(self.items) + 1", SWAP),
    Change("static method", 'f"<{text}>"', 'f"[{text}]"', SWAP),
    Change("class method", "return cls([])", "return cls([1])", SWAP),
    Change("method with super", "super().__len__() + 1", "super().__len__() + 2", SWAP),
    Change("method that no longer needs super", "return super().__len__() + 1", "return 3", RECOLLECT, spoils=False),
    Change("method of a dataclass", "abs(self.x) + abs(self.y)", "self.x + self.y", SWAP),
    Change("field of a dataclass", "y: int = 0", "y: int = 1", RECOLLECT),
    Change("closure", "count += by", "count += by + 1", SWAP),
    Change("closure, its maker", "count = start\n", "count = start + 1\n", RECOLLECT),
    Change("generator", "number % 2 == 0", "number % 2 == 1", SWAP),
    Change("generator made a function", "== 0:\n            yield number", "== 0:\n            return [number]", SWAP),
    Change("generator that was made at import", "number += 1", "number += 2", RECOLLECT),
    Change("coroutine", "return value + 1", "return value + 2", SWAP),
    Change("cached function", "fib(n - 1) + fib(n - 2)", "fib(n - 1) + fib(n - 1)", SWAP),
    Change("lambda of the module", "lambda value: value * 2", "lambda value: value * 3", SWAP),
    Change("lambda inside", "pair[1]", "pair[0]", SWAP),
    Change("generator expression inside", '"<" + word', '">" + word', SWAP),
    Change("name that does not exist", "return value * factor", "return value * faktor", SWAP),
    Change("new import in the body",
           "return value * factor", "import operator\n    return operator.mul(value, factor)", SWAP, spoils=False),
    Change("new import on top", "import asyncio\n", "import asyncio\nimport math\n", RECOLLECT, spoils=False),
    Change("new function",
           "def make_squares", "def extra():\n    return 1\n\n\ndef make_squares", RECOLLECT, spoils=False),
    Change("docstring", "Doctest-free.", "Free of doctests.", RECOLLECT, spoils=False),
    Change("longer body above others",
           "return value * factor", "if not value:\n        return 0\n    return value * factor", SWAP, spoils=False),
    Change("error at import", "LIMIT = 3", "LIMIT = 3 / 0", RECOLLECT),
    Change("constant used elsewhere", "MARGIN = LIMIT + 1", "MARGIN = LIMIT", RECOLLECT, "pkg/other.py"),
    Change("imported late", "value // 2", "value // 3", RECOLLECT, "pkg/late.py"),
]  # fmt: skip


@pytest.fixture(scope="module")
def session(open_session: Callable[..., TestSession]) -> Iterator[TestSession]:
    session = open_session(FILES)
    baseline = session.baseline()
    assert len(baseline.passing) == len(baseline.tests) == 28
    yield session


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_every_way_says_the_same(session: TestSession, change: Change) -> None:
    text = FILES[change.path].lstrip("\n")
    assert text.count(change.old) == 1
    files = {change.path: text.replace(change.old, change.new)}
    nodes = session.known.tests
    cold = session.trial_cold(files, nodes)
    chosen = session.trial(files, nodes)
    again = session.trial_recollected(files, nodes)

    assert chosen.way is change.way
    assert cold.passed is not change.spoils
    assert _said(chosen) == _said(again) == _said(cold)


STALE = (
    "function that ran at import",
    "decorator's own body",
    "closure, its maker",
    "generator that was made at import",
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_in_haste_only_functions_that_ran_before_are_judged_otherwise(session: TestSession, change: Change) -> None:
    files = {change.path: FILES[change.path].lstrip("\n").replace(change.old, change.new)}
    nodes = session.known.tests
    hasty = session.trial(files, nodes, hasty=True)
    assert hasty.stale is (change.name in STALE)
    if hasty.stale:
        assert hasty.way is SWAP
    else:
        assert hasty.way is change.way and _said(hasty) == _said(session.trial(files, nodes))


def test_syntax_error_needs_no_run(session: TestSession) -> None:
    trial = session.trial({"pkg/shapes.py": SHAPES.replace("value * factor", "value * (factor")}, session.known.tests)
    assert not trial.passed
    assert trial.error == "SyntaxError"
    assert trial.outcomes == {}


def test_tree_is_pristine_after_each_trial(session: TestSession) -> None:
    spoilt = {"pkg/shapes.py": SHAPES.lstrip("\n").replace("value * factor", "value + factor")}
    assert not session.trial(spoilt, session.known.tests).passed
    assert session.trial({}, session.known.tests).passed


def test_new_file_and_two_files_at_once(session: TestSession) -> None:
    other = OTHER.lstrip("\n").replace("MARGIN = LIMIT + 1", "from pkg.extra import MARGIN")
    trial = session.trial({"pkg/other.py": other, "pkg/extra.py": "MARGIN = 4\n"}, session.known.tests)
    assert trial.passed
    assert trial.way is Way.RECOLLECT
    both = {
        "pkg/other.py": OTHER.lstrip("\n").replace("scale(value) +", "scale(value) * 2 +"),
        "pkg/shapes.py": SHAPES.lstrip("\n").replace("value * factor", "value * factor // 2"),
    }
    trial = session.trial(both, ["tests/test_shapes.py::test_scaled"])
    assert trial.passed
    assert trial.way is Way.SWAP


def _said(trial: Trial) -> tuple[bool, str, dict[str, Outcome], str]:
    return trial.passed, trial.failed_at, dict(trial.outcomes), trial.error
