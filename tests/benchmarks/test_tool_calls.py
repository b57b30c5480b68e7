"""The judge of tool calls: what is malformed and what is right."""

from __future__ import annotations

import pytest

from benchmarks.tool_calls import Asker, Question, as_schema, matches, parse, summary
from model.chat import Message, Tool, ToolCall
from model.schema import mismatch
from tests.model.toy import ChatByteTokenizer, ToyModel

ACCEPTED = [{"area": {"base": [10], "unit": ["cm", ""], "where": [{"x": [1, 2]}]}}]


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ({"base": 10, "unit": "cm", "where": {"x": 2}}, True),
        ({"base": 10.0, "where": {"x": 1}}, True),
        ({"base": 10, "unit": "C.M", "where": {"x": 1}}, True),
        ({"base": 11, "where": {"x": 1}}, False),
        ({"base": 10, "unit": "m", "where": {"x": 1}}, False),
        ({"base": 10}, False),
        ({"base": 10, "where": {"x": 3}}, False),
        ({"base": 10, "where": {"x": 1}, "height": 2}, False),
        ({"base": True, "where": {"x": 1}}, False),
    ],
)
def test_right_is_what_the_accepted_values_say(arguments, right) -> None:
    assert matches([ToolCall("area", arguments)], ACCEPTED) is right


def test_calls_in_any_order_but_all_of_them_and_no_more() -> None:
    accepted = [{"f": {"x": [1]}}, {"f": {"x": [2]}}]
    one, two = ToolCall("f", {"x": 1}), ToolCall("f", {"x": 2})
    assert matches([two, one], accepted)
    assert not matches([one, one], accepted)
    assert not matches([one], accepted)
    assert not matches([one, two, two], accepted)
    assert not matches([ToolCall("g", {"x": 1}), two], accepted)


def test_what_parses() -> None:
    assert parse('[{"name": "f", "arguments": {}}]') == ([ToolCall("f", {})], "")
    assert parse('{"name": "f", "arguments": {}}')[1] == ""
    assert "not JSON" in parse('[{"name": "f"')[1]
    for text in ("[]", "3", '[{"name": "f"}]', '[{"name": "f", "arguments": []}]'):
        assert parse(text)[1] == "not a list of calls"


def test_type_names_become_json_schema() -> None:
    schema = as_schema(
        {"type": "dict", "properties": {"a": {"type": "float"}, "b": {"type": "any"}, "c": {"type": "tuple"}}}
    )
    assert mismatch({"a": 1.5, "b": "x", "c": [1]}, schema) is None
    assert mismatch({"a": "x"}, schema) is not None


@pytest.mark.parametrize("decoder", ["ar", "diffusion", "draft_verify"])
def test_a_random_model_is_never_malformed_under_the_grammar_and_mostly_without(decoder) -> None:
    tool = Tool("area", "", {"type": "object", "properties": {"base": {"type": "integer"}}, "required": ["base"]})
    question = Question("q", "simple", (Message("user", "area?"),), (tool,), [{"area": {"base": [1]}}])
    asker = Asker(ToyModel(vocabulary=259), ChatByteTokenizer())
    on = asker.ask(question, decoder, "on", 90)
    off = asker.ask(question, decoder, "off", 90)
    assert on.malformed == "" and on.right is not None and on.tokens <= 90
    assert off.malformed and off.right is None
    columns, rows = summary([on, off])
    assert [row[3] for row in rows] == ["1 (100.0%)", "0 (0.0%)"] and len(columns) == len(rows[0])
