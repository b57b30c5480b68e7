"""Byte-level BPE: text to ids and back, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from functools import cache
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from model.surrogates import replaced
from model.weights.bounds import read_tokenizer
from model.weights.gguf import GGUF

_CONTROL = 3  # GGUF's token type of ids that stand for no text

_SPARE = ("<jupyter_", "<issue_", "<gh_stars>", "<empty_output>")
_UTF8 = {*range(0xC0), *range(0xC2, 0xF5)}  # the bytes that UTF-8 text can contain


@cache
def _byte_of() -> dict[str, int]:
    """The printable character that byte-level BPE writes for each byte (GPT-2's table), reversed."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(rest)}


def _without_token(vocabulary: Container[str]) -> list[str]:
    """Letters of the bytes that occur in UTF-8 and have no token of their own: they would be dropped without a word.
    SmolLM2 lacks eight; there they take the places of control tokens that neither documents nor chats use."""
    return [letter for letter, byte in _byte_of().items() if byte in _UTF8 and letter not in vocabulary]


def _special(backend: tokenizers.Tokenizer) -> dict[str, int]:
    """Control tokens by name, in the order of their ids."""
    added = sorted(backend.get_added_tokens_decoder().items())
    return {token.content: index for index, token in added if token.special}


def _respelled(path: Path, letters: Mapping[str, str]) -> tokenizers.Tokenizer:
    """The tokenizer in a file, where some control tokens stand for the letters of bytes instead."""
    data = json.loads(path.read_text("utf-8"))
    vocabulary, ids = data["model"]["vocab"], {added["content"]: added["id"] for added in data["added_tokens"]}
    for token, letter in letters.items():
        vocabulary.pop(token, None)
        vocabulary[letter] = ids[token]
    data["added_tokens"] = [added for added in data["added_tokens"] if added["content"] not in letters]
    return tokenizers.Tokenizer.from_str(json.dumps(data))


class BytePairTokenizer:
    """The project's `Tokenizer` (see `model.protocol`) over the `tokenizers` library.

    Text never turns into control ids: "<|im_end|>" typed by a user is ordinary text. Control ids come from `special`
    and `chat` only. A lone surrogate reads as U+FFFD.
    """

    def __init__(self, backend: tokenizers.Tokenizer, special: Mapping[str, int], end_id: int, *more_ends: int) -> None:
        backend.encode_special_tokens = True
        backend.normalizer = None  # Unicode normalisation would change the text
        self._backend = backend
        self.special = dict(special)
        self.end_id = end_id
        self.ends = tuple(dict.fromkeys((end_id, *more_ends)))
        self.vocabulary = backend.get_vocab_size()
        self._bytes: list[bytes] | None = None

    @classmethod
    def from_gguf(cls, file: GGUF) -> BytePairTokenizer:
        """From the tokenizer stored in a GGUF file. Raises ValueError where it is not of the GPT-2 kind."""
        data = file.metadata
        if data.get("tokenizer.ggml.model") != "gpt2" or data.get("tokenizer.ggml.pre") != "smollm":
            raise ValueError(
                "this GGUF's tokenizer is not the SmolLM one: load the model from a folder with tokenizer.json"
            )
        tokens: list[str] = data["tokenizer.ggml.tokens"]
        kinds = data["tokenizer.ggml.token_type"]
        special = {token: index for index, token in enumerate(tokens) if kinds[index] == _CONTROL}
        vocabulary = {token: index for index, token in enumerate(tokens)}
        spare = [token for token in special if token.startswith(_SPARE)]
        for letter in _without_token(vocabulary):
            vocabulary[letter] = special.pop(token := spare.pop())
            del vocabulary[token]
        merges = [tuple(pair.split(" ")) for pair in data["tokenizer.ggml.merges"]]
        backend = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        backend.decoder = decoders.ByteLevel()
        return cls(backend, special, data["tokenizer.ggml.eos_token_id"])

    @classmethod
    def from_file(cls, path: Path, end_id: int, *more_ends: int) -> BytePairTokenizer:
        """From a `tokenizer.json`. Each of the ends ends a text. Raises ValueError where it cannot be read or is not of
        the byte-level kind."""
        backend = read_tokenizer(path)
        missing = _without_token(backend.get_vocab(with_added_tokens=False))
        spare = [token for token in _special(backend) if token.startswith(_SPARE)]
        if len(missing) > len(spare):
            raise ValueError(
                f"{path} holds no byte-level BPE: {len(missing)} bytes have no token of their own. Tokenizers of Llama "
                "3, Qwen, SmolLM and their kind can be read, those made with SentencePiece (Llama 2, Mistral 7B) cannot"
            )
        if missing:
            backend = _respelled(path, dict(zip(reversed(spare), missing)))
        return cls(backend, _special(backend), end_id, *more_ends)

    def encode(self, text: str) -> list[int]:
        return self._encoded(text).ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._backend.encode_batch(list(map(replaced, texts)), add_special_tokens=False)
        return [one.ids for one in encoded]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of the ids; bytes that are not UTF-8 (a character cut in two) become U+FFFD."""
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        encoded = self._encoded(text)
        return encoded.ids, encoded.offsets

    def _encoded(self, text: str) -> tokenizers.Encoding:
        return self._backend.encode(replaced(text), add_special_tokens=False)

    def token_bytes(self, token: int) -> bytes:
        if self._bytes is None:
            self._bytes = [self._spell(index) for index in range(self.vocabulary)]
        return self._bytes[token]

    def _spell(self, token: int) -> bytes:
        piece = self._backend.id_to_token(token) or ""
        table = _byte_of()
        if token not in self.special.values() and all(letter in table for letter in piece):
            return bytes(table[letter] for letter in piece)
        return piece.encode()
