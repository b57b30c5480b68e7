"""Argument values out of the conversation."""

from __future__ import annotations

from model.chat import Message, Tool
from model.grounding import grounded, numbers, spans
from model.schema import mismatch

SAID = "Book a table for two at the Old Mill, 12.5% off, on May 3 for 'Ann B.'. Cost: 1,200 euros."


def test_spans_are_runs_of_words_within_a_sentence() -> None:
    found = spans(SAID)
    assert "Old Mill" in found and "Ann B." in found and "May 3" in found and "1,200 euros" in found
    assert not any("Cost" in one and "Ann" in one for one in found)
    assert not any(one.casefold().startswith(("the ", "for ", "a ")) for one in found)


def test_numbers_in_digits_words_and_percent() -> None:
    assert set(numbers(SAID)) == {12.5, 0.125, 3.0, 1200.0, 2.0}
    assert numbers("version v2, a1") == []


def test_a_grounded_tool_admits_only_what_was_said() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "place": {"type": "string"},
            "people": {"type": "integer", "default": 1},
            "share": {"type": "number"},
            "kind": {"type": "string", "enum": ["indoors", "outdoors"]},
            "names": {"type": "array", "items": {"type": "string"}},
            "sure": {"type": "boolean"},
        },
    }
    (tool,) = grounded([Tool("book", "", parameters)], [Message("system", "at Home"), Message("user", SAID)])

    def admits(**arguments: object) -> bool:
        return mismatch(arguments, tool.parameters) is None

    assert admits(place="Old Mill", people=2, share=0.125, kind="outdoors", names=["Ann B."], sure=False)
    assert admits(people=1)
    assert not admits(place="Home") and not admits(people=4) and not admits(share=0.5) and not admits(names=["Bob"])


def test_without_anything_said_a_schema_stays_as_it_is() -> None:
    tool = Tool("wait", "", {"type": "object", "properties": {"seconds": {"type": "integer"}}})
    assert grounded([tool], [Message("user", "please wait")]) == [tool]


def test_strange_defaults_and_endless_numbers_are_left_out() -> None:
    properties = {
        "many": {"type": "integer", "default": {}},
        "word": {"type": "string", "default": []},
        "sum": {"type": "number", "default": None},
    }
    (tool,) = grounded(
        [Tool("t", "", {"type": "object", "properties": properties})], [Message("user", "9" * 400 + " 7")]
    )
    found = {name: one["enum"] for name, one in tool.parameters["properties"].items()}
    assert found["many"] == found["sum"] == [7] and [] not in found["word"]
