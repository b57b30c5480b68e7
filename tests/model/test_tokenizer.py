from __future__ import annotations

import string
import sys
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, models, pre_tokenizers

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


def test_what_no_encoding_can_spell_is_read_as_a_replacement(tokenizer: BytePairTokenizer) -> None:
    text = "na\udcffme = '\ud83d'"
    ids, ranges = tokenizer.offsets(text)
    assert ids == tokenizer.encode(text) == tokenizer.encode_batch([text])[0]
    assert tokenizer.decode(ids) == "na\N{REPLACEMENT CHARACTER}me = '\N{REPLACEMENT CHARACTER}'"
    assert (ranges[0][0], ranges[-1][1]) == (0, len(text))


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


def saved(folder: Path, vocabulary: dict[str, int], **more: bool) -> Path:
    """A `tokenizer.json` without merges, with two control tokens that nobody needs and one that ends a turn."""
    backend = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=[], **more))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    control = ("<jupyter_start>", "<jupyter_text>", "<|im_end|>")
    backend.add_special_tokens([AddedToken(token, special=True) for token in control])
    backend.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    pieces = ["<unk>", "▁", *(f"<0x{byte:02X}>" for byte in range(256)), *string.ascii_letters]
    path = saved(tmp_path, {piece: index for index, piece in enumerate(pieces)}, byte_fallback=True)
    with pytest.raises(ValueError, match=r"no byte-level BPE.*Qwen.*SentencePiece"):
        BytePairTokenizer.from_file(path, 0)


def test_bytes_without_a_token_take_the_places_of_control_tokens(tmp_path: Path) -> None:
    letters = sorted(set(pre_tokenizers.ByteLevel.alphabet()) - {"ċ", "ô"})  # those of the bytes 0B and F4
    path = saved(tmp_path, {letter: index for index, letter in enumerate(letters)})
    tokenizer = BytePairTokenizer.from_file(path, 256)
    text = "a\x0bb\U0010ffffc<|im_end|>"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.special == {"<|im_end|>": 256} and tokenizer.vocabulary == 257
    assert not set(tokenizer.encode(text)) & set(tokenizer.special.values())
