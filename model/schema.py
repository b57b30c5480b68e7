"""JSON schemas: those of tool calls, and whether a value matches one. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing.exceptions import Unresolvable

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
    """None where `schema` admits `value`, else one line that says what is wrong and where."""
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
        error = best_match(kind(schema).iter_errors(value))
    except (SchemaError, Unresolvable) as broken:
        return f"the schema itself is wrong: {str(broken).splitlines()[0]}"
    return None if error is None else f"{error.json_path}: {error.message}"
