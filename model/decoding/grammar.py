"""Text that must match a grammar: JSON schemas, regular expressions and llguidance's Lark dialect.

llguidance says which tokens may come next; this module adds the promise that the text is complete, not merely right so
far, when the token budget ends: a token is admitted only while a closing path still fits behind it.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Collection, Mapping
from copy import copy
from typing import Any

import llguidance
import numpy as np
import torch

from model.decoding.closing import Closer, leads_to_end
from model.protocol import Tokenizer


class GrammarError(ValueError):
    """The grammar cannot be compiled, or not be satisfied within the token budget."""


class _Vocabulary:
    """A tokenizer as llguidance sees it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        special = set(getattr(tokenizer, "special", {}).values()) | {tokenizer.end_id}
        self.eos_token_id = self.end_id = tokenizer.end_id
        self.bos_token_id = None
        self.tokens = [tokenizer.token_bytes(token) for token in range(tokenizer.vocabulary)]
        self.special_token_ids = sorted(special)
        self._encode = tokenizer.encode
        self.guidance = llguidance.LLTokenizer(llguidance.TokenizerWrapper(self), n_vocab=len(self.tokens))
        single = {data[0]: token for token, data in enumerate(self.tokens) if len(data) == 1 and token not in special}
        self.closer = Closer(self.guidance, single)

    def __call__(self, text: str | bytes) -> list[int]:
        return self._encode(text.decode() if isinstance(text, bytes) else text)


_vocabularies: weakref.WeakKeyDictionary[Tokenizer, _Vocabulary] = weakref.WeakKeyDictionary()


class Grammar:
    """A compiled grammar over one tokenizer. Immutable: one may serve many requests."""

    def __init__(self, tokenizer: Tokenizer, source: str) -> None:
        """`source` is llguidance's own form; use the class methods. Raises GrammarError when it does not compile."""
        if tokenizer not in _vocabularies:
            _vocabularies[tokenizer] = _Vocabulary(tokenizer)
        self._vocabulary = _vocabularies[tokenizer]
        self._matcher = llguidance.LLMatcher(self._vocabulary.guidance, source, log_level=0)
        if self._matcher.is_error():
            raise GrammarError(self._matcher.get_error().strip().splitlines()[0])

    @classmethod
    def json_schema(cls, tokenizer: Tokenizer, schema: Mapping[str, Any]) -> Grammar:
        """JSON that satisfies `schema`, without insignificant white space. Keywords that cannot be enforced raise
        GrammarError."""
        options: Any = {"whitespace_flexible": False, "lenient": False}
        return cls(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=options))

    @classmethod
    def lark(cls, tokenizer: Tokenizer, text: str) -> Grammar:
        """What a grammar in llguidance's dialect of Lark describes. Raises GrammarError where it is none."""
        return cls(tokenizer, llguidance.LLMatcher.grammar_from_lark(text))

    def holds(self, budget: int) -> bool:
        """Whether a complete text of at most `budget` tokens was found."""
        try:
            self.guide(budget)
        except GrammarError:
            return False
        return True

    def guide(self, budget: int, ends: Collection[int] = ()) -> Guide:
        """A walk through the grammar of at most `budget` tokens, which any of `ends` may end besides the own end of the
        tokenizer. Raises GrammarError when the budget is too small."""
        return Guide(self._matcher.deep_copy(), self._vocabulary, budget, ends)


class Guide:
    """One text under a grammar, followed token by token.

    Invariant: a path to a complete text is known, and it fits into what is left of the budget.
    """

    def __init__(
        self, matcher: llguidance.LLMatcher, vocabulary: _Vocabulary, budget: int, ends: Collection[int]
    ) -> None:
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._left = budget
        self._ends = frozenset((vocabulary.end_id, *ends))
        self.forced = False
        closing = vocabulary.closer.path(matcher)
        if closing is None:
            raise GrammarError("no short complete text was found under this grammar, so none can be promised")
        if len(closing) > budget:
            raise GrammarError(f"max_tokens is {budget}, but the shortest text found takes {len(closing)} tokens")
        self._closing = closing
        self._next: tuple[int, list[int]] | None = None  # an admitted token and the closing path behind it

    @property
    def complete(self) -> bool:
        """The text is whole and nothing may follow."""
        return self._matcher.is_stopped()

    @property
    def shortest(self) -> int:
        """How many more tokens the known way to a complete text takes."""
        return len(self._closing)

    def fork(self) -> Guide:
        """The same text so far, to be gone on with apart."""
        other = copy(self)
        other._matcher = self._matcher.deep_copy()
        return other

    def allowed(self, width: int) -> torch.Tensor:
        """Which tokens may come next, bool [width]; every end where the text is whole, and none elsewhere."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        mask = np.zeros(width, dtype=bool)
        flags = np.unpackbits(bits, bitorder="little")[:width]
        mask[: len(flags)] = flags
        whole = self._vocabulary.end_id < width and bool(mask[self._vocabulary.end_id])
        mask[[token for token in self._ends if token < width]] = whole
        return torch.from_numpy(mask)

    def forecast(self) -> list[int]:
        """Tokens that spell what the grammar forces next (there may be other spellings)."""
        return self._matcher.compute_ff_tokens()

    def admit(self, token: int) -> int:
        """`token`, or the first of the closing path where `token` would leave too little room to close.

        `token` must be allowed."""
        if token in self._ends:
            return token
        closing = self._closing_behind(token)
        if closing is not None and len(closing) < self._left:
            self._next = token, closing
            return token
        self.forced = True
        return self._closing[0] if self._closing else self._vocabulary.end_id

    def advance(self, token: int) -> None:
        """The text went on with `token`, which was admitted. Raises GrammarError for a token outside the grammar."""
        closing = self._next[1] if self._next and self._next[0] == token else self._closing_behind(token)
        if closing is None or not self._matcher.consume_token(token):
            raise GrammarError(f"token {token} does not fit the grammar here")
        self._closing, self._next = closing, None
        self._left -= 1

    def _closing_behind(self, token: int) -> list[int] | None:
        """A path to a complete text after `token`; mostly the known one still leads there."""
        if self._closing and token == self._closing[0]:
            return self._closing[1:]
        after = self._matcher.deep_copy()
        if not after.consume_token(token):
            return None
        if self._closing and leads_to_end(after, self._closing, self._vocabulary.guidance):
            return self._closing
        return self._vocabulary.closer.path(after)
