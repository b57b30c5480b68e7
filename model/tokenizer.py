"""Byte-level BPE: text to ids and back, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

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


class BytePairTokenizer:
    """The project's `Tokenizer` (see `model.protocol`) over the `tokenizers` library.

    Text never turns into control ids: "<|im_end|>" typed by a user is ordinary text. Control ids come from `special`
    and `chat` only.
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
        # Eight bytes that occur in UTF-8 have no token of their own and would be dropped without a word: they take the
        # places of control tokens that neither documents nor chats use.
        spare = [token for token in special if token.startswith(_SPARE)]
        for letter, byte in _byte_of().items():
            if letter not in vocabulary and byte in _UTF8:
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
        """From a `tokenizer.json` of the byte-level kind. Each of the ends ends a text."""
        backend = tokenizers.Tokenizer.from_file(str(path))
        special = {added.content: index for index, added in backend.get_added_tokens_decoder().items() if added.special}
        return cls(backend, special, end_id, *more_ends)

    def encode(self, text: str) -> list[int]:
        return self._backend.encode(text, add_special_tokens=False).ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in self._backend.encode_batch(list(texts), add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of the ids; bytes that are not UTF-8 (a character cut in two) become U+FFFD."""
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        encoded = self._backend.encode(text, add_special_tokens=False)
        return encoded.ids, encoded.offsets

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
