from __future__ import annotations

import pytest
import torch

from model.decoding.near import Beam, copies, moved, near
from model.repository_cache import RepositoryCache
from model.weights import catalogue

OLD = [10, 11, 12, 13]


def test_the_pointer_follows_what_is_copied() -> None:
    assert max(copies(OLD, frozenset((0,))).items(), key=lambda one: one[1])[0] == 10
    assert moved(OLD, frozenset((0,)), 10) == {1}
    assert moved(OLD, frozenset((1,)), 13) == {4}, "two were left out"
    assert copies(OLD, frozenset((4,))) == {}


def test_a_new_token_may_stand_for_old_ones_or_between_them() -> None:
    places = moved(OLD, frozenset((1,)), 99)
    assert places == {1, 2, 3}
    assert {11, 12, 13} <= set(copies(OLD, places))
    assert sum(copies(OLD, places).values()) <= 1


@pytest.fixture(scope="module")
def trunk():
    torch.set_num_threads(1)
    return catalogue.load("smollm2", "fp32")


BEFORE = (
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
    "        self.items.append(item)\n\n    def pop(self):\n"
    "        if not self.items:\n            return None\n        "
)


def test_two_slips_on_a_line_are_undone(trunk) -> None:
    """No single change of a name makes `return self.items.pop()` of it."""
    texts = [one.text for one in near(*trunk, BEFORE, "return item.push()")]
    assert "return self.items.pop()" in texts[:8]
    assert len(texts) == len(set(texts)) and not any("\n" in text for text in texts)


def test_a_line_is_written_where_none_stands(trunk) -> None:
    texts = [one.text for one in near(*trunk, BEFORE, None, beam=Beam(width=8))]
    assert "return self.items.pop()" in texts


def test_the_repository_knows_names_that_the_model_does_not(trunk) -> None:
    model, tokenizer = trunk
    before, line = "def test(frob):\n    ", "frob.qux_zill(frob.warble)"
    cache = RepositoryCache()
    cache.add("a.py", tokenizer.encode(f"def other(frob):\n    {line}\n"))
    beam = Beam(width=8)
    known = [one.text for one in near(model, tokenizer, before, "frob.x()", cache=cache, beam=beam)]
    alone = [one.text for one in near(model, tokenizer, before, "frob.x()", beam=beam)]
    assert line in known and line not in alone


def test_cancelled_there_is_nothing(trunk) -> None:
    assert near(*trunk, BEFORE, "return 1", cancel=lambda: True) == []
