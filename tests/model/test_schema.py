"""Schemas that others wrote."""

from __future__ import annotations

import urllib.request
from typing import Any

import pytest

from model.schema import mismatch

TREE = {
    "$defs": {
        "node": {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/node"}}}},
    },
    "$ref": "#/$defs/node",
}


def test_references_within_a_schema_are_followed() -> None:
    assert mismatch({"of": [{"of": []}]}, TREE) is None
    assert "$.of[0].of" in (mismatch({"of": [{"of": 1}]}, TREE) or "")
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "integer"}}}
    wrong = mismatch({"a": "x"}, {**old, "properties": {"a": {"$ref": "#/definitions/n"}}})
    assert wrong == "$.a: 'x' is not of type 'integer'"


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/x.json", "file:///etc/passwd", "other.json", "//host/x", "#/nowhere", "#nowhere"]
)
def test_nothing_is_fetched(monkeypatch, reference) -> None:
    def fetch(*_: Any, **__: Any) -> None:
        raise AssertionError("fetched")

    monkeypatch.setattr(urllib.request, "urlopen", fetch)
    wrong = mismatch({"a": 1}, {"properties": {"a": {"$ref": reference}}})
    assert wrong is not None and wrong.startswith("the schema itself is wrong") and "fetched" not in wrong


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
    wrong = mismatch({"a": "x"}, schema)
    assert wrong is not None and wrong.startswith("the schema itself is wrong") and "\n" not in wrong


def test_a_value_that_goes_too_deep_is_no_crash() -> None:
    deep: Any = {}
    for _ in range(5_000):
        deep = {"of": [deep]}
    assert mismatch(deep, TREE) is not None
