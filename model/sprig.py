"""Sprig: a frozen Llama trunk that commits, and a trained block side with a gated-delta memory that drafts and fills
in.

`commit` is the trunk, to the rounding of its precision: nothing trained can make it worse. `preview` runs a block's
rows through the same trunk with the block side's adapters. `foresee` does both in one pass. Shape letters as in
`block_side.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from model.block_side import TRAINED_ROWS, BlockSide
from model.foresight import foresee, look
from model.layers.linear import Int8Linear, outputs_of
from model.llama import LlamaModel, LlamaState, rotate
from model.protocol import Block

_DOUBTFUL = 0.1  # a chain of drafts ends where it is less likely than this to stand as a whole
_PIECE = 512  # tokens of one pass of the trunk; none is evicted before the memory took it up


@dataclass(frozen=True)
class SprigBlocks:
    """How its blocks are filled where nobody says otherwise (see `model.decoding.diffusion.Denoising`)."""

    size: int
    threshold: float = 0.9
    steps: int | None = None


@dataclass(frozen=True, eq=False)
class SprigState:
    """What was read: the trunk's window, the memory [H, D, D] of each memory layer, and what is not yet in it.

    `unwritten` counts the window's last tokens that the memory has not taken up (it does so by whole chunks). `last`
    is the last token's id.
    """

    trunk: LlamaState
    memory: dict[int, torch.Tensor]
    unwritten: int
    last: int


@dataclass(frozen=True, eq=False)
class SprigForesight:
    """What one pass over known tokens found out.

    `logits_KV`: row k speaks about the token after known[k]. `states[k]` has read known[: k + 1].
    """

    logits_KV: torch.Tensor
    states: Sequence[SprigState]
    _model: Sprig
    _hidden_KME: torch.Tensor

    def drafts(self, row: int, token: int) -> list[int]:
        """The likely continuation, had `token` been written after known[: row + 1]."""
        return self._model.draft(self._hidden_KME[row], token)

    def followed_by(self, other: SprigForesight) -> SprigForesight:
        """This pass and the next one over the tokens behind, as one."""
        logits_KV = torch.cat([self.logits_KV, other.logits_KV])
        hidden_KME = torch.cat([self._hidden_KME, other._hidden_KME])
        return SprigForesight(logits_KV, [*self.states, *other.states], self._model, hidden_KME)


class Sprig:
    """The trunk and its block side as a `BlockModel`. `memory=False` closes the history slots."""

    def __init__(self, trunk: LlamaModel, side: BlockSide, *, memory: bool = True) -> None:
        self.trunk = trunk
        self.side = side.eval().requires_grad_(False)
        self.memory = memory
        self.vocabulary = trunk.vocabulary
        self.device = trunk.device
        if trunk.config.begin_id is None:
            raise ValueError("the block side needs a trunk with a begin token")
        self._shortlist_F = self.side.shortlist_F.to(trunk.device)
        self._shortlist = outputs_of(trunk.head, self._shortlist_F)
        int8 = isinstance(trunk.head, Int8Linear)
        self._successor = side.successor.frozen(int8=int8) if side.successor.trained else None

    @property
    def longest_block(self) -> int:
        """Rows of a block that have a slot of their own."""
        return self.side.config.slots - 1

    @property
    def block_settings(self) -> SprigBlocks:
        """Blocks as long as the longest of its training, one of whose rows is the last token's."""
        return SprigBlocks(min(TRAINED_ROWS - 1, self.longest_block))

    def start(self) -> SprigState:
        empty = (
            {layer: self.side.slot(layer).empty() for layer in self.side.config.memory_layers} if self.memory else {}
        )
        assert self.trunk.config.begin_id is not None
        return SprigState(self.trunk.start(), empty, 0, self.trunk.config.begin_id)

    def position(self, state: SprigState) -> int:
        return state.trunk.position

    def next_logits(self, state: SprigState) -> torch.Tensor:
        """Logits [V] of the token after everything read."""
        return self.trunk.next_logits(state.trunk)

    @torch.inference_mode()
    def read(self, tokens: Sequence[int] | torch.Tensor, state: SprigState) -> tuple[torch.Tensor, SprigState]:
        """The trunk's normed rows [T, E], and the state with the tokens in its window and memory."""
        ids_T = torch.as_tensor(tokens, dtype=torch.int64, device=self.device)
        hidden = [self.trunk.embedding_VE.new_zeros(0, self.trunk.config.width)]
        for piece in ids_T.split(min(_PIECE, self.trunk.stride)) if len(ids_T) else ():
            rows_TE, trunk = self.trunk.read(piece, state.trunk)
            hidden.append(rows_TE)
            state = self.taken_up(SprigState(trunk, state.memory, state.unwritten + len(piece), int(piece[-1])))
        return torch.cat(hidden), state

    @torch.inference_mode()
    def commit(
        self, tokens: Sequence[int] | torch.Tensor, state: SprigState, *, rows: slice | None = None
    ) -> tuple[torch.Tensor, SprigState]:
        hidden_TE, after = self.read(tokens, state)
        return self.trunk.logits(hidden_TE if rows is None else hidden_TE[rows]), after

    @torch.inference_mode()
    def preview(self, block: Block, state: SprigState) -> torch.Tensor:
        """Row 0 is the last token again, so that even the first place of the block knows what stands on its right."""
        last = torch.tensor([state.last], device=self.device)
        tokens_1B = torch.cat([last, block.tokens.to(self.device)])[None]
        masked_1B = torch.cat([torch.zeros(1, dtype=torch.bool), block.masked.cpu()])[None].to(self.device)
        window = self.trunk.make_room(state.trunk.window, len(block.tokens))
        x_1BE = self.side.embed(self.trunk, tokens_1B, masked_1B)
        hidden_BE = look(self.trunk, self.side, x_1BE[0], window, self._memory_of(state))
        return self.trunk.logits(hidden_BE[:-1])

    def rewind(self, state: SprigState, position: int) -> SprigState:
        """The state as it was at an earlier position, while the tokens between are not yet in the memory.
        Raises ValueError where they are, or were evicted."""
        back = state.trunk.position - position
        if state.memory and back > state.unwritten:
            raise ValueError(f"the memory has taken up tokens after position {position}")
        return replace(state, trunk=self.trunk.rewind(state.trunk, position), unwritten=max(state.unwritten - back, 0))

    @torch.inference_mode()
    def foresee(self, known: Sequence[int], width: int, state: SprigState) -> SprigForesight:
        """Verifies `known` (pure trunk, causal) and drafts `width` tokens for every length that may stand, in one pass.

        After row k come `width` mask rows that see known[: k + 1] only, as in TiDAR
        (https://arxiv.org/abs/2511.08923): the next pass has its drafts whatever is accepted in this one.
        """
        state = self.taken_up(state)
        window = self.trunk.make_room(state.trunk.window, 1)
        fitting = self.trunk.limit - window.length
        if len(known) > fitting:
            first = self.foresee(known[:fitting], width, state)
            return first.followed_by(self.foresee(known[fitting:], width, first.states[-1]))
        hidden_KE, hidden_KME, window = foresee(self.trunk, self.side, known, width, window, self._memory_of(state))
        states = [
            SprigState(
                LlamaState(
                    window.prefix(window.length - len(known) + row + 1),
                    state.trunk.position + row + 1,
                    hidden_KE[: row + 1],
                ),
                state.memory,
                state.unwritten + row + 1,
                int(token),
            )
            for row, token in enumerate(known)
        ]
        return SprigForesight(self.trunk.logits(hidden_KE), states, self, hidden_KME)

    @torch.inference_mode()
    def draft(self, hidden_ME: torch.Tensor, token: int) -> list[int]:
        """The greedy chain through a group of mask rows: each row hears the token before it, then speaks."""
        chain, sure = [], 1.0
        for hidden_E in hidden_ME:
            token, p = self._likeliest(self.side.condition(hidden_E, self.trunk.embedding_VE[token].float()))
            sure *= p
            if sure < _DOUBTFUL:
                break
            chain.append(token)
        return chain

    @torch.inference_mode()
    def succeed(self, state: SprigState, token: int, width: int) -> list[int]:
        """Up to `width` tokens that are likely to follow `token`, had it been written after the state: the successor
        goes on from the trunk's last row. Empty where that row is not known or the successor was never trained."""
        if self._successor is None or not len(state.trunk.recent_TE):
            return []
        chain, sure = [], 1.0
        hidden_E = state.trunk.recent_TE[-1].float()
        for _ in range(width):
            hidden_E = self._successor(hidden_E, self.trunk.embedding_VE[token].float())
            token, p = self._likeliest(hidden_E)
            sure *= p
            if sure < _DOUBTFUL:
                break
            chain.append(token)
        return chain

    def _likeliest(self, hidden_E: torch.Tensor) -> tuple[int, float]:
        """The likeliest token of the shortlist, and its probability there."""
        p_F = self._shortlist(hidden_E[None])[0].softmax(-1)
        best = int(p_F.argmax())
        return int(self._shortlist_F[best]), float(p_F[best])

    def _memory_of(self, state: SprigState) -> dict[int, torch.Tensor]:
        return {layer: state_HDD[None] for layer, state_HDD in state.memory.items()}

    def taken_up(self, state: SprigState) -> SprigState:
        """The state with every whole chunk of its unwritten tokens taken up by the memory."""
        chunk = self.side.config.chunk
        count = state.unwritten // chunk * chunk
        if count == 0 or not state.memory:
            return state if state.memory else replace(state, unwritten=state.unwritten % chunk)
        window = state.trunk.window
        first = window.length - state.unwritten
        text = slice(first, first + count)
        turn_TD = self.trunk.turns_TD[text].conj()
        memory = {}
        for layer, held_HDD in state.memory.items():
            keys_KTD = rotate(window.keys_LKTD[layer, :, text], turn_TD)
            values_KTD = window.values_LKTD[layer, :, text]
            written = self.side.slot(layer).write(
                keys_KTD.transpose(0, 1).float(), values_KTD.transpose(0, 1).float(), held_HDD, chunk
            )
            memory[layer] = written[-1]
        return SprigState(state.trunk, memory, state.unwritten - count, state.last)
