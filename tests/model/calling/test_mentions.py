"""Forms of values in a text."""

from __future__ import annotations

import datetime

import pytest

from model.calling.dates import dates, times
from model.calling.mentions import mentions
from model.calling.units import same_unit
from model.calling.vocabulary import examples, synonyms
from model.calling.words import stem, stems


def values(text: str, kind: str) -> list[object]:
    return [one.value for one in mentions(text) if one.kind == kind]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("70kg and -3.5 of 1,200", [70.0, -3.5, 1200.0]),
        ("$1.2M, 3 million, 5%", [1.2e6, 3e6, 5.0]),
        ("seven of them", [7.0]),
        ("version v2, 'take 5', 2027-05-03, at 3 PM", []),
    ],
)
def test_numbers(text: str, wanted: list[float]) -> None:
    assert values(text, "number") == wanted


def test_names_without_the_order_that_begins_a_sentence() -> None:
    found = values("Compare Mount Athos with the Isle of Skye. Visit Bergen, Norway soon", "name")
    assert found == ["Mount Athos", "Isle of Skye", "Bergen, Norway", "Bergen", "Norway"]
    assert "Oslo, Bergen" not in values("We saw Oslo, Bergen and Kiel", "name")


def test_quotes_codes_and_rows() -> None:
    text = "Send 'the old map' to ann@example.org and bo@example.org, see https://example.org/a?b=1 in notes_2.txt"
    assert values(text, "quoted") == ["the old map"]
    codes = values(text, "code")
    assert codes == ["ann@example.org", "bo@example.org", "https://example.org/a?b=1", "notes_2.txt"]
    assert ["ann@example.org", "bo@example.org"] in values(text, "list")
    assert values("of [1, 2.5, x]", "list") == [[1.0, 2.5, "x"]]


def test_dates_and_times() -> None:
    found = [date for _, _, date in dates("from April 3rd to 5 April 2027, not 2027-02-30 or 31/12")]
    assert found == [datetime.date(2027, 4, 3), datetime.date(2027, 4, 5), "2027-02-30"]
    assert [date for _, _, date in dates("tomorrow")] == ["tomorrow"]
    said = [time for _, _, time in times("at 12 AM, 3:05 p.m., 17:30 and noon, not 25:00")]
    assert said == [datetime.time(0), datetime.time(15, 5), datetime.time(17, 30), datetime.time(12)]


def test_days_that_count_from_today() -> None:
    day = datetime.date(2027, 5, 3)
    said = "yesterday, the day after tomorrow, in 3 days, in two weeks, on June 1st and on May 1st"
    assert [date for _, _, date in dates(said, day)] == [
        datetime.date(2027, 5, 2),
        datetime.date(2027, 5, 5),
        datetime.date(2027, 5, 6),
        datetime.date(2027, 5, 17),
        datetime.date(2027, 6, 1),
        datetime.date(2028, 5, 1),
    ]


def test_words_that_count_as_the_same() -> None:
    assert stem("calculates") == stem("calculation") == stem("calculated") != stem("calendar")
    assert stems("findNearby_shops in the HTMLPage") == [stem(one) for one in ("nearby", "shops", "HTML", "page")]
    assert same_unit("kg", "Kilograms") and not same_unit("kg", "km")


def test_values_in_descriptions() -> None:
    found = examples("The glaze, e.g. celadon or 'tin white'. Default is none.")
    assert found["celadon"] == "celadon" and found["tin white"] == "tin white" and "glaze" not in found
    assert dict(synonyms("Map 'tooth/teeth' to Dental, and use 'LX' for Luxor")) == {
        "tooth": "Dental",
        "teeth": "Dental",
        "Luxor": "LX",
    }
