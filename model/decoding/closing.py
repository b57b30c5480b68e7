"""The shortest way to end a text under a grammar, found by walking the grammar itself.

The idea of a token budget that always suffices to complete is TruncProof's; the search here needs nothing but the masks
of an incremental matcher, so it serves any grammar.
"""

from __future__ import annotations

import random

import llguidance

_STRUCTURE = b'}],:0123456789"tfn'
_WHITESPACE = b" \t\r\n"
_LONGEST, _WALKS = 1024, 16


class Closer:
    """Finds closing paths over one vocabulary."""

    def __init__(self, tokenizer: llguidance.LLTokenizer, byte_ids: dict[int, int]) -> None:
        """`byte_ids` maps a byte to the id of the token that is this byte alone."""
        self._tokenizer = tokenizer
        self._byte_ids = byte_ids

    def path(self, matcher: llguidance.LLMatcher) -> list[int] | None:
        """Few tokens that lead from the matcher's state to a complete text (none if it is complete); None if there is
        no way within some thousand tokens. Not always the fewest: an upper bound that is a real path."""
        path = self._walk(matcher, None, _LONGEST)
        if path is None:
            # Preference suits JSON and can go in circles elsewhere; chance gets out of any circle.
            chance = random.Random(0)
            for _ in range(_WALKS):
                path = self._walk(matcher, chance, len(path) - 1 if path else _LONGEST) or path
        if not path:
            return path
        joined = self._tokenizer.tokenize_bytes(self._tokenizer.decode_bytes(path))
        return joined if len(joined) < len(path) and leads_to_end(matcher, joined, self._tokenizer) else path

    def _walk(self, matcher: llguidance.LLMatcher, chance: random.Random | None, longest: int) -> list[int] | None:
        """One walk to the end, by preference or by chance; None where it takes more than `longest` tokens."""
        matcher, path = matcher.deep_copy(), []
        while not matcher.is_accepting():
            step = matcher.compute_ff_tokens()
            if not step:
                options = self._options(matcher)
                step = [chance.choice(options) if chance else options[0]] if options else []
            path += step
            if not step or len(path) > longest or not matcher.consume_tokens(step):
                return None
        return path

    def _options(self, matcher: llguidance.LLMatcher) -> list[int]:
        """Single-byte tokens that may come next, those that tend to close things first."""
        mask = matcher.compute_bitmask()
        allowed = {byte for byte, token in self._byte_ids.items() if mask[token >> 3] >> (token & 7) & 1}
        prose = allowed.issuperset(b"qZ~")  # brackets are mere text inside a string
        order = b'"a' if prose else _STRUCTURE
        ranked = sorted(allowed, key=lambda byte: (order.find(byte) % 256, byte in _WHITESPACE, byte))
        return [self._byte_ids[byte] for byte in ranked]


def leads_to_end(matcher: llguidance.LLMatcher, path: list[int], tokenizer: llguidance.LLTokenizer) -> bool:
    """Whether the text may end right after `path`."""
    return matcher.validate_tokens([*path, tokenizer.eos_token]) == len(path) + 1
