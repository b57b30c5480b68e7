"""The schemas of tool calls."""

from __future__ import annotations

from typing import Any

import pytest

from model.chat import ChatOptions, Message, Tool, whole
from model.local_chat import LocalChat
from model.schema import calls_schema, closed, mismatch
from tests.model.toy import ChatByteTokenizer, ToyModel

LETTER = Tool(
    "letter",
    "",
    {
        "$id": "https://example.org/letter",
        "type": "object",
        "properties": {"kind": {"$ref": "#/$defs/Kind"}},
        "required": ["kind"],
        "$defs": {"Kind": {"enum": ["a", "b"]}},
    },
)
NUMBER = Tool(
    "number",
    "",
    {
        "type": "object",
        "properties": {"kind": {"$ref": "#/definitions/Kind"}, "default": {"$ref": "#/properties/kind"}},
        "required": ["kind", "default"],
        "definitions": {"Kind": {"type": "integer", "minimum": 1, "maximum": 3}},
    },
)
TREE = Tool(
    "tree",
    "",
    {
        "type": "object",
        "properties": {"value": {"type": "boolean"}, "below": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["value", "below"],
    },
)
TOOLS = [LETTER, NUMBER, TREE]


def wrong(tool: str, **arguments: Any) -> str | None:
    return mismatch([{"name": tool, "arguments": arguments}], calls_schema(TOOLS, True))


def test_every_tool_keeps_its_own_definitions() -> None:
    assert wrong("letter", kind="a") is None and wrong("number", kind=2, default=3) is None
    assert wrong("letter", kind=2) and wrong("number", kind="a", default=1) and wrong("number", kind=1, default="b")


def test_a_schema_may_contain_itself() -> None:
    leaf = {"value": True, "below": []}
    assert wrong("tree", value=False, below=[leaf, {"value": True, "below": [leaf]}]) is None
    assert wrong("tree", value=False, below=[{"value": 1, "below": []}])
    assert wrong("tree", value=False, below=[{**leaf, "more": 1}]), "closed at every depth"


def test_a_schema_without_references_stays_where_it_is() -> None:
    plain = Tool("plain", "", {"type": "object", "properties": {"of": {"const": {"$ref": "#/x"}}}})
    schema = calls_schema([plain], False)
    assert "$defs" not in schema and schema["maxItems"] == 1
    assert schema["items"]["anyOf"][0]["properties"]["arguments"] == closed(dict(plain.parameters))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize("seed", range(3))
def test_local_models_follow_references(tool: Tool, seed: int) -> None:
    chat = LocalChat(ToyModel(vocabulary=259, seed=seed), ChatByteTokenizer())
    options = ChatOptions(max_tokens=200, tool_choice="required", temperature=0.9, seed=seed)
    for offered in ([tool], TOOLS):
        calls = whole(chat.reply([Message("user", "go")], offered, options)).tool_calls
        known = {one.name: one for one in offered}
        assert calls
        for call in calls:
            assert mismatch(call.arguments, closed(dict(known[call.name].parameters))) is None
