"""Which tools a request asks for, how often, and with which values."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from model.calling.narrow import planned_tools
from model.calling.plan import Planned, plan
from model.chat import ChatOptions, Message, Tool
from model.schema import mismatch


def tool(name: str, description: str, required: str = "", **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return Tool(name, description, schema)


def string(description: str = "", **rest: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **rest}


def made(calls: list[Planned]) -> list[dict[str, Any]]:
    """The arguments of planned calls, parts of objects by their paths."""
    return [{".".join(path): found.value for path, found in call.values.items()} for call in calls]


NUMBER = {"type": "integer"}
FERRY = tool(
    "book_ferry",
    "Book a ferry crossing.",
    "origin destination day",
    origin=string("Port of departure"),
    destination=string("Port of arrival"),
    day=string("Day of the crossing as YYYY-MM-DD", format="date"),
    cars={"type": "integer", "description": "Number of cars"},
    cabin=string("Class of the cabin", enum=["inside", "outside"]),
    pets={"type": "boolean", "description": "Pets are on board"},
)
PAINT = tool(
    "mix_paint", "Mix a can of paint.", "colour litres", colour=string("Colour, e.g. teal or ochre"), litres=NUMBER
)
ALARM = tool("set_alarm", "Set an alarm clock.", "time", time=string("HH:MM", pattern="^[0-9]{2}:[0-9]{2}$"))
TOOLS = [FERRY, PAINT, ALARM]


def test_values_go_where_words_around_them_say() -> None:
    request = "Please book a ferry from Oslo to Kiel on May 3rd, 2027 with 2 cars and an outside cabin"
    [call] = plan(TOOLS, request)
    assert call.tool is FERRY and call.sure
    assert made([call]) == [
        {"origin": "Oslo", "destination": "Kiel", "day": "2027-05-03", "cars": 2, "cabin": "outside"}
    ]


def test_what_is_not_mentioned_is_left_out_and_what_is_denied_is_false() -> None:
    request = "Book a ferry from Oslo to Kiel on 2027-05-03"
    assert not {"cars", "cabin", "pets"} & made(plan(TOOLS, request))[0].keys()
    assert made(plan(TOOLS, request + " with pets"))[0]["pets"] is True
    assert made(plan(TOOLS, request + " without pets"))[0]["pets"] is False


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("Mix 3 litres of teal paint and then mix 5 litres of ochre paint", [("teal", 3), ("ochre", 5)]),
        ("Mix teal and ochre paint, 3 litres and 5 litres respectively", [("teal", 3), ("ochre", 5)]),
        ("Mix 4 litres of teal paint. Also mix 4 litres of ochre paint.", [("teal", 4), ("ochre", 4)]),
        ("Mix 3 litres of teal paint", [("teal", 3)]),
    ],
)
def test_a_value_too_many_is_another_call(request_: str, wanted: list[tuple[str, int]]) -> None:
    assert [(one["colour"], one["litres"]) for one in made(plan(TOOLS, request_))] == wanted


def test_numbers_that_nothing_names_are_taken_in_order() -> None:
    add = tool("add_numbers", "Add numbers.", "first second", first=NUMBER, second=NUMBER)
    assert made(plan([add], "Add 12 and 30")) == [{"first": 12, "second": 30}]


def test_several_tools_each_with_its_part_of_the_request() -> None:
    calls = plan(TOOLS, "Set an alarm for 6:30 AM, and mix 2 litres of ochre paint.")
    assert [call.tool.name for call in calls] == ["set_alarm", "mix_paint"]
    assert made(calls) == [{"time": "06:30"}, {"colour": "ochre", "litres": 2}]


def test_a_row_is_one_list_and_no_calls() -> None:
    invite = tool("invite", "Invite guests.", "guests", guests={"type": "array", "items": string()})
    assert made(plan([invite], 'Invite "Ann", "Bo" and "Cy"')) == [{"guests": ["Ann", "Bo", "Cy"]}]


def test_relative_days_count_from_today() -> None:
    monday = datetime.date(2027, 5, 3)
    for said, day in {"tomorrow": "2027-05-04", "next monday": "2027-05-10", "this friday": "2027-05-07"}.items():
        assert made(plan(TOOLS, f"Book a ferry from Oslo to Kiel {said}", monday))[0]["day"] == day


def test_the_schema_names_values_itself() -> None:
    clinic = tool(
        "book_clinic",
        "Book a visit.",
        "ward",
        ward=string("The ward. Map 'tooth/teeth' to Dental.", enum=["Dental", "Surgery"]),
        mood=string(enum=["\N{SUN WITH FACE}", "\N{SNOWMAN}"]),
    )
    assert made(plan([clinic], "Book a visit, my tooth aches"))[0]["ward"] == "Dental"
    assert made(plan([clinic], "Book a visit to surgery, with a snowman"))[0]["mood"] == "\N{SNOWMAN}"


def test_a_code_that_only_the_model_could_know_makes_no_call_unless_one_is_demanded() -> None:
    code = string("Two letters, such as 'OC' for Ocean Line", pattern="^[A-Z]{2}$")
    sail = tool("sail", "Sail with a line.", "line", line=code)

    def lines(text: str, choice: str) -> list[Any]:
        planned = planned_tools([sail], [Message("user", text)], ChatOptions(tool_choice=choice))
        return [one.parameters["properties"]["line"] for one in planned]

    assert lines("Sail with Ocean Line", "auto") == [{"enum": ["OC"]}]
    assert lines("Sail with Fjord Line", "auto") == []
    assert lines("Sail with Fjord Line", "required") == [code]


def test_a_request_about_something_else_is_for_no_tool() -> None:
    assert not plan(TOOLS, "Who wrote the first dictionary of Basque?")[0].sure
    assert not plan(TOOLS, "Book a ferry")[0].sure  # from where?
    dose = tool("work_out_dose", "Dose by weight and height.", "weight height", weight=NUMBER, height=NUMBER)
    assert plan([dose], "Work out the dose for a weight of 60 and a height of 170")[0].sure
    assert not plan([dose], "What is the area of a garden with a length of 10 and a height of 5?")[0].sure


def ask(text: str, choice: str = "auto", parallel: bool = True) -> list[Tool]:
    options = ChatOptions(tool_choice=choice, parallel=parallel)
    return planned_tools(TOOLS, [Message("system", "Today is 2027-05-03."), Message("user", text)], options)


def test_a_planned_tool_admits_the_planned_call_and_no_other() -> None:
    [ferry] = ask("Book a ferry from Oslo to Kiel tomorrow")
    right = {"origin": "Oslo", "destination": "Kiel", "day": "2027-05-04"}
    assert mismatch(right, ferry.parameters) is None
    for wrong in ({**right, "day": "2027-05-05"}, {**right, "cars": 1}, {"origin": "Oslo"}):
        assert mismatch(wrong, ferry.parameters) is not None


def test_what_no_value_was_found_for_is_left_to_the_model_where_a_call_is_demanded() -> None:
    assert ask("Book a ferry") == []
    [ferry] = ask("Book a ferry to Kiel", "required")
    assert ferry.parameters["required"] == ["origin", "destination", "day"]


def test_one_call_at_most_where_calls_may_not_be_parallel() -> None:
    request = "Mix 3 litres of teal paint and then mix 5 litres of ochre paint"
    assert len(ask(request)) == 2 and len(ask(request, parallel=False)) == 1


def test_after_a_tools_answer_nothing_is_planned() -> None:
    turns = [Message("user", "Set an alarm for 6:30 AM"), Message("tool", "done")]
    assert planned_tools(TOOLS, turns[:1], ChatOptions()) and not planned_tools(TOOLS, turns, ChatOptions())
