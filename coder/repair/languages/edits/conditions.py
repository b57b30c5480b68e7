"""Conditions: negated, made more or less specific, copied with other names; one kind of loop or branch for another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coder.repair.edits.base import Draft
from coder.repair.languages.binding import binding, fitted
from coder.repair.languages.grammar import TRUTH
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Node

_COMPARED = frozenset(("==", "!=", "===", "!==", "<", "<=", ">", ">=", "&&", "||"))
_AND, _OR = 4, 3


def propose(region: TreeRegion) -> Iterator[Draft]:
    for node in conditions(region):
        yield from _negate(region, node)
        yield from _specialise(region, node)
    for node in region.loads:
        if is_test(node):
            yield from _clones(region, node)
    for statement in region.suspects:
        yield from _keyword(region, statement)


def is_test(node: Node) -> bool:
    """Whether an expression compares, or joins what does."""
    operator = node.part("operator") if node.kind == "binary" else None
    return operator is not None and operator.text in _COMPARED


def conditions(region: TreeRegion) -> list[Node]:
    """What `if`, loops and conditional expressions ask, and comparisons that are returned."""
    found: list[Node] = []
    for statement in region.suspects:
        inner = statement if statement.kind != "statement" or not statement.children else statement.children[0]
        for node in (statement, inner):
            if node.kind in ("if", "loop") and (condition := node.condition) is not None:
                found.append(condition)
                break
    for node in region.loads:
        parent = node.parent
        if node.kind == "ternary" and (condition := node.condition) is not None:
            found.append(condition)
        elif (
            is_test(node) and parent is not None and (parent.kind in ("return", "function") or node in region.suspects)
        ):
            found.append(node)
    return found


def guards(region: TreeRegion, at: Node) -> dict[str, float]:
    """Conditions that could stand at a place, with weights: those of the function, then tests of the names in sight."""
    grammar = region.source.grammar
    same, other = ("===", "!==") if grammar.dynamic else ("==", "!=")
    found: dict[str, float] = {}
    for statement in region.statements:
        for node in region.within(statement):
            if is_test(node):
                found.setdefault(node.text, 2.0)
    used = {node.text for node in at.walk() if node.kind == "name"}
    variables = region.scope.variables(at)[:14]
    for name in variables:
        weight = 1.0 if name in used or name in region.scope.parameters else 0.4
        for text, share in (
            (name, 1.0), (f"!{name}", 1.0), (f"{name} {same} 0", 0.6), (f"{name} > 0", 0.6), (f"{name} < 0", 0.6),
            (f"{name} {other} 0", 0.4), (f"{name} > 1", 0.4), (f"{name} < 2", 0.4), (f"{name} {same} 1", 0.3),
            (f"{name}.length {same} 0", 0.6), (f"{name}.length > 0", 0.4), (f"{name}.length {same} 1", 0.3),
            (f"{name} {same} {grammar.nothing}", 0.8), (f"{name} {other} {grammar.nothing}", 0.8),
        ):  # fmt: skip
            plain = text.lstrip("!") == name
            if (grammar.dynamic or ".length" not in text) and not text.endswith(" ") and (grammar.truthy or not plain):
                found.setdefault(text, weight * share)
    names = [name for name in variables if name in used or name in region.scope.parameters]
    for left in names:
        for right in names:
            if left != right:
                for operator in (same, other, "<", "<="):
                    if left < right or operator in ("<", "<="):
                        found.setdefault(f"{left} {operator} {right}", 0.2)
    return found


def _negate(region: TreeRegion, node: Node) -> Iterator[Draft]:
    if node.kind == "unary" or (node.kind == "binary" and node.part("operator") and not _joins(node)):
        return  # other families drop a sign and turn a comparison round
    yield region.swap(node, f"!({node.text})" if binding(node.text) < 20 else f"!{node.text}", "negate")


def _joins(node: Node) -> bool:
    operator = node.part("operator") if node.kind == "binary" else None
    return operator is not None and operator.text in ("&&", "||")


def _specialise(region: TreeRegion, node: Node) -> Iterator[Draft]:
    own = {inner.text for inner in node.walk()}
    for guard, weight in guards(region, node).items():
        if guard in own:
            continue
        kept, part = _within(node.text, _AND), _within(guard, _AND)
        yield region.swap(node, f"{kept} && {part}", "more specific if", weight)
        yield region.swap(node, f"{part} && {kept}", "more specific if", weight * 0.6)
        yield region.swap(node, f"{node.text} || {guard}", "less specific if", weight)
        if not _joins(node):
            yield region.swap(node, guard, "condition donor", weight)
    for constant in TRUTH:
        yield region.swap(node, constant, "condition donor", 0.5)


def _within(text: str, level: int) -> str:
    return text if binding(text) >= level else f"({text})"


def _clones(region: TreeRegion, node: Node) -> Iterator[Draft]:
    """One more alternative or demand like this one, with one of its names changed or two exchanged."""
    names = list(dict.fromkeys(n.text for n in node.walk() if n.kind == "name"))
    variables = [name for name in region.scope.variables(node) if name not in names][:8]
    copies: dict[str, float] = {}
    for index, name in enumerate(names[:5]):
        for other in variables:
            copies.setdefault(renamed(node.text, {name: other}), 0.5)
        for other in names[index + 1 : 5]:
            copies.setdefault(renamed(node.text, {name: other, other: name}), 1.5)
    for copy, weight in copies.items():
        if copy == node.text:
            continue
        low, high = fitted(node, f"{node.text} || {copy}"), fitted(node, f"{node.text} && {copy}")
        yield region.replace(node.start, node.end, low, "less specific if", weight)
        yield region.replace(node.start, node.end, high, "more specific if", weight * 0.7)


def renamed(text: str, names: dict[str, str]) -> str:
    """A piece of code with names changed, all at once; fields of the same name are left alone."""
    return re.sub(r"(?<![\w.$])[A-Za-z_$][\w$]*", lambda match: names.get(match[0], match[0]), text)


def _keyword(region: TreeRegion, statement: Node) -> Iterator[Draft]:
    """`if` for `while` and back; an `else` put before an `if` that follows another, or taken away."""
    first = statement.all[0] if statement.all else None
    if first is not None and first.text in ("if", "while") and statement.part("alternative") is None:
        word = "while" if first.text == "if" else "if"
        yield region.replace(first.start, first.end, word, "statement keyword")
    if statement.kind != "if":
        return
    block = region.siblings(statement)
    place = block.index(statement) if statement in block else -1
    if place > 0 and block[place - 1].kind == "if" and block[place - 1].part("alternative") is None:
        yield region.replace(statement.start, statement.start, "else ", "statement keyword", 0.7)
    alternative = statement.part("alternative")
    if alternative is not None and alternative.type == "else_clause" and alternative.children:
        inner = alternative.children[0]
        if inner.kind == "if":
            yield region.replace(alternative.start, inner.start, "", "statement keyword", 0.7)
