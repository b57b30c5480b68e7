"""Dataclasses as JSON schemas, and JSON objects as dataclasses: what a tool takes is written down once."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Unfit(ValueError):
    """The arguments are not what the tool takes; the message says what is wrong."""


def schema_of(kind: type) -> dict[str, Any]:
    """The schema of type object that admits exactly the fields of the dataclass `kind`.

    A field is a str, int, float, bool, a tuple of one of these, or one of these or None; `Annotated[..., "text"]`
    describes it.
    """
    hints = get_type_hints(kind, include_extras=True)
    properties = {field.name: _property(hints[field.name]) for field in fields(kind)}
    required = [field.name for field in fields(kind) if not _optional(field)]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def build(kind: type[T], arguments: Mapping[str, Any]) -> T:
    """Raises Unfit."""
    from model.schema import mismatch

    if wrong := mismatch(dict(arguments), schema_of(kind)):
        raise Unfit(wrong)
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()})


def _optional(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _property(hint: Any) -> dict[str, Any]:
    if get_origin(hint) is Annotated:
        inner, text = get_args(hint)
        return {**_property(inner), "description": text}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _property(get_args(hint)[0])}
    if get_origin(hint) is types.UnionType:
        kinds = [one for one in get_args(hint) if one is not type(None)]
        return _property(kinds[0])
    return {"type": _NAMES[hint]}
