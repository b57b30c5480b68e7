"""Answers of the OpenAI API, whole or in pieces."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

from model.chat import ChatEvent, Done, Reply, Text, Thinking, ToolCall


class Answer:
    """The frame of one answer: its id, its time, its model."""

    def __init__(self, kind: str, model: str) -> None:
        """`kind` is "chat.completion" or "text_completion"."""
        prefix = "chatcmpl" if kind == "chat.completion" else "cmpl"
        self._kind = kind
        self._frame = {"id": f"{prefix}-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}

    def chat(self, reply: Reply) -> dict[str, Any]:
        """A whole reply as an object of type chat.completion."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.thinking:
            message["reasoning_content"] = reply.thinking
        if reply.tool_calls:
            message["tool_calls"] = [_call(call) for call in reply.tool_calls]
        elif reply.text == "":
            message["content"] = ""
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(reply.done)}
        return self._whole(choice, reply.done)

    def completion(self, reply: Reply) -> dict[str, Any]:
        choice = {"index": 0, "text": reply.text, "logprobs": None, "finish_reason": _reason(reply.done)}
        return self._whole(choice, reply.done)

    def chat_pieces(self, events: Iterator[ChatEvent], usage: bool) -> Iterator[str]:
        """Server-sent events of a chat answer, the closing `[DONE]` too."""
        yield self._piece({"delta": {"role": "assistant", "content": ""}})
        calls = 0
        for event in events:
            match event:
                case Text():
                    yield self._piece({"delta": {"content": event.text}})
                case Thinking():
                    yield self._piece({"delta": {"reasoning_content": event.text}})
                case ToolCall():
                    yield self._piece({"delta": {"tool_calls": [{"index": calls, **_call(event)}]}})
                    calls += 1
                case Done():
                    yield self._piece({"delta": {}, "finish_reason": _reason(event)})
                    yield from self._end(event, usage)

    def completion_pieces(self, events: Iterator[ChatEvent], usage: bool) -> Iterator[str]:
        """Server-sent events of a completion, the closing `[DONE]` too."""
        for event in events:
            if isinstance(event, Text):
                yield self._piece({"text": event.text, "logprobs": None})
            elif isinstance(event, Done):
                yield self._piece({"text": "", "logprobs": None, "finish_reason": _reason(event)})
                yield from self._end(event, usage)

    def _piece(self, choice: dict[str, Any]) -> str:
        return _line(
            self._frame | {"object": self._piece_kind, "choices": [{"index": 0, "finish_reason": None, **choice}]}
        )

    @property
    def _piece_kind(self) -> str:
        return "chat.completion.chunk" if self._kind == "chat.completion" else self._kind

    def _end(self, done: Done, usage: bool) -> Iterator[str]:
        if usage:
            yield _line(self._frame | {"object": self._piece_kind, "choices": [], "usage": _usage(done)})
        yield "data: [DONE]\n\n"

    def _whole(self, choice: dict[str, Any], done: Done) -> dict[str, Any]:
        return self._frame | {"object": self._kind, "choices": [choice], "usage": _usage(done)}


def error(message: str, kind: str, field: str = "") -> dict[str, Any]:
    """The body of an answer that is an error."""
    return {"error": {"message": message, "type": kind, "param": field or None, "code": None}}


def error_piece(message: str) -> str:
    """An error in the middle of a stream."""
    return _line(error(message, "server_error"))


def _line(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _reason(done: Done) -> str:
    return "stop" if done.reason == "cancelled" else done.reason


def _usage(done: Done) -> dict[str, int]:
    total = done.prompt_tokens + done.answer_tokens
    return {"prompt_tokens": done.prompt_tokens, "completion_tokens": done.answer_tokens, "total_tokens": total}


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
