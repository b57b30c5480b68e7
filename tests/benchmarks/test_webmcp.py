"""The judge of the WebMCP conversations."""

from __future__ import annotations

import json

import pytest

from benchmarks.webmcp import evaluate, load, matches, summary
from model.chat import ChatOptions, Done, Text, ToolCall

SHORT = ChatOptions(max_tokens=10)


class Follows:
    """Makes the calls of a script, one answer each; None answers with text."""

    def __init__(self, *script) -> None:
        self.script = list(script)
        self.turns = []

    def reply(self, messages, tools=(), options=None):
        self.turns.append(messages)
        call = self.script.pop(0)
        yield Text("hm") if call is None else ToolCall(*call)
        yield Done("stop")


@pytest.fixture
def page(tmp_path):
    folder = tmp_path / "door"
    folder.mkdir()
    tools = [{"name": "open", "inputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}}}]
    (folder / "schema.json").write_text(json.dumps({"tools": tools}))
    before = [
        {"role": "user", "type": "message", "content": "first"},
        {"role": "model", "type": "functioncall", "name": "open", "arguments": {"number": 1}},
        {"role": "user", "type": "functionresponse", "name": "open", "response": {"result": "ok"}},
        {"role": "user", "type": "message", "content": "then two and three"},
    ]
    wanted = [{"functionName": "open", "arguments": {"number": n}} for n in (2, 3)]
    rows = [
        {"name": "two", "messages": before, "expectedCall": wanted},
        {"messages": before[:1], "expectedCall": None},
    ]
    (folder / "evals.json").write_text(json.dumps(rows))
    [(tools, cases)] = load(tmp_path, "all")
    return tools, cases


def test_a_sequence_of_calls(page) -> None:
    tools, (case, _) = page
    model = Follows(("open", {"number": 2}, "a"), ("open", {"number": 3}, "b"))
    result = evaluate(model, tools, case, SHORT)
    assert result.right and result.made == 2
    assert [turn.role for turn in model.turns[1]][-2:] == ["assistant", "tool"]
    assert model.turns[0][3].call_id == model.turns[0][2].tool_calls[0].id
    wrong = evaluate(Follows(("open", {"number": 2}), ("open", {"number": 2})), tools, case, SHORT)
    assert not wrong.right and wrong.made == 1
    assert evaluate(Follows(None), tools, case, SHORT).made == 0


def test_where_no_tool_helps_none_is_right(page) -> None:
    tools, (_, case) = page
    assert evaluate(Follows(None), tools, case, SHORT).right
    wrong = evaluate(Follows(("open", {"number": 2})), tools, case, SHORT)
    assert not wrong.right
    assert summary([wrong])[1][-1] == ["all", "1", "0/0", "0/1"]


@pytest.mark.parametrize(
    ("given", "wanted", "fits"),
    [
        ("at Ginno's", {"$contains": "Ginno's"}, True),
        ("at home", {"$contains": "Ginno's"}, False),
        ("abc", {"$pattern": "^a.c$"}, True),
        (3, {"$gte": 3, "$lt": 4}, True),
        (3, {"$unheard": 3}, False),
        (3.0, 3, True),
        (True, 1, False),
        ({"a": [1]}, {"a": [1]}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
    ],
)
def test_matchers(given, wanted, fits) -> None:
    assert matches(given, wanted) is fits
