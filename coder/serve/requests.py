"""Requests of the OpenAI API: read from JSON, checked, and turned into what our models take.

What cannot be honoured is refused by name, never ignored in silence.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.chat import ChatOptions, Message, Tool, ToolCall

_PLAIN = frozenset({"user", "metadata", "store", "service_tier", "reasoning_effort", "prompt_cache_key"})
_BOTH = frozenset({"model", "stream", "stream_options", "max_tokens", "temperature", "top_p", "seed", "stop", "n"})
_CHAT = _BOTH | {
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "max_completion_tokens",
}
_COMPLETION = _BOTH | {"prompt", "suffix", "echo", "best_of"}


class BadRequest(Exception):
    """The request is wrong or asks for what is not offered here. `field` is the part to blame."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class ChatRequest:
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    options: ChatOptions
    stream: bool
    usage: bool


@dataclass(frozen=True)
class CompletionRequest:
    prompt: str
    suffix: str
    options: ChatOptions
    stream: bool
    usage: bool


def chat_request(body: Any, seed: int) -> ChatRequest:
    """Raises BadRequest. `seed` is for requests that name none."""
    _check_fields(body, _CHAT)
    messages = _typed(body, "messages", list)
    if not messages:
        raise BadRequest("messages must be a list of at least one message", "messages")
    tools = tuple(_tool(one) for one in _typed(body, "tools", list) or ())
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, Mapping):
        choice = _inner(choice, "function", "tool_choice").get("name", "")
    names = {tool.name for tool in tools}
    if not isinstance(choice, str) or choice not in {"auto", "none", "required", *names}:
        raise BadRequest(f"tool_choice {choice!r} is neither auto, none, required nor one of the tools", "tool_choice")
    options = _options(body, seed, tool_choice=choice, schema=_schema(body.get("response_format")))
    if tools and choice != "none" and options.schema is not None:
        raise BadRequest("tools and a response_format of JSON cannot go together: leave one out", "response_format")
    if "max_completion_tokens" in body:
        options = _options(
            {**body, "max_tokens": body["max_completion_tokens"]}, seed, tool_choice=choice, schema=options.schema
        )
    return ChatRequest(tuple(map(_message, messages)), tools, options, *_streaming(body))


def completion_request(body: Any, seed: int) -> CompletionRequest:
    """Raises BadRequest. `seed` is for requests that name none."""
    _check_fields(body, _COMPLETION)
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if not isinstance(prompt, str) or not prompt:
        raise BadRequest("prompt must be one string that is not empty", "prompt")
    if body.get("echo"):
        raise BadRequest("echo is not offered here", "echo")
    suffix = _typed(body, "suffix", str) or ""
    return CompletionRequest(prompt, suffix, _options({"max_tokens": 16, **body}, seed), *_streaming(body))


def _check_fields(body: Any, known: frozenset[str]) -> None:
    if not isinstance(body, Mapping):
        raise BadRequest("the body must be a JSON object")
    for name, value in body.items():
        if name not in known and name not in _PLAIN and value not in (None, 0, False, [], {}):
            raise BadRequest(f"{name} is not offered here", name)
    for name in ("n", "best_of"):
        if body.get(name) not in (None, 1):
            raise BadRequest(f"{name} must be 1", name)


def _options(body: Mapping[str, Any], seed: int, **rest: Any) -> ChatOptions:
    stop = body.get("stop") or ()
    stop = (stop,) if isinstance(stop, str) else tuple(stop) if isinstance(stop, list) else stop
    if not isinstance(stop, tuple) or not all(isinstance(one, str) and one for one in stop):
        raise BadRequest("stop must be a string or a list of strings that are not empty", "stop")
    parallel = body.get("parallel_tool_calls")
    return ChatOptions(
        max_tokens=_number(body, "max_tokens", int, 1024, 1, 1_000_000),
        temperature=_number(body, "temperature", float, 1.0, 0.0, 2.0),
        top_p=_number(body, "top_p", float, 1.0, 1e-6, 1.0),
        seed=_number(body, "seed", int, seed, -(2**63), 2**64),
        stop=stop,
        parallel=parallel is None or bool(parallel),
        cancel=threading.Event(),
        **rest,
    )


def _number(body: Mapping[str, Any], name: str, kind: Any, default: Any, least: float, most: float) -> Any:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, kind)) or not least <= value <= most:
        raise BadRequest(f"{name} must be a number from {least:g} to {most:g}", name)
    return kind(value)


def _typed(body: Mapping[str, Any], name: str, kind: type) -> Any:
    value = body.get(name)
    if value is not None and not isinstance(value, kind):
        raise BadRequest(f"{name} must be a {'list' if kind is list else 'string'}", name)
    return value


def _streaming(body: Mapping[str, Any]) -> tuple[bool, bool]:
    options = body.get("stream_options") or {}
    return bool(body.get("stream")), isinstance(options, Mapping) and bool(options.get("include_usage"))


def _schema(shape: Any) -> Mapping[str, Any] | None:
    """The JSON schema that `response_format` asks for."""
    if shape is None or (isinstance(shape, Mapping) and shape.get("type") == "text"):
        return None
    if isinstance(shape, Mapping) and shape.get("type") == "json_object":
        return {"type": "object"}
    if isinstance(shape, Mapping) and shape.get("type") == "json_schema":
        schema = _inner(shape, "json_schema", "response_format").get("schema", {})
        if isinstance(schema, Mapping):
            return schema
    raise BadRequest("response_format must be text, json_object, or json_schema with a schema", "response_format")


def _inner(value: Mapping[str, Any], name: str, field: str) -> Mapping[str, Any]:
    inner = value.get(name)
    if not isinstance(inner, Mapping):
        raise BadRequest(f"{field} lacks {name!r}", field)
    return inner


def _tool(value: Any) -> Tool:
    function = _inner(value, "function", "tools") if isinstance(value, Mapping) else {}
    name, parameters = function.get("name"), function.get("parameters") or {"type": "object", "properties": {}}
    if not isinstance(name, str) or not name or not isinstance(parameters, Mapping):
        raise BadRequest("each tool must be a function with a name and parameters", "tools")
    return Tool(name, str(function.get("description") or ""), parameters)


def _message(value: Any) -> Message:
    if not isinstance(value, Mapping) or not isinstance(value.get("role"), str):
        raise BadRequest("each message must be an object with a role", "messages")
    content = value.get("content") or ""
    if isinstance(content, list):
        if not all(isinstance(part, Mapping) and part.get("type") == "text" for part in content):
            raise BadRequest("only text can be read here: no images, sounds or files", "messages")
        content = "".join(str(part.get("text", "")) for part in content)
    if not isinstance(content, str):
        raise BadRequest("a message's content must be text", "messages")
    role = {"developer": "system"}.get(value["role"], value["role"])
    if role not in ("system", "user", "assistant", "tool"):
        raise BadRequest(f"unknown role {role!r}", "messages")
    calls = tuple(_call(call) for call in value.get("tool_calls") or ())
    return Message(role, content, calls, str(value.get("tool_call_id") or ""))


def _call(value: Any) -> ToolCall:
    try:
        function = value["function"]
        arguments = json.loads(function["arguments"] or "{}")
        if isinstance(arguments, dict):
            return ToolCall(str(function["name"]), arguments, str(value.get("id") or ""))
    except (KeyError, TypeError, ValueError):
        pass
    raise BadRequest("a tool call in the history is not a function call with a JSON object as arguments", "messages")
