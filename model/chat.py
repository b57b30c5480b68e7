"""Conversations: what every chat model is asked and answers, whether it runs here or on a server. Imports no torch."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class ChatError(Exception):
    """The model could not answer; the message says why and what to do."""


class Malformed(ChatError):
    """The model answered, again and again, with something that is no well-formed call or no JSON of the schema."""


@dataclass(frozen=True)
class ToolCall:
    """A call that the model wants made. `arguments` is the parsed JSON object."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Message:
    """One turn. role: "system", "user", "assistant" or "tool" (then `call_id` names the call it answers)."""

    role: str
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True)
class Tool:
    """A function the model may call. `parameters` is a JSON schema of type object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True)
class ChatOptions:
    """How to answer.

    tool_choice: "auto", "none", "required", or the name of the one tool to call. parallel: several calls in one answer.
    schema: the answer is JSON of this schema (and no tool is called). thinking: tokens of reasoning before the answer,
    for models that were taught to; they come as `Thinking` and count apart from `max_tokens`. grounded: a local model
    makes the calls that the user's request spells out, with the values that it says (see `model.calling`); where a call
    is demanded, it takes all values from what was said (see `model.grounding`).
    """

    max_tokens: int = 1024
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    tool_choice: str = "auto"
    parallel: bool = True
    schema: Mapping[str, Any] | None = None
    thinking: int = 0
    grounded: bool = False
    cancel: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Text:
    """The answer goes on."""

    text: str


@dataclass(frozen=True)
class Thinking:
    """The reasoning goes on. Not part of the answer."""

    text: str


@dataclass(frozen=True)
class Done:
    """The last event. reason: "stop", "tool_calls", "length" or "cancelled". Token counts are 0 where unknown."""

    reason: str
    prompt_tokens: int = 0
    answer_tokens: int = 0


ChatEvent = Text | Thinking | ToolCall | Done


class ChatModel(Protocol):
    """Messages and tools in, text and tool calls out.

    Tool calls come whole, name a given tool, and hold a JSON object that its schema admits. Raises ChatError.
    """

    def reply(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), options: ChatOptions = ...
    ) -> Iterator[ChatEvent]: ...


@dataclass(frozen=True)
class Reply:
    """A whole answer."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    thinking: str
    done: Done


def whole(events: Iterator[ChatEvent]) -> Reply:
    """Runs a reply to its end. Raises ChatError."""
    text, thinking, calls, done = [], [], [], Done("cancelled")
    for event in events:
        match event:
            case Text():
                text.append(event.text)
            case Thinking():
                thinking.append(event.text)
            case ToolCall():
                calls.append(event)
            case Done():
                done = event
    return Reply("".join(text), tuple(calls), "".join(thinking), done)
