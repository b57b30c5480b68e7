"""Places in sequences: indexes shifted, put behind a value, taken away; elements; one more or one less."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from coder.repair.edits.base import Draft
from coder.repair.languages.binding import binding
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Node

_PRODUCT = 12


def propose(region: TreeRegion) -> Iterator[Draft]:
    yield from _exchanged(region)
    for node in region.loads:
        if node.kind == "index":
            yield from _index(region, node)
        if node.kind in ("name", "call", "member", "index", "unary") and not node.is_callee:
            yield from _offset(region, node)
        if node.kind == "binary":
            yield from _nudged(region, node)
        if node.kind == "collection":
            yield from _elements(region, node)
        if node.kind == "name" and not node.is_callee:
            yield from _subscript(region, node)


def _exchanged(region: TreeRegion) -> Iterator[Draft]:
    """Two constant indexes exchanged wherever they stand in the function."""
    places: dict[str, list[Node]] = {}
    for node in region.expressions:
        index = node.part("index") if node.kind == "index" else None
        if index is not None and index.kind == "number":
            places.setdefault(index.text, []).append(index)
    for one, other in combinations(list(places)[:4], 2):
        pairs = [(node, other) for node in places[one]] + [(node, one) for node in places[other]]
        pairs.sort(key=lambda pair: pair[0].start)
        edits = tuple(region.edit(node.start, node.end, text) for node, text in pairs)
        yield Draft("subscript", edits, f"indexes {one} and {other} exchanged in {region.name}", 1.5)


def _index(region: TreeRegion, node: Node) -> Iterator[Draft]:
    index, base = node.part("index"), node.part("object")
    if index is None or base is None:
        return
    for text in ("0", "1", f"{index.text} + 1", f"{index.text} - 1"):
        if text != index.text and not (index.kind == "number" and len(text) > 1):
            yield region.replace(index.start, index.end, text, "subscript")
    if region.source.grammar.dynamic:
        yield region.replace(index.start, index.end, f"{base.text}.length - 1", "subscript", 0.7)
        yield region.replace(index.start, index.end, f"{base.text}.length - 1 - {index.text}", "subscript", 0.3)
    yield region.swap(node, base.text, "drop subscript")
    if base.kind == "index" and (inner := base.part("index")) is not None:
        edits = (region.edit(inner.start, inner.end, index.text), region.edit(index.start, index.end, inner.text))
        yield Draft("subscript", edits, f"indexes of `{node.text}` exchanged in {region.name}", 1.5)


def _offset(region: TreeRegion, node: Node) -> Iterator[Draft]:
    parent = node.parent
    if parent is not None and parent.kind in ("call", "member") and parent.receiver is node:
        return
    if parent is not None and parent.type in ("expression_statement", "arguments") and node.kind == "call":
        return
    at = 2.0 if parent is not None and parent.kind in ("index", "binary") else 1.0
    for step in ("+ 1", "- 1"):
        yield region.swap(node, f"{node.text} {step}", "offset", at)
    if node.kind in ("name", "call", "index", "member") and parent is not None and parent.kind != "unary":
        for name in region.scope.variables(node)[:6]:
            if name != node.text:
                for operator, weight in (("+", 1.0), ("-", 0.7), ("*", 0.7)):
                    yield region.swap(node, f"{node.text} {operator} {name}", "add operand", weight)
        for text in ("% 2", "* 2", "/ 2", "* -1"):
            yield region.swap(node, f"{node.text} {text}", "add operand", 0.4)


def _nudged(region: TreeRegion, node: Node) -> Iterator[Draft]:
    """One more or less than a sum, a product, or an operand of it."""
    operator = node.part("operator")
    if operator is None or operator.text not in ("+", "-", "*", "/", "%"):
        return
    for step in ("+ 1", "- 1"):
        yield region.swap(node, f"{node.text} {step}", "offset")
    for role in ("left", "right"):
        operand = node.part(role)
        if operand is not None and operator.text in ("*", "/", "%") and binding(operand.text) >= _PRODUCT:
            for step in ("+ 1", "- 1"):
                yield region.replace(operand.start, operand.end, f"({operand.text} {step})", "offset", 0.7)


def _elements(region: TreeRegion, node: Node) -> Iterator[Draft]:
    elements = node.children
    if not elements or len(elements) > 24 or elements[0].type.endswith("_type"):
        return
    for index, element in enumerate(elements):
        last = index + 1 == len(elements)
        start = elements[index - 1].end if last and index else element.start
        yield region.replace(start, element.end if last else elements[index + 1].start, "", "elements", 0.5)
        for other in elements[index + 1 : index + 3]:
            edits = (
                region.edit(element.start, element.end, other.text),
                region.edit(other.start, other.end, element.text),
            )
            yield Draft("elements", edits, f"`{element.text}` and `{other.text}` exchanged in {region.name}", 1.5)
    for name in region.scope.variables(node)[:5]:
        yield region.replace(elements[-1].end, elements[-1].end, f", {name}", "elements", 0.5)


def _subscript(region: TreeRegion, node: Node) -> Iterator[Draft]:
    parent = node.parent
    if parent is not None and parent.kind in ("index", "unary"):
        return
    indexes = [name for name in region.scope.variables(node) if len(name) == 1 and name != node.text][:3]
    for index in ("0", *indexes):
        yield region.swap(node, f"{node.text}[{index}]", "add subscript")
