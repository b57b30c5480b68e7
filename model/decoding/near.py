"""Writing a line anew, near to what stands there: a beam over what the model, the repository and the old line say.

A small model seldom draws the right line by chance, but it tells good lines from bad ones. So the likeliest lines are
listed: by the model's own distribution, mixed with what the repository's n-grams say next (`model.repository_cache`)
and with a pointer into the old line that moves along with what is copied (after See et al., "Get to the point",
https://arxiv.org/abs/1704.04368: a mixture of writing and copying). A change costs what the model finds it worth;
going on behind it as before costs little. Whoever reads the lines with their right context afterwards judges better.

Shape letters: B branches, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from model.branches import Branches
from model.decoding.healing import Speller, cut_back, speller_of
from model.decoding.rewrite import Rewrite
from model.llama import LlamaModel, LlamaState
from model.repository_cache import ORDERS, Finder, Match
from model.tokenizer import BytePairTokenizer

# How likely the next token is copied from where the pointer stands, and from one, two or three tokens behind that.
AHEAD = (0.80, 0.10, 0.06, 0.04)
LONGER = 12  # tokens that a line may have more than the old one
_POINTERS = 8  # places that a pointer may be at, at most


@dataclass(frozen=True)
class Beam:
    """width: lines that are written at the same time. choices: tokens that each may go on with. copy: how likely a
    token comes from the old line. tokens: of a line at most. ended: lines after which no more are begun."""

    width: int = 16
    choices: int = 10
    copy: float = 0.5
    tokens: int = 48
    ended: int = 80


@dataclass(frozen=True)
class _Line:
    """A line being written: its tokens, their bytes behind those that the prompt forces, its log-likelihood by the
    mixture and by the model alone, and where it may stand in the old line."""

    tokens: tuple[int, ...]
    spelled: bytes
    rest: bytes
    score: float
    own: float
    places: frozenset[int]


def near(
    model: LlamaModel,
    tokenizer: BytePairTokenizer,
    prefix: str,
    old: str | None,
    stop: Sequence[str] = ("\n",),
    cache: Finder | None = None,
    start: LlamaState | None = None,
    beam: Beam = Beam(),
    cancel: Callable[[], bool] = lambda: False,
) -> list[Rewrite]:
    """Texts for a gap behind `prefix`, with ln p(text and its stop | prefix) by the model alone, best first; a longer
    text is given back about a nat per token (see `worth`). `old` is what stands there now (None: nothing).

    A text ends before the first of the `stop` strings. `start` has read what comes before `prefix`. Cancelled, none.
    """
    kept, forced = cut_back(prefix)
    ids = tokenizer.encode(kept)
    copied = [] if old is None else tokenizer.encode(forced + old + stop[0])
    room = min(beam.tokens, len(copied) + LONGER) if copied else beam.tokens
    state = model.start() if start is None else start
    _, state = model.read(ids[-max(1, model.limit - room - 1) :], state)
    state = LlamaState(model.make_room(state.window, room), state.position, state.recent_TE)
    writing = _Writing(model, tokenizer, ids, copied, tuple(stop), cache, beam)
    return writing.run(state, forced.encode(), room, cancel)


def worth(written: Rewrite) -> float:
    """Its log-likelihood, with what it loses by its length alone given back."""
    return written.logprob + 0.3 * len(written.text)


class _Writing:
    def __init__(
        self,
        model: LlamaModel,
        tokenizer: BytePairTokenizer,
        before: list[int],
        old: list[int],
        stop: tuple[str, ...],
        cache: Finder | None,
        beam: Beam,
    ) -> None:
        self._model, self._tokenizer, self._beam = model, tokenizer, beam
        self._before, self._old, self._stop, self._cache = before[-ORDERS[0] :], old, stop, cache
        self._speller: Speller = speller_of(tokenizer)
        self._done: dict[str, tuple[float, float]] = {}  # by the mixture, by the model alone

    @torch.inference_mode()
    def run(self, state: LlamaState, forced: bytes, room: int, cancel: Callable[[], bool]) -> list[Rewrite]:
        """The texts that came to an end within `room` tokens, those that the model finds likeliest first."""
        model = self._model
        if not len(state.recent_TE):
            return []
        branches = Branches(model, state, 1, room)
        lines = [_Line((), b"", forced, 0.0, 0.0, frozenset((0,)))]
        logits_BV = model.next_logits(state)[None]
        for _ in range(room):
            if cancel():
                return []
            lines, rows = self._grown(lines, logits_BV)
            if not lines or self._enough(lines[0].score):
                break
            branches.keep(rows)
            logits_BV = model.logits(branches.extend(torch.tensor([[line.tokens[-1]] for line in lines]))[:, 0])
        return sorted((Rewrite(text, own) for text, (_, own) in self._done.items()), key=lambda one: -worth(one))

    def _enough(self, best: float) -> bool:
        """Whether no line that is still being written could come among the best any more."""
        ended = sorted((score for score, _ in self._done.values()), reverse=True)
        return len(ended) >= self._beam.ended and ended[self._beam.ended - 1] > best

    def _grown(self, lines: list[_Line], logits_BV: torch.Tensor) -> tuple[list[_Line], list[int]]:
        """The best lines that are one token longer, and which line each was; those that ended are put aside."""
        options: list[tuple[float, float, int, int]] = []
        for row, (whole, logits_V) in enumerate(zip(lines, logits_BV)):
            own_V = logits_V.float().log_softmax(-1)
            values, tokens = self._next(whole, own_V.exp()).topk(self._beam.choices)
            owns = (whole.own + own_V[tokens]).tolist()
            for value, own, token in zip(values.tolist(), owns, tokens.tolist()):
                options.append((whole.score + value, own, row, token))
        grown: list[_Line] = []
        rows: list[int] = []
        seen: set[tuple[bytes, bytes]] = set()
        for score, own, row, token in sorted(options, reverse=True):
            line = self._longer(lines[row], token, score, own)
            if line is not None and (line.spelled, line.rest) not in seen:
                seen.add((line.spelled, line.rest))
                grown.append(line)
                rows.append(row)
                if len(grown) == self._beam.width:
                    break
        return grown, rows

    def _longer(self, line: _Line, token: int, score: float, own: float) -> _Line | None:
        """The line with a token more; None where it ended with it, or is none."""
        if token == self._tokenizer.end_id or score == float("-inf"):
            return None
        piece = self._tokenizer.token_bytes(token)
        spelled, rest = line.spelled + piece[len(line.rest) :], line.rest[len(piece) :]
        text = spelled.decode("utf-8", "ignore")
        begun = len(text) - len(text.lstrip())
        ends = [at for end in self._stop if (at := text.find(end, begun)) >= 0 and begun < len(text)]
        if ends:
            ended = text[: min(ends)]
            self._done[ended] = max((score, own), self._done.get(ended, (score, own)))
            return None
        return _Line((*line.tokens, token), spelled, rest, score, own, moved(self._old, line.places, token))

    def _next(self, line: _Line, p_V: torch.Tensor) -> torch.Tensor:
        """ln p [V] of the next token from the model's p_V: its share, the repository's and the old line's."""
        shares = copies(self._old, line.places)
        if line.rest:
            allowed = self._speller.allowed(line.rest)
            spelling_V = torch.zeros_like(p_V)
            spelling_V[allowed] = p_V[allowed]
            p_V = spelling_V / spelling_V.sum().clamp_min(1e-9)
            shares = {token: shares[token] for token in set(allowed.tolist()).intersection(shares)}
        elif self._cache is not None:
            p_V = _mixed(p_V, self._cache.find([*self._before, *line.tokens][-ORDERS[0] :]))
        if shares:
            p_V = p_V * (1 - self._beam.copy)
            p_V[list(shares)] += self._beam.copy * torch.tensor(list(shares.values()), dtype=p_V.dtype)
        return p_V.log()


def _mixed(p_V: torch.Tensor, match: Match | None) -> torch.Tensor:
    if match is None:
        return p_V
    p_V = p_V * (1 - match.trust)
    p_V[torch.from_numpy(match.tokens)] += torch.from_numpy(match.shares * match.trust).to(p_V.dtype)
    return p_V


def copies(old: Sequence[int], places: frozenset[int]) -> dict[int, float]:
    """The tokens of the old line that may come next, and their shares (sum at most 1)."""
    shares: dict[int, float] = {}
    for place in places:
        for skipped, share in enumerate(AHEAD):
            if place + skipped < len(old):
                token = old[place + skipped]
                shares[token] = max(share, shares.get(token, 0.0))
    total = sum(shares.values())
    return {token: share / max(total, 1.0) for token, share in shares.items()}


def moved(old: Sequence[int], places: frozenset[int], token: int) -> frozenset[int]:
    """Where the pointer may stand behind this token: behind its copies, or, where it is none of them, where it stood
    (the token was put in) or behind the next tokens (it stands for them)."""
    reach = {place + skipped for place in places for skipped in range(len(AHEAD)) if place + skipped < len(old)}
    found = {place + 1 for place in reach if old[place] == token}
    if not found:
        found = {place + skipped for place in places for skipped in range(3) if place + skipped <= len(old)}
    return frozenset(sorted(found)[:_POINTERS])
