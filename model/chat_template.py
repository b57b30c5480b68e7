"""Messages and tools as a model reads them: ChatML with tools in the manner of Hermes, as SmolLM2 and Qwen know it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from model.chat import ChatError, Message, Tool, ToolCall

CALL_BEGIN, CALL_END = "<tool_call>", "</tool_call>"
THINK_BEGIN, THINK_END = "<think>", "</think>"

_SYSTEM = "You are a helpful assistant."  # where a conversation has no system message
_TOOLS = """You can call functions. Their names, descriptions and JSON schemas:
<tools>
{tools}
</tools>
To call some, answer with a JSON list between {begin} and {end}, like
{begin}[{{"name": "function", "arguments": {{"parameter": "value"}}}}]{end}
and nothing else. If none of them helps, answer in words."""


class ChatML:
    """Ids of conversations for a tokenizer that has the ChatML control tokens. Raises ChatError where it has not.

    Text never turns into control tokens: the tokenizer's `encode` gives ordinary ids for whatever a user writes.
    """

    def __init__(self, tokenizer: Any) -> None:
        special = getattr(tokenizer, "special", {})
        if not {"<|im_start|>", "<|im_end|>"} <= special.keys():
            raise ChatError(
                "this model has no chat template (ChatML): use it for completion, or choose an instruct model"
            )
        self._begin, self.end = special["<|im_start|>"], special["<|im_end|>"]
        self._encode = tokenizer.encode

    def render(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Ids of the conversation with the assistant's turn opened."""
        system = "\n\n".join(message.content for message in messages if message.role == "system") or _SYSTEM
        if tools:
            system += "\n\n" + _TOOLS.format(tools="\n".join(map(_describe, tools)), begin=CALL_BEGIN, end=CALL_END)
        ids = self._turn("system", system)
        for message in messages:
            match message.role:
                case "system":
                    continue
                case "user":
                    ids += self._turn("user", message.content)
                case "assistant":
                    ids += self._turn("assistant", message.content + spell_calls(message.tool_calls))
                case "tool":
                    ids += self._turn("user", f"<tool_response>\n{message.content}\n</tool_response>")
                case other:
                    raise ChatError(f"a message has the role {other!r}: use system, user, assistant or tool")
        return [*ids, self._begin, *self._encode("assistant\n")]

    def _turn(self, role: str, content: str) -> list[int]:
        return [self._begin, *self._encode(f"{role}\n{content}"), self.end, *self._encode("\n")]


def spell_calls(calls: Sequence[ToolCall]) -> str:
    """Calls as the model writes them; nothing where there are none."""
    if not calls:
        return ""
    listed = [{"name": call.name, "arguments": dict(call.arguments)} for call in calls]
    return f"{CALL_BEGIN}{json.dumps(listed, ensure_ascii=False, separators=(',', ':'))}{CALL_END}"


def _describe(tool: Tool) -> str:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False)
