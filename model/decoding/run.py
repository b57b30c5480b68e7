"""One request while it is being answered: what decoders share whatever order they write in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from model.decoding.choice import Choice, Chooser
from model.decoding.healing import advance, speller_of
from model.decoding.request import Finished, Generation, Reason, Settled
from model.decoding.text_stream import TextStream
from model.protocol import Tokenizer

if TYPE_CHECKING:
    from model.decoding.grammar import Guide


class Run:
    """Chooses tokens for the next open position, settles them, and knows when the text is over.

    Raises GrammarError when `max_tokens` cannot hold even the shortest text of the grammar.
    """

    def __init__(self, tokenizer: Tokenizer, request: Generation, guide: Guide | None = None) -> None:
        """`guide` has followed what was written before, where this run goes on with a text of the grammar."""
        self.request = request
        self.ends = frozenset((tokenizer.end_id, *getattr(tokenizer, "ends", ()), *request.ends))
        self.written: list[int] = []
        self.reason: Reason | None = None
        self.passes = self.drafted = self.accepted = 0
        if guide is None and request.grammar is not None:
            guide = request.grammar.guide(request.max_tokens, self.ends)
        self.guide = guide
        self._tokenizer = tokenizer
        self._rest = request.begin  # what must still be spelled
        self._solid = request.solid  # whether white space must not come behind it, and nothing has come yet
        self._confidence = 1.0
        self._chooser = Chooser(request.temperature, request.top_p, request.seed)
        self._text = TextStream(tokenizer, () if request.grammar else request.stop)

    @property
    def left(self) -> int:
        """How many more tokens may be written."""
        return self.request.max_tokens - len(self.written)

    @property
    def going(self) -> bool:
        """Whether there is more to write. Looks at the cancel flag."""
        if self.reason is None and self.request.cancel.is_set():
            self.reason = Reason.CANCELLED
        return self.reason is None

    @property
    def beginning(self) -> bool:
        """Whether what the text must begin with, or must not, still decides about the next token."""
        return bool(self._rest) or self._solid

    def choose(self, logits_V: torch.Tensor) -> Choice:
        """The token for the next open position, allowed by the grammar and leaving it room to close."""
        choice = self._choose(logits_V)
        self._confidence = choice.confidence
        return choice

    def _choose(self, logits_V: torch.Tensor) -> Choice:
        if self._rest or self._solid:
            return self._begun(logits_V)
        if self.guide is None:
            return self._chooser.one(logits_V, len(self.written))
        choice = self._chooser.one(logits_V, len(self.written), self.guide.allowed(logits_V.shape[-1]))
        token = self.guide.admit(choice.token)
        return choice if token == choice.token else Choice(token, 1.0)

    def _begun(self, logits_V: torch.Tensor) -> Choice:
        """A token that spells the forced beginning, or what may stand behind it. White space that is unwanted there
        still counts in the confidence."""
        speller, possible_V = speller_of(self._tokenizer), logits_V.float()
        if self._rest:
            spelled = speller.allowed(self._rest).to(logits_V.device)
            possible_V = torch.full_like(possible_V, -torch.inf).index_copy(0, spelled, possible_V[spelled])
        wanted_V = possible_V > -torch.inf
        if self._solid:
            wanted_V[speller.blank(len(self._rest)).to(logits_V.device)] = False
        choice = self._chooser.one(possible_V, len(self.written), wanted_V)
        return Choice(choice.token, float(torch.exp(possible_V[choice.token] - possible_V.logsumexp(0))))

    def guess(self, logits_TV: torch.Tensor, ahead: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens [T] and probabilities [T] for positions from the `ahead`-th open one on, blind to the grammar."""
        return self._chooser.many(logits_TV, len(self.written) + ahead)

    def settle(self, token: int) -> Settled:
        """Writes `token` at the next open position."""
        if token in self.ends:
            self.reason = Reason.STOP
            return Settled((), self._text.close())
        self.written.append(token)
        piece = self._tokenizer.token_bytes(token)
        self._solid = self._solid and len(piece) <= len(self._rest)
        self._rest = advance(self._rest, piece)
        text = self._text.push(token)
        if self.guide is not None:
            self.guide.advance(token)
        if self._text.stopped or (self.guide is not None and self.guide.complete):
            self.reason = Reason.STOP
        elif self.left == 0:
            self.reason = Reason.LENGTH
        if self.reason is not None:
            text += self._text.close()
        return Settled((token,), text, (self._confidence,))

    def finish(self) -> Finished:
        """The last event. Text that was held back is lost only where the run was cancelled."""
        return Finished(
            self.reason or Reason.CANCELLED,
            tokens=len(self.written),
            passes=self.passes,
            drafted=self.drafted,
            accepted=self.accepted,
            closed=self.guide is not None and self.guide.forced,
        )
