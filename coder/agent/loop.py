"""The conversation: ask the model, make its calls, tell it what came of them, until it ends or a budget does.

The shape (run, step, query, execute; limits as exceptions; saved after every step) is that of SWE-agent/mini-swe-agent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from coder.agent import events
from coder.agent.budget import Budget, Exhausted
from coder.agent.observation import Observation, Standing, bounded, encodable, marked
from coder.agent.prompt import NO_CALL, fitting, size
from coder.agent.repeats import Failures
from coder.agent.toolbox import Toolbox
from coder.events import Listener
from sandbox.text import clean

if TYPE_CHECKING:
    from model.chat import ChatModel, ChatOptions, Message, Reply, ToolCall

MOST_SILENT = 3
"""Answers in a row without a call that could be made."""
_SHOWN = 2_000

Record = Callable[[Sequence["Message"], Sequence[dict[str, Any]], int], None]


class How(Enum):
    """How a conversation ended."""

    FINISHED = "finished"
    GIVEN_UP = "given up"
    EXHAUSTED = "budget used up"
    SILENT = "the model stopped calling tools"


@dataclass(frozen=True)
class Ending:
    """`message` is the model's summary, or which budget is used up, or what was wrong with its last answer."""

    how: How
    message: str


class _Silent(Exception):
    """The model has not called a tool for too long."""


@dataclass
class Conversation:
    """`messages` grows; each step goes to `record` with what became of its calls. `room` is how many characters of the
    conversation the model is shown. Raises ChatError when the model cannot be asked."""

    model: ChatModel
    toolbox: Toolbox
    budget: Budget
    messages: list[Message]
    record: Record
    options: ChatOptions
    redact: Callable[[str], str]
    mark: str
    listener: Listener
    room: int = 300_000

    def __post_init__(self) -> None:
        self._failures = Failures()
        self._silent = 0
        self._ending: Ending | None = None

    def run(self) -> Ending:
        """Steps until the model ends the task, the budget is used up, or no usable call comes. Raises ChatError."""
        self._ending = None
        self._silent = 0
        self.options = replace(self.options, cancel=threading.Event())
        deadline = threading.Timer(self.budget.left_s, self.options.cancel.set)
        deadline.daemon = True
        deadline.start()
        try:
            while self._ending is None:
                self.budget.check()
                self.step()
            return self._ending
        except Exhausted as exhausted:
            return Ending(How.EXHAUSTED, str(exhausted))
        except _Silent as silent:
            return Ending(How.SILENT, str(silent))
        finally:
            deadline.cancel()

    def step(self) -> None:
        """One answer of the model and all that follows from it. Raises Exhausted when time ran out meanwhile."""
        from model.chat import ChatError, Malformed, Message

        self.budget.steps += 1
        try:
            reply = self.query()
        except Malformed as malformed:
            self._without_call([], str(malformed))
            return
        except ChatError:
            self.budget.check()  # a model that is cut off at the end of the time has not failed
            raise
        if reply.done.reason == "cancelled":
            raise Exhausted("the time is used up")
        answer = Message("assistant", reply.text, reply.tool_calls)
        if not reply.tool_calls:
            self._without_call([answer], "")
            return
        self._silent = 0
        results, notes = [], []
        for call in reply.tool_calls:
            observation = self.execute(call)
            results.append(Message("tool", marked(observation, self.redact, self.mark), (), call.id))
            notes.append(
                {"tool": call.name, "standing": observation.standing.value, "note": self.redact(observation.note)}
            )
        self._add([answer, *results], notes)

    def query(self) -> Reply:
        """What the model answers. Raises ChatError."""
        from model.chat import whole

        shown = fitting(self.messages, self.room)
        reply = whole(iter(self.model.reply(shown, self.toolbox.offered(), self.options)))
        used = reply.done.prompt_tokens + reply.done.answer_tokens
        self.budget.tokens += used or (sum(map(size, shown)) + len(reply.text)) // 4
        if reply.thinking:
            self.listener(events.Thought(self.budget.steps, self.redact(reply.thinking)))
        if reply.text.strip():
            self.listener(events.Said(self.budget.steps, self.redact(reply.text.strip())))
        return replace(reply, text=self._plain(reply.text))

    def execute(self, call: ToolCall) -> Observation:
        """Makes the call, unless it failed before and nothing has changed since."""
        step, version = self.budget.steps, self.toolbox.workspace.version
        self.listener(events.Called(step, call.name, call.arguments))
        if self._ending is not None:
            observation = Observation(Standing.REFUSED, "the task is finished", "the task is finished")
        elif reason := self._failures.known(call.name, call.arguments, version):
            text = f"this very call failed before and nothing has changed since: {reason}"
            observation = Observation(Standing.REFUSED, text, text)
        else:
            observation = self.toolbox(call)
            if observation.standing is not Standing.DONE:
                reason = bounded(observation.note or observation.text, 300)
                self._failures.add(call.name, call.arguments, self.toolbox.workspace.version, reason)
            elif call.name == "finish":
                how = How.FINISHED if call.arguments.get("done", True) else How.GIVEN_UP
                self._ending = Ending(how, self._plain(observation.text))
        told = bounded(self.redact(observation.text), _SHOWN)
        note = self.redact(observation.note)
        self.listener(events.Observed(step, call.name, observation.standing.value, note, told))
        return observation

    def _without_call(self, answer: list[Message], problem: str) -> None:
        from model.chat import Message

        self._silent += 1
        problem = self._plain(problem or "no tool was called")
        self.listener(events.Malformed(self.budget.steps, problem))
        back = f"{problem}\n{NO_CALL}" if not answer else NO_CALL
        self._add([*answer, Message("user", back)], [{"tool": "", "standing": "malformed", "note": problem}])
        if self._silent >= MOST_SILENT:
            raise _Silent(problem)

    def _plain(self, text: str) -> str:
        return encodable(clean(self.redact(text)))

    def _add(self, messages: list[Message], notes: list[dict[str, Any]]) -> None:
        self.messages += messages
        self.record(messages, notes, self.budget.tokens)
