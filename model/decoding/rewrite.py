"""Writing a missing piece of text from its left context, and judging it with its right context.

A causal model cannot see what follows the gap while it writes. So it writes many pieces, and the likelihood of piece
and right context together picks among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from model.branches import Branches
from model.decoding.healing import Speller, cut_back, speller_of
from model.llama import LlamaModel, LlamaState
from model.scoring import Scorer
from model.tokenizer import BytePairTokenizer

TEMPERATURE = 0.9
TOP_P = 0.95


@dataclass(frozen=True)
class Rewrite:
    """A text for the gap, and ln p(text + right context | left context)."""

    text: str
    logprob: float


@dataclass
class _Draft:
    """A branch being written: its bytes so far, behind those that the prompt forces."""

    rest: bytes
    spelled: bytes = b""

    def write(self, piece: bytes) -> None:
        self.spelled += piece[len(self.rest) :]
        self.rest = self.rest[len(piece) :]


def rewrite(
    model: LlamaModel,
    tokenizer: BytePairTokenizer,
    prefix: str,
    suffix: str,
    n: int,
    max_tokens: int,
    stop: Sequence[str] = ("\n",),
    seed: int = 0,
    cancel: Callable[[], bool] = lambda: False,
) -> list[Rewrite]:
    """Up to `n` different texts for the gap between `prefix` and `suffix`, best first. The first sample is greedy.

    A text ends before the first of the `stop` strings behind its first sign that is not white space; one that finds
    none within `max_tokens`, or half of the model's window, is dropped. `cancel` is asked between passes; cancelled,
    the list is empty.
    """
    kept, forced = cut_back(prefix)
    max_tokens = min(max_tokens, model.limit // 2)
    ids = tokenizer.encode(kept)[-(model.limit - max_tokens - 1) :]
    _, state = model.read(ids, model.start())
    texts = _write(model, tokenizer, state, forced.encode(), n, max_tokens, tuple(stop), seed, cancel)
    if texts is None or cancel():
        return []
    unique = list(dict.fromkeys(texts))
    scores = Scorer(model, tokenizer).spans(prefix, unique, suffix)
    return sorted((Rewrite(text, score) for text, score in zip(unique, scores)), key=lambda one: -one.logprob)


@torch.inference_mode()
def _write(
    model: LlamaModel,
    tokenizer: BytePairTokenizer,
    state: LlamaState,
    forced: bytes,
    n: int,
    max_tokens: int,
    stop: tuple[str, ...],
    seed: int,
    cancel: Callable[[], bool],
) -> list[str] | None:
    """The texts of the branches that reached a stop; None when cancelled. Branch 0 is greedy, the others sampled."""
    speller = speller_of(tokenizer)
    random = torch.Generator().manual_seed(seed)
    branches, live, done = Branches(model, state, n, max_tokens), list(range(n)), []
    drafts = [_Draft(forced) for _ in live]
    logits_BV = model.next_logits(state).expand(n, -1)
    for step in range(max_tokens):
        if cancel():
            return None
        tokens = _choose(logits_BV, [drafts[index].rest for index in live], live[0] == 0, speller, random)
        going = []
        for row, (index, token) in enumerate(zip(live, tokens)):
            drafts[index].write(tokenizer.token_bytes(token))
            text = drafts[index].spelled.decode("utf-8", "replace")
            begun = len(text) - len(text.lstrip())
            ends = [at for end in stop if (at := text.find(end, begun)) >= 0 and begun < len(text)]
            if ends:
                done.append((index, text[: min(ends)]))
            elif token != tokenizer.end_id:
                going.append(row)
        if not going or step == max_tokens - 1:
            break
        if len(going) < len(live):
            branches.keep(going)
            live = [live[row] for row in going]
        tokens_BT = torch.tensor([[tokens[row]] for row in going])
        logits_BV = model.logits(branches.extend(tokens_BT)[:, 0])
    return [text for _, text in sorted(done)]


def _choose(
    logits_BV: torch.Tensor, rests: list[bytes], greedy: bool, speller: Speller, random: torch.Generator
) -> list[int]:
    """One token per branch: nucleus sampling (https://arxiv.org/abs/1904.09751), among the tokens that spell what the
    prompt still forces."""
    if any(rests):
        logits_BV = logits_BV.clone()
        for row, rest in enumerate(rests):
            if rest:
                allowed = speller.allowed(rest)
                kept = logits_BV[row, allowed]
                logits_BV[row] = float("-inf")
                logits_BV[row, allowed] = kept
    top_BK, ids_BK = (logits_BV / TEMPERATURE).topk(64)
    chances_BK = top_BK.softmax(-1)
    before_BK = chances_BK.cumsum(-1) - chances_BK
    picks_B1 = chances_BK.masked_fill(before_BK >= TOP_P, 0).multinomial(1, generator=random)
    if greedy:
        picks_B1[0] = 0
    return ids_BK.gather(1, picks_B1)[:, 0].tolist()
