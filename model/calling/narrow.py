"""Planned calls as tools that admit no other call: what the grammar of an answer is made from."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from model.calling.dates import dates
from model.calling.plan import Planned, plan
from model.chat import ChatOptions, Message, Tool
from model.grounding import grounded
from model.schema import closed

_LONGEST = 2_000  # characters of a request that spells out its calls; what is longer is material
_COMBINED = {"$ref", "allOf", "anyOf", "oneOf", "not", "if", "minProperties", "dependentRequired", "dependentSchemas"}
_TODAY = re.compile(r"\b(?:today|current date)\b.*", re.IGNORECASE)


def planned_tools(tools: Sequence[Tool], messages: Sequence[Message], options: ChatOptions) -> list[Tool]:
    """One narrowed tool for each call that the user's last message asks for; none where that is not clear, or where the
    last message is long or not the user's. Where a call is demanded there is at least one."""
    if not messages or messages[-1].role != "user" or len(messages[-1].content) > _LONGEST:
        return []
    tools = [replace(tool, parameters=closed(dict(tool.parameters))) for tool in tools]
    calls = plan(tools, messages[-1].content, _today(messages))[: None if options.parallel else 1]
    if options.tool_choice == "auto" and not all(call.sure for call in calls):
        return []
    known = {tool.name: tool for tool in grounded(tools, messages)}
    return [narrowed(call, known[call.tool.name]) for call in calls]


def narrowed(call: Planned, known: Tool) -> Tool:
    """The tool with a schema that admits the values found, leaves out optional parameters without any, and asks for the
    others. What is required and was not found comes from `known`, the same tool with the values that were said; so does
    the whole schema where it is more than a list of properties."""
    if _COMBINED & call.tool.parameters.keys():
        return known
    return replace(call.tool, parameters=_object(call, call.tool.parameters, known.parameters, ()))


def _object(
    call: Planned, schema: Mapping[str, Any], known: Mapping[str, Any], path: tuple[str, ...]
) -> dict[str, Any]:
    needed = set(schema.get("required") or ())
    properties: dict[str, Any] = {}
    for name, one in (schema.get("properties") or {}).items():
        here = (*path, name)
        found = call.values.get(here)
        if found is not None:
            properties[name] = _bounded(one, found.value) if found.open else {"enum": [found.value, *found.others]}
        elif any(part[: len(here)] == here for part in call.values):
            properties[name] = _object(call, one, known["properties"][name], here)
        elif name in needed:
            properties[name] = known["properties"][name]
    return {**schema, "properties": properties, "required": list(properties)}


def _bounded(schema: Mapping[str, Any], said: Any) -> dict[str, Any]:
    """A schema whose value the model writes: as many items as were said."""
    return {**schema, "minItems": 1, "maxItems": len(said)} if isinstance(said, list) else dict(schema)


def _today(messages: Sequence[Message]) -> datetime.date:
    """The date that the system message says, or the real one."""
    lines = (hit for one in messages if one.role == "system" for hit in _TODAY.findall(one.content))
    said = (date for line in lines for _, _, date in dates(line))
    return next((date for date in said if isinstance(date, datetime.date)), datetime.date.today())
