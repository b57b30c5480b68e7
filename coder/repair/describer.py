"""The thread that asks a chat model for described patches, while candidates of other kinds are tried."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coder import events
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Proposal
from coder.repair.described import Unusable, patch_in

if TYPE_CHECKING:
    from coder.repair.text import Text
    from model.chat import ChatModel

# How often it is asked anew, and how boldly it answers each time.
TEMPERATURES = (0.0, 0.6, 1.0)
TOKENS = 4096
_TOLD = 500  # characters of thinking between two events


@dataclass(frozen=True)
class Chat:
    """A chat model and its name for people. `more` are texts to read before the code, in the order of reading."""

    model: ChatModel
    name: str
    more: Mapping[str, str]


class Describer(threading.Thread):
    """Asks some times; each answer is repaired at most once. `failure` is why no answer could be had at all."""

    def __init__(
        self,
        chat: Chat,
        asked: tuple[str, str],
        sources: Mapping[str, Text],
        propose: Callable[[Proposal], None],
        listener: events.Listener,
    ) -> None:
        from model.chat import ChatOptions

        super().__init__(name="describer", daemon=True)
        self._chat, self._asked, self._sources = chat, asked, sources
        self._propose, self._listener = propose, listener
        self._options = ChatOptions(max_tokens=TOKENS, thinking=TOKENS)
        self.failure: Failure | None = None

    def stop(self) -> None:
        self._options.cancel.set()

    def run(self) -> None:
        from model.chat import ChatError

        seen: set[Any] = set()
        try:
            for number, temperature in enumerate(TEMPERATURES):
                proposal = self._patch(number, temperature)
                if self._options.cancel.is_set():
                    return
                if proposal is not None and proposal.edits not in seen:
                    seen.add(proposal.edits)
                    self._propose(proposal)
        except ChatError as error:
            hint = "Check --endpoint and --model, or search without: --no-model."
            self.failure = Failure(ExitStatus.MODEL_FAILED, str(error), hint)

    def _patch(self, number: int, temperature: float) -> Proposal | None:
        """One answer, sent back once where it is unusable. Raises ChatError."""
        from model.chat import Message

        rules, question = self._asked
        turns = [Message("system", rules), Message("user", question)]
        for last in (False, True):
            answer = self._answer(turns, number, temperature)
            try:
                return patch_in(answer, self._sources)
            except Unusable as wrong:
                if self._options.cancel.is_set():
                    return None
                if last:
                    self._listener(events.Notice(f"{self._chat.name} gave no patch that could be tried: {wrong}"))
                    return None
                back = f"That cannot be used: {wrong}. Give the whole JSON object again, and nothing else."
                turns = [*turns, Message("assistant", answer), Message("user", back)]
        return None

    def _answer(self, turns: Sequence[Any], number: int, temperature: float) -> str:
        from model.chat import Text, Thinking

        options = replace(self._options, temperature=temperature, top_p=0.95 if temperature else 1.0, seed=number)
        written: list[str] = []
        thought = told = 0
        for event in self._chat.model.reply(turns, (), options):
            if isinstance(event, Thinking):
                thought += len(event.text)
                if thought - told >= _TOLD or not told:
                    told = thought
                    self._listener(events.Thinking(self._chat.name, thought))
            elif isinstance(event, Text):
                written.append(event.text)
        text = "".join(written)
        self._listener(events.Block("described", number + 1, len(TEMPERATURES), 0, 0.0, text))
        return text
