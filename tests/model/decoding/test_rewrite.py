from __future__ import annotations

from dataclasses import replace

import pytest

from model.decoding.healing import Speller, cut_back
from model.decoding.rewrite import rewrite
from model.llama import LlamaModel
from model.tokenizer import BytePairTokenizer
from tests.model.tiny_llama import CONFIG, tiny_llama
from tests.model.toy import ByteTokenizer

Trunk = tuple[LlamaModel, BytePairTokenizer]


@pytest.mark.parametrize(
    ("text", "forced"),
    [
        ("def f(x):\n    ", "\n    "),
        ("def f(x):\n", "\n"),
        ("y = self.na", "na"),
        ("y = na", " na"),
        ("y = max(", "("),
        ("y = (", " ("),
        ("", ""),
        ("   ", "   "),
        ("y = na\udcff", ""),
        ("y = \ud800 ", " "),
    ],
)
def test_where_a_prompt_is_cut(text: str, forced: str) -> None:
    kept, cut = cut_back(text)
    assert kept + cut == text
    assert cut == forced


def test_a_cut_prompt_is_a_prefix_in_tokens_of_what_may_follow(trunk: Trunk) -> None:
    _, tokenizer = trunk
    text = "class A:\n    def b(self):\n        return self.total_count + max(1, 2)\n\n    x = 3\n"
    whole = tokenizer.encode(text)
    for at in range(1, len(text)):
        kept = tokenizer.encode(cut_back(text[:at])[0])
        assert whole[: len(kept)] == kept


def test_allowed_tokens_spell_the_rest(trunk: Trunk) -> None:
    _, tokenizer = trunk
    allowed = {tokenizer.token_bytes(token) for token in Speller(tokenizer).allowed(b"\n    ").tolist()}
    assert {b"\n", b"\n   ", b"\n    "} <= allowed
    assert all(piece.startswith(b"\n    ") or b"\n    ".startswith(piece) for piece in allowed)
    assert Speller(ByteTokenizer()).allowed(b"ab").tolist() == [ord("a")]


def test_the_speller_finds_what_a_look_at_every_token_finds(trunk: Trunk) -> None:
    _, tokenizer = trunk
    speller = Speller(tokenizer)
    pieces = [tokenizer.token_bytes(token) for token in range(tokenizer.vocabulary)]
    for rest in (b" ", b"\n", b"\n    ", b" retu", "é".encode()[:1], b"\xf4\x8f", b"~"):
        fitting = [piece and (piece.startswith(rest) or rest.startswith(piece)) for piece in pieces]
        assert set(speller.allowed(rest).tolist()) == {token for token, fits in enumerate(fitting) if fits}
    for skipped in (0, 1, 5, 500):
        wanted = {token for token, piece in enumerate(pieces) if piece[skipped : skipped + 1].isspace()}
        assert set(speller.blank(skipped).tolist()) == wanted


def test_the_right_context_judges(trunk: Trunk) -> None:
    prefix = "def fib(n):\n    if n < 2:\n        "
    found = rewrite(*trunk, prefix, "\n    return fib(n - 1) + fib(n - 2)\n", 6, 12, seed=3)
    assert found[0].text == "return n"
    assert len({one.text for one in found}) == len(found) <= 6
    assert [one.logprob for one in found] == sorted((one.logprob for one in found), reverse=True)
    assert all("\n" not in one.text for one in found)


def test_a_word_begun_is_finished_and_a_seed_repeats(trunk: Trunk) -> None:
    arguments = ("import os\n\nhere = os.path.dir", "name(__file__)\nprint(here)\n", 4, 8)
    found = rewrite(*trunk, *arguments, stop=("(",), seed=1)
    assert found == rewrite(*trunk, *arguments, stop=("(",), seed=1)
    assert "name" in [one.text for one in found]


def test_cancelled_means_nothing(trunk: Trunk) -> None:
    assert rewrite(*trunk, "x = ", "\n", 2, 8, cancel=lambda: True) == []


def test_room_for_more_than_the_window_holds_is_no_error() -> None:
    class Tokens(ByteTokenizer):
        vocabulary, end_id = 257, 256

    model = tiny_llama(config=replace(CONFIG, vocabulary=257), window=64)
    for prefix in ("", "x = 1\n" * 30):
        assert isinstance(rewrite(model, Tokens(), prefix, "\n", 2, 8192), list)
