"""Small models and a tokenizer for the tests of decoders: deterministic, quick, true to the BlockModel contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from model.protocol import Block

torch.set_num_threads(1)  # tiny tensors: a second thread only waits

END = 256


class ByteTokenizer:
    """One id per byte, and an end token."""

    vocabulary = 257
    end_id = END

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(token for token in ids if token < 256).decode("utf-8", "replace")

    def offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        ranges = [(i, i + 1) for i, letter in enumerate(text) for _ in letter.encode()]
        return self.encode(text), ranges

    def token_bytes(self, token: int) -> bytes:
        return bytes([token]) if token < 256 else b"<end>"


class ToyModel:
    """A random one-layer transformer in float64. Its state is the tokens read, so it is plainly a value.

    Causal rows see what is before them; rows of a previewed block see the history and the whole block.
    """

    device = torch.device("cpu")

    def __init__(self, vocabulary: int = 257, width: int = 16, seed: int = 0, sharpness: float = 4.0) -> None:
        draw = torch.Generator().manual_seed(seed)

        def random(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=draw, dtype=torch.float64)

        self.vocabulary = vocabulary
        self.passes = 0
        self._embed_VD = random(vocabulary + 1, width)  # the last row is the mask
        self._mix_DD = random(3, width, width) / width**0.5
        self._place_D = random(width)
        self._head_DV = random(width, vocabulary) * sharpness / width**0.5

    def start(self) -> tuple[int, ...]:
        return ()

    def position(self, state: tuple[int, ...]) -> int:
        return len(state)

    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: tuple[int, ...], *, rows: slice | None = None
    ) -> tuple[torch.Tensor, tuple[int, ...]]:
        self.passes += 1
        after = (*state, *(int(token) for token in tokens))
        return self._forward(torch.tensor(after, dtype=torch.long), len(state), False)[rows or slice(None)], after

    def preview(self, block: Block, state: tuple[int, ...]) -> torch.Tensor:
        self.passes += 1
        tokens_T = block.tokens.masked_fill(block.masked, self.vocabulary)
        return self._forward(torch.cat([torch.tensor(state, dtype=torch.long), tokens_T]), len(state), True)

    def _forward(self, tokens_T: torch.Tensor, first: int, both_ways: bool) -> torch.Tensor:
        """Logits of the rows from `first` on."""
        count = len(tokens_T)
        x_TD = self._embed_VD[tokens_T] + torch.sin(torch.arange(count)[:, None] * self._place_D)
        q_TD, k_TD, v_TD = x_TD[first:] @ self._mix_DD[0], x_TD @ self._mix_DD[1], x_TD @ self._mix_DD[2]
        scores_TT = q_TD @ k_TD.T / k_TD.shape[1] ** 0.5
        if not both_ways:
            scores_TT = scores_TT.masked_fill(~torch.ones_like(scores_TT, dtype=torch.bool).tril(first), -torch.inf)
        return (x_TD[first:] + scores_TT.softmax(-1) @ v_TD) @ self._head_DV


class ScriptedModel:
    """Says one text and nothing else: token i of `script` follows the (begin + i)-th token read, then the end token.

    `certainty` [T] is the probability that previews give to the scripted token of each place (1 where it is not given).
    """

    device = torch.device("cpu")

    def __init__(
        self, script: Sequence[int], begin: int, certainty: Sequence[float] = (), vocabulary: int = 257
    ) -> None:
        self.vocabulary = vocabulary
        self._script = list(script)
        self._begin = begin
        self._certainty = list(certainty)

    def start(self) -> int:
        return 0

    def position(self, state: int) -> int:
        return state

    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: int, *, rows: slice | None = None
    ) -> tuple[torch.Tensor, int]:
        after = state + len(tokens)
        logits_TV = torch.stack([self._say(place + 1, 1.0) for place in range(state, after)])
        return logits_TV[rows if rows is not None else slice(None)], after

    def preview(self, block: Block, state: int) -> torch.Tensor:
        places = range(state, state + len(block.tokens))
        return torch.stack([self._say(place, self._sure(place - self._begin)) for place in places])

    def _sure(self, index: int) -> float:
        return self._certainty[index] if 0 <= index < len(self._certainty) else 1.0

    def _say(self, place: int, probability: float) -> torch.Tensor:
        index = place - self._begin
        token = self._script[index] if 0 <= index < len(self._script) else END
        p_V = torch.full((self.vocabulary,), max(1 - probability, 1e-6) / (self.vocabulary - 1))
        p_V[token] = max(probability, 1e-6)
        return p_V.log()


class RewindableScript(ScriptedModel):
    """The script with `rewind`."""

    def rewind(self, state: int, position: int) -> int:
        return position


class OnePassToy(ToyModel):
    """The toy with `step`: draft rows stand behind the known ones as masks of a block."""

    def step(
        self, known: Sequence[int], masks: int, state: tuple[int, ...]
    ) -> tuple[torch.Tensor, list[tuple[int, ...]]]:
        causal_TV, after = self.commit(known, state)
        drafts_TV = self.preview(Block(torch.zeros(masks + 1, dtype=torch.long), torch.ones(masks + 1) > 0), after)[1:]
        self.passes -= 1
        return torch.cat([causal_TV, drafts_TV]), [after[: len(state) + 1 + i] for i in range(len(known))]


class RewindableToy(ToyModel):
    """The toy with `rewind`."""

    def rewind(self, state: tuple[int, ...], position: int) -> tuple[int, ...]:
        return state[:position]


@dataclass(frozen=True)
class ToyForesight:
    """Logits and states as the toy commits them; drafts are previews behind the row and the token asked for."""

    model: ForeseeingToy
    logits_KV: torch.Tensor
    states: Sequence[tuple[int, ...]]
    width: int

    def drafts(self, row: int, token: int) -> list[int]:
        block = Block(torch.zeros(self.width, dtype=torch.long), torch.ones(self.width) > 0)
        drafted_TV = self.model.preview(block, (*self.states[row], token))
        self.model.passes -= 1
        return drafted_TV.argmax(-1).tolist()


class ForeseeingToy(RewindableToy):
    """The toy with `foresee` and `rewind`: it drafts for every number of known tokens that may stand."""

    def __init__(self, *arguments, **more) -> None:
        super().__init__(*arguments, **more)
        self.foreseen: list[int] = []  # known tokens of each such pass

    def foresee(self, known: Sequence[int], width: int, state: tuple[int, ...]) -> ToyForesight:
        self.foreseen.append(len(known))
        logits_KV, after = self.commit(known, state)
        return ToyForesight(self, logits_KV, [after[: len(state) + 1 + i] for i in range(len(known))], width)


class ChatByteTokenizer(ByteTokenizer):
    """Bytes and the ChatML control tokens."""

    vocabulary = 259
    special: ClassVar[dict[str, int]] = {"<|im_start|>": 257, "<|im_end|>": 258}

    def token_bytes(self, token: int) -> bytes:
        return super().token_bytes(token) if token < 257 else list(self.special)[token - 257].encode()
