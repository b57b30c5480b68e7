"""The schemas of tool calls, and those that others wrote."""

from __future__ import annotations

import urllib.request
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
NODES = {
    "$defs": {
        "node": {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/node"}}}},
    },
    "$ref": "#/$defs/node",
}


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


def test_references_within_a_schema_are_followed() -> None:
    assert mismatch({"of": [{"of": []}]}, NODES) is None
    assert "$.of[0].of" in (mismatch({"of": [{"of": 1}]}, NODES) or "")
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "integer"}}}
    said = mismatch({"a": "x"}, {**old, "properties": {"a": {"$ref": "#/definitions/n"}}})
    assert said == "$.a: 'x' is not of type 'integer'"


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/x.json", "file:///etc/passwd", "other.json", "//host/x", "#/nowhere", "#nowhere"]
)
def test_nothing_is_fetched(monkeypatch, reference) -> None:
    def fetch(*_: Any, **__: Any) -> None:
        raise AssertionError("fetched")

    monkeypatch.setattr(urllib.request, "urlopen", fetch)
    said = mismatch({"a": 1}, {"properties": {"a": {"$ref": reference}}})
    assert said is not None and said.startswith("the schema itself is wrong") and "fetched" not in said


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "http://["},
        {"$schema": {}, "type": "object"},
        {"type": 5},
        {"properties": {"a": {"pattern": "("}}},
    ],
)
def test_a_schema_that_makes_no_sense_is_said_to_be_wrong(schema) -> None:
    said = mismatch({"a": "x"}, schema)
    assert said is not None and said.startswith("the schema itself is wrong") and "\n" not in said


def test_a_value_that_goes_too_deep_is_no_crash() -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"of": [deep]}
    assert mismatch(deep, NODES) is not None
