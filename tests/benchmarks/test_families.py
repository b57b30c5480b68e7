"""Each family does to a function what its name says, and the list of families is the published one."""

from __future__ import annotations

import ast
from random import Random

import pytest

from benchmarks.injected.code import SourceFile, apply_changes
from benchmarks.injected.families import FAMILIES
from benchmarks.injected.inject import WRITERS, is_real_change, slots
from benchmarks.injected.larger import LARGER

TEXT = '''\
from shop import price, price_of, prices


class Basket:
    def __init__(self, items, limit=10):
        self.items = items
        self.limit = limit

    def total(self, count, rate):
        """The sum."""
        if count > 3 and rate is not None:
            count = min(count, self.limit)
        names = [item.name.strip() for item in self.items]
        shown = ", ".join(sorted(names, reverse=True))
        if not names or rate == 0:
            return {"total": 0, "names": shown, "done": False}
        return price_of(self.items, count=count) * rate + len(str(names)) - prices(count, rate)
'''
SOURCE = SourceFile(TEXT)


def bugs_of(family: str, tries: int = 40) -> set[str]:
    """Texts that the family makes of the example, over many seeds."""
    found = set()
    for seed in range(tries):
        changes = WRITERS[family](SOURCE, SOURCE.functions[-1], Random(seed))
        if changes and is_real_change(SOURCE, changes):
            found.add(apply_changes(TEXT, changes))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_applies_and_changes_one_statement(family):
    bugs = bugs_of(family)
    assert bugs
    before = TEXT.splitlines()
    for bug in bugs:
        assert sum(old != new for old, new in zip(before, bug.splitlines(), strict=True)) == 1


@pytest.mark.parametrize(
    "family, line",
    [
        ("change binary operator", "        if count >= 3 and rate is not None:"),
        ("more specific if", "        if count > 3:"),
        ("less specific if", "        if rate == 0:"),
        ("add method call", "        names = [item.name for item in self.items]"),
        ("same function, more arguments", "            count = min(self.limit)"),
        ("add function around expression", "+ len(names) - prices(count, rate)"),
        ("change boolean literal", '"done": True}'),
        ("add elements to iterable", '            return {"names": shown, "done": False}'),
        ("swap arguments", "            count = min(self.limit, count)"),
        ("change unary operator", "        if names or rate == 0:"),
        ("add attribute access", "        names = [item.name.strip() for item in self]"),
    ],
)
def test_family_makes_this_bug(family, line):
    assert any(line in bug for bug in bugs_of(family, 200))


def test_published_shares():
    assert len(FAMILIES) == 20
    assert sum(share for share, _ in FAMILIES.values()) == pytest.approx(100, abs=0.5)


@pytest.mark.parametrize("kind", LARGER)
def test_larger_bugs_cannot_be_one_small_slip(kind):
    bugs = bugs_of(kind)
    assert bugs
    if kind == "two places":
        for bug in bugs:
            assert sum(old != new for old, new in zip(TEXT.splitlines(), bug.splitlines(), strict=True)) == 2
    if kind == "deleted statement":
        assert all(len(ast.unparse(ast.parse(bug))) < len(ast.unparse(SOURCE.tree)) for bug in bugs)


def test_the_same_seed_makes_the_same_bug():
    function = SOURCE.functions[-1]
    for writer in WRITERS.values():
        assert writer(SOURCE, function, Random(7)) == writer(SOURCE, function, Random(7))


def test_slots_follow_the_shares():
    families = [family for _, family in slots("test", 120)]
    assert len(families) == 120
    singles = [family for family in families if family in FAMILIES]
    assert len(singles) == 79
    assert families.count("change identifier") == 13
    assert families.count("two places") == 14
    assert len(set(dict(slots("test", 120)))) == 120


def test_spans_count_characters_not_bytes():
    source = SourceFile('def f(a, b):\n    return "žluť" + a\n')
    changes = {WRITERS["change identifier"](source, source.functions[0], Random(seed)) for seed in range(9)}
    assert {apply_changes(source.text, change) for change in changes if change} == {source.text.replace("+ a", "+ b")}
