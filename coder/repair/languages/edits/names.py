"""Names: variables, functions, methods and fields; fields read or left out; two names exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from coder.repair.edits.base import Draft, spelled_alike
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Node


def propose(region: TreeRegion) -> Iterator[Draft]:
    for node in region.expressions:
        match node.kind:
            case "name":
                yield from _name(region, node)
            case "member":
                yield from _member(region, node)
            case "call" if node.called is not None and node.called.kind == "field":
                yield from _method(region, node.called)
    for node in region.loads:
        inside = node.is_callee or (node.parent is not None and node.parent.kind == "member")
        if node.kind == "name" and not inside:
            for name in region.scope.members[False][:8]:
                yield region.swap(node, f"{node.text}.{name}", "attribute access")
    yield from _exchanged(region)


def _name(region: TreeRegion, node: Node) -> Iterator[Draft]:
    scope, parent = region.scope, node.parent
    if node.is_callee or (parent is not None and parent.kind == "call" and parent.called is node):
        related = region.source.grammar.related.get(node.text, ())
        for name in dict.fromkeys([*related, *scope.functions]):
            if name != node.text:
                weight = 6.0 if name in related else 1.0 + 3 * spelled_alike(name, node.text)
                yield region.swap(node, name, "function name", weight)
        return
    target = region.is_target(node)
    if target and parent is not None and parent.kind != "assignment":
        return  # what a declaration binds, or what is stepped
    family = "identifier"
    if parent is not None and parent.kind == "binary":
        family = "operand"
    elif parent is not None and parent.kind in ("member", "call") and parent.receiver is node:
        family = "caller"
    for index, name in enumerate(scope.variables(node)):
        if name != node.text:
            weight = (1.0 + 2 * spelled_alike(name, node.text)) * (1.0 if name in scope.locals else 0.5)
            yield region.swap(node, name, family, weight * (0.3 if target else 1.0) * (1.2 if index < 4 else 1.0))
    for name in scope.functions:
        if name != node.text and node.text in scope.functions:
            yield region.swap(node, name, "function name", 1.0)


def _member(region: TreeRegion, node: Node) -> Iterator[Draft]:
    field, inner = node.part("field"), node.part("object")
    if field is None or inner is None:
        return
    called = node.is_callee
    if called:
        return  # `_method` writes these
    related = region.source.grammar.related.get(field.text, ())
    for name in dict.fromkeys([*related, *region.scope.members[False]]):
        if name != field.text:
            weight = 5.0 if name in related else 1.0 + 3 * spelled_alike(name, field.text)
            yield region.replace(field.start, field.end, name, "attribute", weight)
    if not region.is_target(node):
        yield region.swap(node, inner.text, "drop attribute")


def _method(region: TreeRegion, method: Node) -> Iterator[Draft]:
    related = region.source.grammar.related.get(method.text, ())
    for name in dict.fromkeys([*related, *region.scope.members[True]]):
        if name != method.text:
            weight = 5.0 if name in related else 1.0 + 3 * spelled_alike(name, method.text)
            yield region.replace(method.start, method.end, name, "function name", weight)


def _exchanged(region: TreeRegion) -> Iterator[Draft]:
    """Two names, or two numbers, exchanged wherever they stand in a statement, or in the whole function."""
    for statements, share in [([statement], 1.5) for statement in region.suspects] + [(region.suspects, 0.4)]:
        nodes = [node for statement in statements for node in region.within(statement)]
        for kind in ("name", "number"):
            places: dict[str, list[Node]] = {}
            for node in nodes:
                called = node.is_callee or (node.parent is not None and node.parent.kind in ("new", "member"))
                if node.kind == kind and not (called and kind == "name" and node.field != "index"):
                    places.setdefault(node.text, []).append(node)
            for one, other in list(combinations(list(places)[:8], 2)):
                if len(places[one]) + len(places[other]) > 24:
                    continue
                pairs = sorted(
                    [(n.start, n.end, other) for n in places[one]] + [(n.start, n.end, one) for n in places[other]]
                )
                edits = tuple(region.edit(*pair) for pair in pairs)
                yield Draft("identifier", edits, f"`{one}` and `{other}` exchanged in {region.name}", share)
