"""Expressions for which another one of the same function stands, as it is or with names changed; returned values."""

from __future__ import annotations

from collections.abc import Iterator

from coder.repair.edits.base import Draft
from coder.repair.languages.edits.conditions import is_test, renamed
from coder.repair.languages.grammar import TRUTH
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Node

_LARGE = frozenset(("binary", "call", "member", "index", "ternary", "unary", "new", "collection"))
_LONGEST = 80


def propose(region: TreeRegion) -> Iterator[Draft]:
    donors = _donors(region)
    for node in region.loads:
        if node.is_callee or node.kind not in _LARGE | {"name", "number"}:
            continue
        yield from _replaced(region, node, donors)
    for statement in region.suspects:
        if statement.kind == "return":
            yield from _returned(region, statement, donors)


def _donors(region: TreeRegion) -> dict[str, Node]:
    """The larger expressions of the function, by their text."""
    found: dict[str, Node] = {}
    for statement in region.statements:
        for node in region.within(statement):
            if node.kind in _LARGE and not node.is_callee and len(node.text) <= _LONGEST and "\n" not in node.text:
                found.setdefault(node.text, node)
    return found


def _replaced(region: TreeRegion, node: Node, donors: dict[str, Node]) -> Iterator[Draft]:
    own = {inner.text for inner in node.walk()}
    at_hand = set(region.scope.variables(node))
    for text, donor in donors.items():
        if text in own or is_test(donor) != is_test(node):
            continue
        unbound = {n.text for n in donor.walk() if n.kind == "name" and not n.is_callee} & region.scope.locals - at_hand
        if unbound:
            continue
        weight = 1.0 if donor.kind == node.kind else 0.4
        if node.text in text:
            weight *= 1.5  # what stands there, and more
        yield region.swap(node, text, "donor expression", weight)
    if node.kind in _LARGE and len(node.text) <= _LONGEST:
        names = list(dict.fromkeys(n.text for n in node.walk() if n.kind == "name" and not n.is_callee))
        for name in names[:4]:
            for other in names[:4]:
                if name < other:
                    swapped = renamed(node.text, {name: other, other: name})
                    yield region.swap(node, swapped, "donor expression", 0.5)


def _returned(region: TreeRegion, statement: Node, donors: dict[str, Node]) -> Iterator[Draft]:
    """Another value returned."""
    if not statement.children:
        return
    value = statement.children[0]
    grammar = region.source.grammar
    constants = ["0", "1", "-1", *TRUTH]
    if grammar.dynamic:
        constants += ["''", "[]", "null", "undefined", "{}", "Infinity", "NaN"]
    for name in region.scope.variables(statement)[:10]:
        if name != value.text:
            yield region.swap(value, name, "return value", 2.0)
    for text in constants:
        if text != value.text:
            yield region.swap(value, text, "return value")
    for text in list(donors)[:30]:
        if text != value.text:
            yield region.swap(value, text, "return value", 0.3)
