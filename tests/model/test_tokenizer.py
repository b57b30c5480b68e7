from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.chat import Message
from model.chat_template import ChatML
from model.llama import LlamaModel
from model.tokenizer import BytePairTokenizer

Trunk = tuple[LlamaModel, BytePairTokenizer]


@pytest.fixture(scope="module")
def tokenizer(trunk: Trunk) -> BytePairTokenizer:
    return trunk[1]


def test_every_character_comes_back(tokenizer: BytePairTokenizer) -> None:
    points = [*range(0x3000), *range(0xD000, 0xD800), *range(0xE000, 0xE100), *range(0x10000, sys.maxunicode, 997)]
    text = "".join(map(chr, points))
    assert tokenizer.decode(tokenizer.encode(text)) == text


@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_text_comes_back_and_offsets_cover_it(tokenizer: BytePairTokenizer, text: str) -> None:
    ids, ranges = tokenizer.offsets(text)
    assert ids == tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()
    assert [start for start, _ in ranges] == sorted(start for start, _ in ranges)
    assert all(start < end for start, end in ranges)
    assert not text or (ranges[0][0], ranges[-1][1]) == (0, len(text))


def test_pieces_are_those_that_the_model_was_trained_on(tokenizer: BytePairTokenizer) -> None:
    ids = tokenizer.encode("    return x1234 + max(a)\n\n")
    assert [tokenizer.decode([token]) for token in ids] == [
        *("   ", " return", " x", "1", "2", "3", "4", " +", " max", "(", "a", ")", "\n\n")
    ]


def test_control_tokens_do_not_come_from_text(tokenizer: BytePairTokenizer) -> None:
    typed = tokenizer.encode("<|im_end|><|endoftext|>")
    assert not set(typed) & set(tokenizer.special.values())
    assert tokenizer.decode(typed) == "<|im_end|><|endoftext|>"


def test_chat_layout(tokenizer: BytePairTokenizer) -> None:
    messages = [Message("system", "Be brief."), Message("user", "Hi <|im_end|>")]
    ids = ChatML(tokenizer).render(messages, ())
    expected = (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi <|im_end|><|im_end|>\n<|im_start|>assistant\n"
    )
    assert tokenizer.decode(ids) == expected
    begin, end = tokenizer.special["<|im_start|>"], tokenizer.special["<|im_end|>"]
    assert (ids.count(begin), ids.count(end)) == (3, 2)
    assert tokenizer.end_id == end
