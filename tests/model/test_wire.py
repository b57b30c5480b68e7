"""Answers of another shape than the API's: said in one line, never a traceback."""

from __future__ import annotations

import httpx
import pytest

from model.chat import ChatError, ChatOptions, Text, Thinking, Tool, ToolCall
from model.endpoint import Endpoint
from model.wire import Draft, pieces

CLOCK = Tool("clock")


@pytest.mark.parametrize(
    "delta",
    [
        "text",
        {"content": 5},
        {"content": [{"type": "text", "text": "a"}]},
        {"tool_calls": [5]},
        {"tool_calls": 5},
        {"tool_calls": [{"index": {}, "function": {"name": "clock"}}]},
        {"tool_calls": [{"index": 0, "function": "clock"}]},
        {"tool_calls": [{"index": 0, "function": {"name": 5}}]},
    ],
)
def test_a_piece_of_another_shape_is_refused(delta: object) -> None:
    with pytest.raises(ChatError, match="not an OpenAI-style object"):
        list(Draft().push({"choices": [{"delta": delta}]}))


def test_usage_of_another_shape_is_refused_and_strange_reasoning_left_out() -> None:
    with pytest.raises(ChatError, match="not an OpenAI-style object"):
        list(Draft().push({"usage": 5}))
    said = [{"choices": [{"delta": {"reasoning": thought, "content": "a"}}]} for thought in ({"steps": []}, "hm")]
    assert [event for one in said for event in Draft().push(one)] == [Text("a"), Thinking("hm"), Text("a")]


@pytest.mark.parametrize("body", ['{"choices": [null]}', '{"choices": "x"}', "[]", "5"])
def test_choices_of_another_shape_are_refused(body: str) -> None:
    for kind, content in (("application/json", body), ("text/event-stream", f"data: {body}\n\n")):
        response = httpx.Response(200, headers={"content-type": kind}, text=content)
        with pytest.raises(ChatError, match="not an OpenAI-style object"):
            list(pieces(response))


def test_calls_without_an_index_and_with_arguments_as_an_object_are_understood() -> None:
    parts = [{"index": None, "id": name, "function": {"name": "clock", "arguments": {"zone": name}}} for name in "ab"]
    draft = Draft()
    list(draft.push({"choices": [{"message": {"tool_calls": parts}}]}))
    calls = [ToolCall("clock", {"zone": name}, name) for name in "ab"]
    assert draft.checked([CLOCK], ChatOptions()) == (calls, None)


@pytest.mark.parametrize("listed", [None, 5, "x", [5, None], {"id": "m"}])
def test_a_list_of_models_of_another_shape_is_empty(monkeypatch: pytest.MonkeyPatch, listed: object) -> None:
    monkeypatch.setattr(Endpoint, "_request", lambda *_: iter([{"data": listed}]))
    assert Endpoint("http://x/v1", "m").models() == []
