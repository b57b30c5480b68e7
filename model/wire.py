"""The OpenAI wire format, seen from a client: what is sent, and answers put together from pieces. Imports no torch."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from model.chat import ChatError, ChatOptions, Message, Text, Thinking, Tool, ToolCall
from model.schema import mismatch


class Draft:
    """An answer as it comes, piece by piece."""

    def __init__(self) -> None:
        self.text = ""
        self.reason = "stop"
        self.usage = (0, 0)
        self._calls: dict[int, dict[str, str]] = {}

    def push(self, piece: Mapping[str, Any]) -> Iterator[Text | Thinking]:
        """Takes the next piece of a stream, or a whole answer; yields what it says. Raises ChatError for one of another
        shape."""
        try:
            yield from self._taken(piece)
        except (AttributeError, TypeError) as error:
            raise _foreign(piece) from error

    def _taken(self, piece: Mapping[str, Any]) -> Iterator[Text | Thinking]:
        if usage := piece.get("usage"):
            self.usage = (usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0)
        for choice in piece.get("choices") or []:
            delta = choice.get("delta") or choice.get("message") or {}
            thought = delta.get("reasoning_content") or delta.get("reasoning")
            if thought and isinstance(thought, str):
                yield Thinking(thought)
            if text := delta.get("content"):
                self.text += text
                yield Text(text)
            for place, part in enumerate(delta.get("tool_calls") or []):
                index = part.get("index")
                call = self._calls.setdefault(
                    place if index is None else index, {"id": "", "name": "", "arguments": ""}
                )
                function = part.get("function") or {}
                call["id"] = part.get("id") or call["id"]
                call["name"] += function.get("name") or ""
                arguments = function.get("arguments") or ""
                call["arguments"] += json.dumps(arguments) if isinstance(arguments, dict) else arguments
            if choice.get("finish_reason") == "length":
                self.reason = "length"

    def json_text(self) -> str:
        """The text without the fence that models like to put around JSON."""
        text = self.text.strip()
        if text.startswith("```"):
            text = text.split("\n", 1)[-1].removesuffix("```").strip()
        return text

    def spelled_calls(self) -> str:
        return "".join(f"\n{call['name']}({call['arguments']})" for call in self._calls.values())

    def checked(self, tools: Sequence[Tool], options: ChatOptions) -> tuple[list[ToolCall], str | None]:
        """The calls, and what is wrong with the answer if anything is."""
        if options.schema is not None:
            try:
                return [], mismatch(json.loads(self.json_text()), options.schema)
            except (ValueError, RecursionError) as error:
                return [], f"not valid JSON: {error}"
        known = {tool.name: tool for tool in tools}
        calls = []
        for call in self._calls.values():
            name = call["name"]
            if name not in known:
                return [], f"there is no tool called {name!r}"
            if options.tool_choice not in ("auto", "required", name):
                return [], f"{name} was called, but tool_choice is {options.tool_choice!r}"
            try:
                arguments = json.loads(call["arguments"] or "{}")
            except (ValueError, RecursionError) as error:
                return [], f"the arguments of {name} are not valid JSON: {error}"
            if not isinstance(arguments, dict):
                return [], f"the arguments of {name} are not a JSON object"
            if wrong := mismatch(arguments, known[name].parameters):
                return [], f"the arguments of {name} do not fit: {wrong}"
            calls.append(ToolCall(name, arguments, call["id"] or f"call_{uuid.uuid4().hex[:16]}"))
        if len(calls) > 1 and not options.parallel:
            return [], f"{len(calls)} tools were called; one at a time is allowed"
        if not calls and options.tool_choice not in ("auto", "none") and tools:
            return [], "a tool call was required, and there is none"
        return calls, None


def pieces(response: httpx.Response) -> Iterator[Mapping[str, Any]]:
    """JSON objects of a server-sent event stream, or of a plain JSON body. Raises ChatError for anything else, and
    httpx.RemoteProtocolError for a stream that ends before the answer does.

    {} stands for a line without data, such as the comments that keep a connection alive: nothing was said, but whoever
    waits can look whether it still wants to.
    """
    if "text/event-stream" not in response.headers.get("content-type", ""):
        response.read()
        yield _object(response.text)
        return
    ended = False
    for line in response.iter_lines():
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        if data == "[DONE]":
            return
        piece: Mapping[str, Any] = _object(data) if data else {}
        ended = ended or any(choice.get("finish_reason") for choice in piece.get("choices") or [])
        yield piece
    if not ended:
        raise httpx.RemoteProtocolError("its stream ended without a finish_reason and without [DONE]")


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    choices = value.get("choices") or [] if isinstance(value, dict) else None
    if (
        not isinstance(value, dict)
        or not isinstance(choices, list)
        or not all(isinstance(one, dict) for one in choices)
    ):
        raise _foreign(text)
    if error := value.get("error"):
        reason = error.get("message", error) if isinstance(error, dict) else error
        raise ChatError(f"the server reports: {_line(reason)}")
    return value


def _foreign(answer: object) -> ChatError:
    return ChatError(f"the server answered with something that is not an OpenAI-style object: {str(answer)[:100]!r}")


def said(response: httpx.Response) -> str:
    """The server's own words about a failure, on one line."""
    try:
        body = response.json()
        error = body.get("error", body.get("detail", body))
        text = str(error.get("message", error) if isinstance(error, dict) else error)
    except (ValueError, AttributeError, RecursionError):
        text = response.text
    return _line(text) or response.reason_phrase


def _line(text: object) -> str:
    return " ".join(str(text).split())[:300]


def words(error: httpx.HTTPError) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def seconds(value: str | None) -> float | None:
    try:
        return max(float(value), 0.0) if value is not None else None
    except ValueError:
        return None


def sampling_fields(options: ChatOptions) -> dict[str, Any]:
    body: dict[str, Any] = {"max_tokens": options.max_tokens, "temperature": options.temperature}
    if options.temperature:
        body |= {"top_p": options.top_p, "seed": options.seed}
    return body | ({"stop": list(options.stop)} if options.stop else {})


def function_field(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def choice_field(choice: str) -> Any:
    return choice if choice in ("auto", "required", "none") else {"type": "function", "function": {"name": choice}}


def message_fields(message: Message) -> dict[str, Any]:
    """A message as the OpenAI API spells it."""
    body: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        body["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.role == "tool":
        body["tool_call_id"] = message.call_id
    return body
