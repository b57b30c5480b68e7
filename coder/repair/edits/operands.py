"""An operand of an operator, a comparison or an index replaced by a value of another shape: a name by a number, a
number by an attribute. Names for names, numbers for numbers, attributes for attributes are `names` and `literals`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from coder.repair.edits.base import Draft, Region

Leaf = ast.Name | ast.Attribute | ast.Constant
# Numbers that stand in code most often.
_COMMON = ("0", "1", "2", "-1", "3", "10")
# Attributes and constants of the file that are tried, at most.
_MOST = 40


def propose(region: Region) -> Iterator[Draft]:
    attributes = _attributes(region)
    constants = _constants(region)
    for node in region.loads:
        if isinstance(node, Leaf) and not isinstance(getattr(node, "value", None), bool) and _is_operand(region, node):
            yield from _replaced(region, node, attributes, constants)


def _is_operand(region: Region, node: ast.expr) -> bool:
    parent = region.parent(node)
    if isinstance(parent, ast.Subscript):
        return parent.slice is node
    return isinstance(parent, ast.BinOp | ast.Compare | ast.AugAssign | ast.Slice)


def _replaced(region: Region, node: Leaf, attributes: dict[str, float], constants: dict[str, float]) -> Iterator[Draft]:
    old = region.text(node)
    textual = isinstance(region.parent(node), ast.Compare)
    if not isinstance(node, ast.Constant):
        for text, weight in constants.items():
            if textual or text[0] not in "\"'bfr":
                yield region.swap(node, text, "operand", weight)
    if not isinstance(node, ast.Attribute):
        for text, weight in attributes.items():
            if text != old:
                yield region.swap(node, text, "operand", weight)
    else:
        for name in region.scope.names(node):
            yield region.swap(node, name, "operand", 0.8)


def _attributes(region: Region) -> dict[str, float]:
    """Attribute expressions of the function, then those that its class or file has for its local names."""
    found: dict[str, float] = {}
    for donor in region.scope.expressions:
        if isinstance(donor, ast.Attribute) and not region.is_callee(donor):
            found.setdefault(region.text(donor), 1.0)
    seen = region.scope.facts.attributes[0]
    for name in region.scope.locals:
        for attribute in seen.get(name, ()):
            found.setdefault(f"{name}.{attribute}", 0.5)
    return dict(list(found.items())[:_MOST])


def _constants(region: Region) -> dict[str, float]:
    found = dict.fromkeys(_COMMON, 1.0)
    for constant in region.scope.constants[:_MOST]:
        if isinstance(constant.value, int | float | str) and not isinstance(constant.value, bool):
            text = repr(constant.value)
            if len(text) < 25:
                found.setdefault(text, 0.5)
            if isinstance(constant.value, int):
                for near in (constant.value + 1, constant.value - 1):
                    found.setdefault(repr(near), 0.3)
    return found
