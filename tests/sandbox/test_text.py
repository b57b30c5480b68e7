from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.text import clean, visible


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ttext\nand ünïcode 漢字 👍\n", "plain\ttext\nand ünïcode 漢字 👍\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]52;c;cm0gLXJm\x1b\\after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x9b2Jafter", "after"),
        ("\x1b(0after\x1bc", "after"),
        ("over\rwritten", "overwritten"),
        ("windows\r\n", "windows\n"),
        ("back\x08\x08\x7f", "back"),
        ("nul\x00 bell\x07", "nul bell"),
        ("if admin\u202e \u2066# not", "if admin # not"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("cut \x1b[31", "cut "),
        ("cut \x1b]0;title", "cut "),
    ],
)
def test_leaves_only_what_can_be_shown(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_bytes_that_are_no_text_are_marked() -> None:
    assert clean(b"caf\xc3\xa9 \xff\x1b[1m") == "café \ufffd"


@settings(deadline=None)
@given(st.one_of(st.text(), st.binary()))
def test_no_control_character_is_left(raw: str | bytes) -> None:
    assert all(letter in "\t\n" or unicodedata.category(letter) != "Cc" for letter in clean(raw))


@settings(deadline=None)
@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs"]) | st.sampled_from("\t\n")))
def test_text_without_any_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ttext\nand ünïcode 漢字 👍\n", "plain\ttext\nand ünïcode 漢字 👍\n"),
        ("a = 1  # \x1b]0;\nb = 2\n", "a = 1  # \\x1b]0;\nb = 2\n"),
        ("over\rwritten", "over\\rwritten"),
        ("windows\r\n", "windows\n"),
        ("if admin\u202e \u2066# not", "if admin\\u202e \\u2066# not"),
        (b"\xc2\x9b2J \xff", "\\x9b2J \ufffd"),
    ],
)
def test_what_is_to_be_judged_hides_nothing(raw: str | bytes, shown: str) -> None:
    assert visible(raw) == shown


@settings(deadline=None)
@given(st.text())
def test_what_was_written_out_needs_no_cleaning(raw: str) -> None:
    assert clean(visible(raw)) == visible(raw)
