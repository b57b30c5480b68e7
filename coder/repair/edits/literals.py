"""Constants: numbers, booleans, strings, None, and a constant of another type."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from itertools import pairwise

from coder.repair.edits.base import Draft, Region

# From here on a number is a key or a limit: nobody slips by one, and its arithmetic may overflow.
_HUGE = 1e15
# What joins, splits and pads.
_SEPARATORS = ("", " ", ",", ", ", "\n", "\t", "-", "_", ".", "/", ":", ": ")
# Pieces of formats, dates and patterns that are taken for each other.
_PIECES = (
    ("%d", "%s"), ("%s", "%d"), ("%s", "%r"), ("%m", "%M"), ("%M", "%m"), ("%y", "%Y"), ("%Y", "%y"), ("%I", "%H"),
    ("%H", "%I"), (".1f", ".2f"), (".2f", ".1f"), (".2f", ".3f"), (".3f", ".2f"), ("\\d", "\\w"), ("\\w", "\\d"),
    ("\\s", "\\S"), ("+", "*"), ("*", "+"),
)  # fmt: skip
_FIELD = re.compile(r"\{[A-Za-z_][^{}]*\}")


def propose(region: Region) -> Iterator[Draft]:
    for node in region.loads:
        if not isinstance(node, ast.Constant) or isinstance(region.parent(node), ast.Expr):
            continue
        match node.value:
            case bool():
                yield from _boolean(region, node, node.value)
            case int() | float():
                yield from _number(region, node, node.value)
            case str() if region.source.text[region.source.span(node)[0]] in "\"'rR":
                yield from _string(region, node, node.value)
            case None:
                for text in ("True", "False", "0", "''", "[]", "{}"):
                    yield region.swap(node, text, "constant type", 1)
    yield from _empties(region)
    yield from _opposites(region)


def _opposites(region: Region) -> Iterator[Draft]:
    """Every boolean of a function turned round, and any two that follow each other."""
    found = [node for node in region.loads if isinstance(node, ast.Constant) and isinstance(node.value, bool)]
    found.sort(key=region.source.span)
    groups = [found, *([one, other] for one, other in pairwise(found))] if len(found) > 2 else [found]
    for group in groups:
        if len(group) > 1 and region.function is not None:
            edits = tuple(region.edit(*region.source.span(node), str(not node.value)) for node in group)
            yield Draft("boolean literal", edits, f"{len(group)} booleans turned round in {region.name}", 2)


def _boolean(region: Region, node: ast.Constant, value: bool) -> Iterator[Draft]:
    yield region.swap(node, str(not value), "boolean literal", 6)
    yield region.swap(node, "None", "constant type", 1)
    for name in region.scope.variables(node):
        yield region.swap(node, name, "identifier", 0.3)


def _number(region: Region, node: ast.Constant, value: int | float) -> Iterator[Draft]:
    if not abs(value) < _HUGE:
        return
    near: dict[int | float, float] = {}
    for other, weight in ((value + 1, 4.0), (value - 1, 4.0), (0, 3.0), (1, 3.0), (2, 1.5), (-1, 1.5), (-value, 2.0)):
        near.setdefault(other, weight)
    for other, weight in ((value * 2, 0.7), (value // 2, 0.7), (value * 10, 1.0), (value / 10, 0.5), (10, 0.5)):
        near.setdefault(other, weight)
    for constant in region.scope.constants:
        if isinstance(constant.value, int | float) and not isinstance(constant.value, bool):
            near.setdefault(constant.value, 1.0)
    for other in region.hints.numbers:
        near.setdefault(other, 0.4)
    for other, weight in near.items():
        if isinstance(value, int) and isinstance(other, float) and other.is_integer():
            other = int(other)
        if other != value and len(repr(other)) < 25:
            yield region.swap(node, repr(other), "numeric literal", weight)
    yield region.swap(node, f"{value}.0" if isinstance(value, int) else repr(int(value)), "constant type", 2)
    yield region.swap(node, repr(str(value)), "constant type", 2)
    yield region.swap(node, "None", "constant type", 0.5)
    if isinstance(region.parent(node), ast.Assign | ast.AnnAssign | ast.UnaryOp):
        for text in ("float('inf')", "float('-inf')"):
            yield region.swap(node, text, "numeric literal", 1)
    for constant in region.scope.constants[:60]:
        if isinstance(constant.value, str) and len(constant.value) < 20:
            yield region.swap(node, repr(constant.value), "constant type", 0.2)
    for name in region.scope.variables(node):
        yield region.swap(node, name, "operand" if isinstance(region.parent(node), ast.BinOp) else "identifier", 0.5)


def _string(region: Region, node: ast.Constant, value: str) -> Iterator[Draft]:
    text = region.text(node)
    quote, raw = text[-1], text[0] in "rR"
    if _FIELD.search(value) and not isinstance(region.parent(node), ast.Attribute):
        start, _ = region.source.span(node)
        yield region.replace(start, start, "f", "string literal", 6)
    near: dict[str, float] = {}
    for other, weight in (("", 2.0), (" ", 1.0), (value.strip(), 1.5), (value.lower(), 1.0), (value.upper(), 1.0)):
        near.setdefault(other, weight)
    near.setdefault(value[:-1], 1.5)
    near.setdefault(value[1:], 1.5)
    for old, new in _PIECES:
        if old in value:
            near.setdefault(value.replace(old, new), 1.5)
    if raw:
        near |= {f"^{value}": 0.7, f"{value}$": 0.7}
    if value in _SEPARATORS:
        for other in _SEPARATORS:
            near.setdefault(other, 0.7)
    if value == "inf":
        near["-inf"] = 4.0
    for padded in (f" {value}", f"{value} ", f"{value}\n", value.capitalize(), value * 2):
        near.setdefault(padded, 0.5)
    if len(value) <= 40:
        for letter in dict.fromkeys(value.lower()):
            near.setdefault(value.replace(letter, "").replace(letter.upper(), ""), 0.7)
        for index in range(min(len(value), 16)):
            near.setdefault(value[:index] + value[index + 1 :], 0.7)
            near.setdefault(
                value[:index] + value[index + 1 : index + 2] + value[index : index + 1] + value[index + 2 :], 0.3
            )
    for constant in region.scope.constants:
        if isinstance(constant.value, str) and len(constant.value) < 60:
            near.setdefault(constant.value, 1.0)
    for other in region.hints.strings:
        ratio = difflib.SequenceMatcher(None, other, value).ratio()
        near.setdefault(other, 8.0 if ratio > 0.7 and len(value) > 3 else 0.3 if len(other) < 20 else 0.05)
    for mirrored in _brackets(value):
        near[mirrored] = 2.0
    for other, weight in near.items():
        if other != value:
            yield region.swap(node, _quoted(other, quote, raw), "string literal", weight)
    if value.isdecimal() and len(value) < 20:
        yield region.swap(node, str(int(value)), "constant type", 2)
    yield region.swap(node, "None", "constant type", 0.5)
    for name in region.scope.variables(node):
        yield region.swap(node, name, "identifier", 0.2)


def _brackets(value: str) -> Iterator[str]:
    """Strings made of the wrong bracket or sign: ( for [, < for >, + for -."""
    for group in ("([{<", ")]}>", "()", "[]", "{}", "<>", "+-*/%", ",;:", "_-", "01"):
        if value in group and value:
            yield from (other for other in group if other != value)


def _empties(region: Region) -> Iterator[Draft]:
    """Empty containers and None for each other: `[]`, `{}`, `set()`, `()`, `''`, `0`, `None`."""
    kinds = ("[]", "{}", "set()", "()", "''", "0", "None")
    for node in region.loads:
        empty = isinstance(node, ast.List | ast.Tuple) and not node.elts
        empty |= isinstance(node, ast.Dict) and not node.keys
        if empty:
            for text in kinds:
                if text != region.text(node):
                    yield region.swap(node, text, "constant type", 0.7)


def _quoted(value: str, quote: str, raw: bool) -> str:
    if raw and "\\" in value and value.isprintable() and quote not in value and not value.endswith("\\"):
        return f"r{quote}{value}{quote}"
    text = repr(value)
    if quote == '"' and text[0] == "'" and '"' not in text and "\\'" not in text:
        return f'"{text[1:-1]}"'
    return text
