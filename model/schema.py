"""JSON schemas: those of tool calls, and whether a value matches one. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing.jsonschema import EMPTY_REGISTRY

from model.chat import Tool


def closed(schema: Any) -> Any:
    """`schema` where objects that list their properties admit no others unless they say so."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    result = {key: value if key in ("enum", "const", "default") else closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), Mapping) and schema.get("type", "object") == "object":
        result.setdefault("additionalProperties", False)
    return result


def calls_schema(tools: Sequence[Tool], parallel: bool) -> dict[str, Any]:
    """The schema of `[{"name": ..., "arguments": {...}}, ...]` over the given tools."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": closed(dict(tool.parameters))},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {"type": "array", "items": {"anyOf": calls}, "minItems": 1} | ({} if parallel else {"maxItems": 1})


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
