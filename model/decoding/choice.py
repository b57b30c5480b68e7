"""From logits to a token: greedy, temperature, top-p, and noise that belongs to a position."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch

_LOWEST = 1e-30  # a lower temperature would be 0 in fp32, and is no other


@dataclass(frozen=True)
class Choice:
    """A token and the probability that the model gave it (after the grammar's mask, before temperature)."""

    token: int
    confidence: float


class Chooser:
    """Turns a row of logits into a token.

    Sampling is an exponential race, argmax p/e with e ~ Exp(1), whose noise e is fixed by (seed, position). So a draft
    and its verification at one position share their noise: the draft stands exactly when both races have one winner,
    which couples the two distributions without either knowing the other, and the text is the one that plain
    autoregressive sampling with this seed would have written (Daliri, Musco, Suresh, "Coupling without Communication
    and Drafter-Invariant Speculative Decoding", arXiv 2408.07978).
    """

    def __init__(self, temperature: float, top_p: float, seed: int) -> None:
        self._temperature = temperature and max(temperature, _LOWEST)
        self._top_p = top_p
        self._seed = seed

    def one(self, logits_V: torch.Tensor, position: int, allowed_V: torch.Tensor | None = None) -> Choice:
        """The token at `position` of the output. `allowed_V` bool; at least one is true."""
        logits_V = logits_V.float()
        if allowed_V is not None:
            logits_V = logits_V.masked_fill(~allowed_V, -torch.inf)
        if self._temperature == 0:
            token = int(logits_V.argmax())
        else:
            token = int((self.distribution(logits_V) / self._noise(position, logits_V)).argmax())
        return Choice(token, float(torch.exp(logits_V[token] - logits_V.logsumexp(0))))

    def many(self, logits_TV: torch.Tensor, position: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens [T] and their probabilities [T] for rows that predict `position` onwards."""
        logits_TV = logits_TV.float()
        if self._temperature == 0:
            token_T = logits_TV.argmax(-1)
        else:
            race = [self.distribution(row) / self._noise(position + i, row) for i, row in enumerate(logits_TV)]
            token_T = torch.stack(race).argmax(-1)
        chosen_T = logits_TV.gather(-1, token_T[:, None])[:, 0]
        return token_T, torch.exp(chosen_T - logits_TV.logsumexp(-1))

    def distribution(self, logits_V: torch.Tensor) -> torch.Tensor:
        """Probabilities [V] after temperature and top-p (the smallest set of likeliest tokens that holds top_p)."""
        logits_V = logits_V.float()
        p_V = torch.softmax((logits_V - logits_V.max()) / self._temperature, -1)
        if self._top_p < 1:
            sorted_V, order_V = p_V.sort(descending=True)
            outside_V = sorted_V.cumsum(-1) - sorted_V >= self._top_p
            p_V = p_V.scatter(-1, order_V, sorted_V.masked_fill(outside_V, 0.0))
            p_V = p_V / p_V.sum()
        return p_V

    def _noise(self, position: int, like_V: torch.Tensor) -> torch.Tensor:
        digest = hashlib.blake2b(f"{self._seed}:{position}".encode(), digest_size=8).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)
        return torch.empty(like_V.shape[-1]).exponential_(generator=generator).to(like_V.device)
