"""JSON schemas: those of tool calls, and whether a value matches one. Imports no torch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing.jsonschema import EMPTY_REGISTRY

from model.chat import Tool

_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")  # keywords over names


def closed(schema: Any) -> Any:
    """`schema` where objects that list their properties admit no others unless they say so, and patterns mean to every
    reader what they mean in JavaScript: in `[\\w-.]` the hyphen is one."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    result = {key: value if key in ("enum", "const", "default") else closed(value) for key, value in schema.items()}
    if isinstance(pattern := schema.get("pattern"), str):
        result["pattern"] = re.sub(r"(\\[dswDSW])-(?=[^\]])", r"\1\\-", pattern)
    if isinstance(schema.get("properties"), Mapping) and schema.get("type", "object") == "object":
        result.setdefault("additionalProperties", False)
    return result


def calls_schema(tools: Sequence[Tool], parallel: bool, each: bool = False) -> dict[str, Any]:
    """The schema of `[{"name": ..., "arguments": {...}}, ...]` over the given tools; `each`: one call of each, in their
    order.

    A tool's schema that refers to its own parts moves to the root's `$defs`, and its references with it: they count
    from the root."""
    calls: list[dict[str, Any]] = []
    moved: dict[str, Any] = {}
    for index, tool in enumerate(tools):
        arguments = closed(dict(tool.parameters))
        place = f"#/$defs/{index}"
        referring = _referring(arguments, place)
        if referring != arguments:
            # An $id would make the part a document of its own, whose root its references could not leave
            moved[str(index)] = {key: value for key, value in referring.items() if key != "$id"}
            arguments = {"$ref": place}
        calls.append(
            {
                "type": "object",
                "properties": {"name": {"const": tool.name}, "arguments": arguments},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    schema: dict[str, Any] = {"type": "array", "items": {"anyOf": calls}, "minItems": 1}
    if each:
        schema = {"type": "array", "prefixItems": calls, "items": False, "minItems": len(calls)}
    return schema | ({} if parallel else {"maxItems": 1}) | ({"$defs": moved} if moved else {})


def _referring(schema: Any, place: str, names: bool = False) -> Any:
    """`schema` with the references to its own root and parts led to `place`. `names`: the keys are not keywords."""
    if isinstance(schema, list):
        return [_referring(item, place) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if not names and key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            result[key] = place + value[1:]
        elif not names and key in ("enum", "const", "default"):
            result[key] = value
        else:
            result[key] = _referring(value, place, not names and key in _NAMED)
    return result


def mismatch(value: Any, schema: Mapping[str, Any]) -> str | None:
    """None where `schema` admits `value`, else one line that says what is wrong and where.

    Schemas come from others. What one refers to must stand in itself: nothing is fetched. Whatever else it makes the
    validator raise is its own fault, too.
    """
    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema)
        error = best_match(kind(schema, registry=EMPTY_REGISTRY).iter_errors(value))
        return None if error is None else f"{error.json_path}: {error.message}"
    except RecursionError:
        return "the schema itself is wrong: it goes too deep, or refers to itself without end"
    except Exception as broken:
        reason = str(broken).partition("\n")[0] or type(broken).__name__
        return f"the schema itself is wrong: {reason}"
