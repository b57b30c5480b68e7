"""How likely the model finds a text: whole, token by token, or as one of many alternatives in a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
import torch.nn.functional as F

from model.branches import Branches
from model.llama import LlamaModel, LlamaState
from model.prefix import in_common
from model.tokenizer import BytePairTokenizer

_LOGIT_ROWS = 256  # rows whose logits exist at one time: 50 MB for a vocabulary of 49,152
# Enough of a text to know its first token: byte-level BPE never merges over these bounds, bar "'re" and its kind.
_BEGINNING = re.compile(r"\s*(?:[^\W\d_]+|\d+|(?:_|[^\w\s])+)?.{0,2}", re.DOTALL)
_BATCH_ROWS = 1024  # token rows of one batched pass
_KEPT = 4  # readings whose states are kept


@dataclass(frozen=True)
class TokenSurprise:
    """The characters [start, end) of a text, and how little the model expected them: -ln p of their token."""

    start: int
    end: int
    nats: float


class Scorer:
    """Log-probabilities of text, in nats. Texts that begin alike are read once: the last readings are kept."""

    def __init__(self, model: LlamaModel, tokenizer: BytePairTokenizer) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._kept: list[tuple[list[int], LlamaState]] = []  # the latest last
        self._first_id = lru_cache(maxsize=1 << 16)(lambda text: tokenizer.encode(text)[0])

    @torch.inference_mode()
    def surprise(self, text: str) -> list[TokenSurprise]:
        """One forward pass of the text. The first token is judged against the beginning of a document."""
        ids, ranges = self._tokenizer.offsets(text)
        if not ids:
            return []
        nats = self._nats(self._hidden(ids[:-1]), torch.tensor(ids))
        return [TokenSurprise(*where, value) for where, value in zip(ranges, nats.tolist())]

    @torch.inference_mode()
    def spans(self, prefix: str, middles: Sequence[str], suffix: str) -> list[float]:
        """ln p(middle + suffix | prefix) for each middle, in batches over the shared prefix.

        The joined text is tokenised as a whole, so a middle may merge with its neighbours; a token that begins in the
        prefix counts in full. A prefix too long for the model's window loses its beginning, but no more than half a
        window of it makes room for what follows: a longer continuation drops the oldest tokens as it is read.
        """
        joined = [self._tokenizer.offsets(prefix + middle + suffix) for middle in middles]
        if not joined:
            return []
        inside = [sum(end <= len(prefix) for _, end in ranges) for _, ranges in joined]
        shared = min(*(in_common(joined[0][0], ids) for ids, _ in joined), *inside)
        rests = [ids[shared:] for ids, _ in joined]
        uncounted = [count - shared for count in inside]  # in the prefix, but differently cut for some middle
        room = min(max(map(len, rests)), self._model.limit // 2)
        state = self._reading(joined[0][0][max(0, shared + room - self._model.limit + 1) : shared])
        values = self.continuations(state, rests)
        return [sum(one[count:]) for one, count in zip(values, uncounted)]

    @torch.inference_mode()
    def continuations(self, state: LlamaState, branches: Sequence[list[int]]) -> list[list[float]]:
        """ln p of every token of each continuation of `state`, in batches. Raises ValueError where the state does not
        know its last row."""
        first_V = F.log_softmax(self._model.next_logits(state), -1)
        found: list[list[float]] = [[] for _ in branches]
        by_length = sorted((i for i in range(len(branches)) if branches[i]), key=lambda i: len(branches[i]))
        while by_length:
            width = len(branches[by_length[-1]])
            count = max(1, _BATCH_ROWS // width)
            batch, by_length = by_length[-count:], by_length[:-count]
            for index, values in zip(batch, self._branch_values(state, first_V, [branches[i] for i in batch])):
                found[index] = values
        return found

    def _branch_values(self, state: LlamaState, first_V: torch.Tensor, branches: list[list[int]]) -> list[list[float]]:
        """ln p of every token of every branch."""
        width = max(map(len, branches))
        tokens_BT = torch.tensor([ids + [0] * (width - len(ids)) for ids in branches])
        values_BT = first_V[tokens_BT[:, :1]]
        if width > 1:
            asked_BT = tokens_BT[:, :-1]
            if len(branches) > 1 and state.window.length + width - 1 <= self._model.limit:
                read_BTE = Branches(self._model, state, len(branches), width - 1).extend(asked_BT)
            else:
                read_BTE = torch.stack([self._model.read(ids_T, state)[0] for ids_T in asked_BT])
            nats = self._nats(read_BTE.flatten(0, 1), tokens_BT[:, 1:].flatten())
            values_BT = torch.cat([values_BT, -nats.view(len(branches), -1)], 1)
        return [row[: len(ids)] for row, ids in zip(values_BT.tolist(), branches)]

    @torch.inference_mode()
    def first_tokens(self, text: str, offsets: Sequence[int]) -> list[Callable[[str], float]]:
        """For each character offset, a function: ln p of the first token of an alternative written from there.

        One forward pass of the text in all; each question costs a tokenisation. Where an offset lies within a token
        (behind the space that belongs to a word), the alternative is judged with the beginning of that token before it.
        """
        ids, ranges = self._tokenizer.offsets(text)
        rows = sorted({token_at(ranges, offset) for offset in offsets})
        hidden_TE = self._hidden(ids[: rows[-1]] if rows else [])
        logs = dict(zip(rows, F.log_softmax(self._model.logits(hidden_TE[rows]), -1))) if rows else {}
        return judges(text, ranges, offsets, logs, self._first)

    def _first(self, text: str) -> int | None:
        """The first token of a text, from as little of it as settles that."""
        beginning = _BEGINNING.match(text)
        return self._first_id(beginning[0]) if beginning and beginning[0] else None

    def _hidden(self, ids: list[int]) -> torch.Tensor:
        """Final hidden rows [T + 1, E]: row t predicts ids[t]; the last one, what follows. Without a begin token the
        first row is of zeros, which find every token alike."""
        start = self._model.start()
        first_1E = start.recent_TE[-1:]
        if not len(first_1E):
            first_1E = first_1E.new_zeros(1, self._model.config.width)
        return torch.cat([first_1E, self._model.read(ids, start)[0]])

    def _nats(self, hidden_TE: torch.Tensor, targets_T: torch.Tensor) -> torch.Tensor:
        """-ln p of each target [T] from the row that predicts it."""
        pairs = zip(hidden_TE.split(_LOGIT_ROWS), targets_T.split(_LOGIT_ROWS))
        return torch.cat([F.cross_entropy(self._model.logits(rows), ids, reduction="none") for rows, ids in pairs])

    def _reading(self, ids: list[int]) -> LlamaState:
        """The state after these tokens, which leave the window room, from the kept reading that began most alike."""
        known, read = max(self._kept, key=lambda kept: in_common(kept[0], ids), default=([], self._model.start()))
        common = in_common(known, ids)
        state = self._model.rewind(read, common) if common else self._model.start()
        if common and common == len(ids) and not len(state.recent_TE):
            common -= 1
            state = self._model.rewind(read, common)
        if common < len(ids):
            _, state = self._model.read(ids[common:], state)
        outgrown = [kept for kept in self._kept if kept[0] != ids[: len(kept[0])]]
        self._kept = [*outgrown, (ids, state)][-_KEPT:]
        return state


def token_at(ranges: Sequence[tuple[int, int]], offset: int) -> int:
    """The index of the token that holds a character offset; that of the next token behind the text's end. `ranges`: the
    characters of each token."""
    return next((index for index, (_, end) in enumerate(ranges) if offset < end), len(ranges))


def judges(
    text: str,
    ranges: Sequence[tuple[int, int]],
    offsets: Sequence[int],
    logs: Mapping[int, torch.Tensor],
    first_id: Callable[[str], int | None],
) -> list[Callable[[str], float]]:
    """For each character offset, a function: ln p of the first token of an alternative written from there; 0 where
    nothing is known of that place. `logs` holds ln p [V] by the index of the token that is predicted."""

    def judge(offset: int) -> Callable[[str], float]:
        at = token_at(ranges, offset)
        head = text[ranges[at][0] : offset] if at < len(ranges) else ""
        log_V = logs.get(at)

        def first_token(alternative: str) -> float:
            first = first_id(head + alternative)
            return 0.0 if first is None or log_V is None else float(log_V[first])

        return first_token

    return [judge(offset) for offset in offsets]
