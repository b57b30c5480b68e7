"""Kinds of values and of requests that once went wrong, one test each."""

from __future__ import annotations

from typing import Any

import pytest

from model.calling.airports import airport
from model.calling.codes import country, currency, language
from model.calling.plan import plan
from tests.model.calling.test_plan import NUMBER, made, string, tool

FLOAT = {"type": "number"}
CHANGE = tool(
    "change_money",
    "Change money from one currency into another.",
    "amount from_currency to_currency",
    amount=FLOAT,
    from_currency=string("The currency to change"),
    to_currency=string("The currency to get"),
)
TIDE = tool(
    "get_tide",
    "Get the tide at a harbour.",
    "harbour days",
    harbour=string("Name of the harbour"),
    days={"type": "integer", "description": "Number of days"},
    unit=string(enum=["metre", "foot"]),
)
WIND = tool("get_wind", "Get the wind at a harbour.", "harbour", harbour=string("Name of the harbour"))


def test_currencies_languages_countries_and_airports_have_codes() -> None:
    assert [currency(one) for one in ("euros", "Swiss francs", "usd", "shells")] == ["EUR", "CHF", "USD", None]
    assert [language(one) for one in ("Finnish", "Elvish")] == ["fi", None]
    assert [country(one) for one in ("greek", "martian")] == ["Greece", None]
    assert [airport(one) for one in ("Oslo", "Haneda Airport", "Hobbiton")] == ["OSL", "HND", None]


@pytest.mark.parametrize(
    "request_", ["Change 80 euros into Swiss francs", "How many Swiss francs do I get for 80 euros?"]
)
def test_what_is_changed_stands_behind_its_amount(request_: str) -> None:
    assert made(plan([CHANGE], request_)) == [{"amount": 80, "from_currency": "EUR", "to_currency": "CHF"}]


def test_airports_where_the_schema_asks_for_codes() -> None:
    code = string("IATA code of the airport", pattern="^[A-Z]{3}$")
    fly = tool("find_flights", "Find flights.", "origin destination", origin=code, destination=code)
    assert made(plan([fly], "Find flights from Helsinki to Lisbon")) == [{"origin": "HEL", "destination": "LIS"}]


def test_a_tool_that_undoes_is_for_requests_that_say_so() -> None:
    flower = string(enum=["rose", "lily"])
    tools = [
        tool("remove_flower", "Remove a flower from the bunch.", "flower", flower=flower),
        tool("put_flower", "Put a flower into the bunch.", "flower", flower=flower, count=NUMBER),
    ]
    assert [one.tool.name for one in plan(tools, "I want 12 roses")] == ["put_flower"]
    assert made(plan(tools, "I want 12 roses")) == [{"flower": "rose", "count": 12}]
    assert [one.tool.name for one in plan(tools, "Drop the lily")] == ["remove_flower"]


def test_a_count_in_letters_is_no_value_where_digits_are() -> None:
    multiply = tool("multiply", "Multiply two numbers.", "num1 num2", num1=NUMBER, num2=NUMBER)
    request = "Ida and Bo each pick two numbers to multiply. Ida picks 14 and 9, while Bo picks 21 and 6."
    assert made(plan([multiply], request)) == [{"num1": 14, "num2": 9}, {"num1": 21, "num2": 6}]
    herbs = tool("list_herbs", "List herbs.", "garden", garden=string("Name of the garden"), herb_count=NUMBER)
    assert made(plan([herbs], "List three herbs of the garden 'Kew'")) == [{"garden": "Kew", "herb_count": 3}]


def test_a_unit_of_two_parts_is_not_that_of_one() -> None:
    fall = tool(
        "time_to_fall",
        "Time that a stone falls.",
        "height",
        height={"type": "integer", "description": "Height in m"},
        pull={"type": "number", "description": "Acceleration in m/s^2"},
    )
    assert made(plan([fall], "How long does a stone fall over 50 m?")) == [{"height": 50}]


def test_a_place_and_where_it_lies_are_one_value() -> None:
    inn = tool("find_inn", "Find an inn.", "town", town=string("City and state, e.g. Salem, OR"))
    assert made(plan([inn], "Find an inn near Burlington, Vermont with a garden")) == [{"town": "Burlington, Vermont"}]
    city = tool("find_inn", "Find an inn.", "city", city=string("The city"))
    assert made(plan([city], "Find an inn in Burlington, VT")) == [{"city": "Burlington"}]


def test_a_row_over_two_clauses_is_one_list() -> None:
    birds = {"type": "array", "items": {"type": "string"}, "description": "Names of birds, such as 'Great Tit'"}
    count = tool("count_birds", "Count birds.", "birds hours", birds=birds, hours=NUMBER)
    assert made(plan([count], "Count the Great Tit and the Blue Jay over the last 6 hours")) == [
        {"birds": ["Great Tit", "Blue Jay"], "hours": 6}
    ]


def test_a_list_of_choices_holds_all_that_are_named() -> None:
    choices = {"type": "array", "items": {"type": "string", "enum": ["tolls", "ferries", "gravel"]}}
    route = tool("plan_route", "Plan a route.", "end", end=string("Where to"), avoid=choices)
    assert made(plan([route], "Plan a route to Narvik avoiding gravel and toll roads")) == [
        {"end": "Narvik", "avoid": ["gravel", "tolls"]}
    ]


def test_what_a_colon_announces_goes_up_to_the_end() -> None:
    say = tool("read_aloud", "Read a text aloud.", "text", text=string("The text to read"))
    assert made(plan([say], "Read this aloud: the ship sails at noon")) == [{"text": "the ship sails at noon"}]


def test_a_flag_is_about_its_own_word() -> None:
    crew = tool(
        "get_ship",
        "Get a ship, with its crew if wanted.",
        "ship",
        ship=string("The ship's name"),
        include_crew={"type": "boolean"},
    )
    assert made(plan([crew], "Get the ship 'Fram' and its crew")) == [{"ship": "Fram", "include_crew": True}]


def test_calls_of_several_tools_come_in_the_order_of_the_request() -> None:
    request = "Get the wind at Hull, get the tide at Dover for 3 days, and get the wind at Cork."
    calls = plan([TIDE, WIND], request)
    assert [(one.tool.name, made([one])[0]) for one in calls] == [
        ("get_wind", {"harbour": "Hull"}),
        ("get_tide", {"harbour": "Dover", "days": 3}),
        ("get_wind", {"harbour": "Cork"}),
    ]


def test_the_same_value_again_and_one_for_all() -> None:
    request = "Get the tide at Dover for 3 days and then get the wind at the same harbour."
    assert made(plan([TIDE, WIND], request))[1] == {"harbour": "Dover"}
    request = "Get the tide at Dover, also get the tide at Hull, both for 4 days."
    assert [one["days"] for one in made(plan([TIDE], request))] == [4, 4]


def test_an_undemanded_call_needs_more_than_words_that_nothing_speaks_for() -> None:
    stall = tool("price_of_plant", "Price of a plant at a stall.", "plant stall", plant=string(), stall=string())
    request = "What is the best time to price a plant?"
    assert not any(one.sure for one in plan([stall], request))


def test_one_of_each_by_one_of_each_unless_they_go_together() -> None:
    request = "Get the tide at Dover and Hull for 3, 5 and 7 days"
    calls = made(plan([TIDE], request))
    wanted = [(harbour, days) for harbour in ("Dover", "Hull") for days in (3, 5, 7)]
    assert sorted((one["harbour"], one["days"]) for one in calls) == wanted
    calls = made(plan([TIDE], "Get the tide at Dover and Hull for 3 and 5 days respectively"))
    assert [(one["harbour"], one["days"]) for one in calls] == [("Dover", 3), ("Hull", 5)]


def test_groups_in_brackets_are_calls() -> None:
    join = tool("join_points", "Join two points.", "num1 num2", num1=NUMBER, num2=NUMBER)
    assert made(plan([join], "Join the points (4, 15) and (23, 42)")) == [
        {"num1": 4, "num2": 15},
        {"num1": 23, "num2": 42},
    ]


def test_a_unit_to_answer_in() -> None:
    speed = tool("get_speed", "Speed over a distance.", "distance", distance=NUMBER, unit=string("Unit of the speed"))
    assert made(plan([speed], "Get the speed over a distance of 90 metres, in km/h")) == [
        {"distance": 90, "unit": "km/h"}
    ]


def test_the_same_call_twice_is_one() -> None:
    assert len(plan([WIND], "Get the wind at Cork. Then get the wind at Cork.")) == 1


def test_choices_in_their_roles() -> None:
    tongue = string(enum=["en", "fi", "sv"])
    say = tool("translate", "Translate words.", "source target", source=tongue, target=tongue)
    assert made(plan([say], "Translate the words from Swedish to Finnish")) == [{"source": "sv", "target": "fi"}]


def test_items_may_be_anything() -> None:
    odd = {"type": "array", "items": True, "description": "What to pack"}
    pack = tool("pack_bag", "Pack a bag.", "things", things=odd)
    assert [one.tool.name for one in plan([pack], "Pack a bag with a map and a lamp")] == ["pack_bag"]


def test_the_parts_of_a_range() -> None:
    low: dict[str, Any] = {"type": "object", "properties": {"min": FLOAT, "max": FLOAT}}
    rent = tool("find_boat", "Find a boat to rent.", "", price=low)
    assert made(plan([rent], "Find a boat at a price of 40 to 60")) == [{"price.min": 40, "price.max": 60}]
