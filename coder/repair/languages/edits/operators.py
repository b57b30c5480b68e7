"""Operators: binary, comparison, boolean, unary, assigning; operands dropped or swapped; parentheses."""

from __future__ import annotations

from collections.abc import Iterator

from coder.repair.edits.base import Draft
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Node

BITWISE = ("&", "|", "^", "<<", ">>")
BOOLEAN = ("&&", "||")
_LIKELY = {
    ("<", "<="): 4, ("<=", "<"): 4, (">", ">="): 4, (">=", ">"): 4, ("<", ">"): 4, (">", "<"): 4, ("<=", ">="): 3,
    (">=", "<="): 3, ("==", "!="): 4, ("!=", "=="): 4, ("===", "!=="): 4, ("!==", "==="): 4, ("+", "-"): 4,
    ("-", "+"): 4, ("*", "/"): 2, ("/", "*"): 2, ("/", "%"): 3, ("%", "/"): 3, ("*", "+"): 2, ("*", "**"): 3,
    ("**", "*"): 3, ("+", "*"): 2, ("-", "%"): 2, ("-", "/"): 1.5, (">", "=="): 1.5, ("<", "=="): 1.5,
    (">", "==="): 1.5, ("<", "==="): 1.5,
}  # fmt: skip
_LOOSE = ("==", "!=")


def propose(region: TreeRegion) -> Iterator[Draft]:
    for node in region.expressions:
        operator = node.part("operator")
        match node.kind:
            case "binary" if operator is not None:
                yield from _binary(region, node, operator)
            case "unary" if operator is not None and (operand := node.part("operand")) is not None:
                yield region.swap(node, operand.text, "unary operator")
            case "update" if operator is not None:
                yield region.replace(
                    operator.start, operator.end, "--" if operator.text == "++" else "++", "unary operator"
                )
    for node in region.loads:
        outer = node.parent.kind if node.parent is not None else ""
        if node.kind in ("name", "call", "index", "member") and outer not in ("unary", "member") and not node.is_callee:
            yield region.swap(node, f"-{node.text}", "unary operator", 0.3)
    for statement in region.suspects:
        for node in statement.walk():
            if node.kind == "assignment" and (node is statement or not _crosses(region, node, statement)):
                yield from _assignment(region, node)


def _crosses(region: TreeRegion, node: Node, statement: Node) -> bool:
    """Whether a node belongs to a statement inside `statement`."""
    while node is not statement:
        if region.source.is_statement(node) or node.parent is None:
            return True
        node = node.parent
    return False


def _binary(region: TreeRegion, node: Node, operator: Node) -> Iterator[Draft]:
    left, right = node.part("left"), node.part("right")
    if left is None or right is None:
        return
    symbol, grammar = operator.text, region.source.grammar
    group = next((g for g in (grammar.arithmetic, BITWISE, grammar.comparisons, BOOLEAN) if symbol in g), ())
    family = "binary operator"
    if group == grammar.comparisons:
        family = "comparison"
    elif group == BOOLEAN:
        family = "boolean operator"
    for other in group:
        weight = _LIKELY.get((symbol, other), 1.0)
        if grammar.dynamic and other in _LOOSE and symbol not in _LOOSE:
            continue
        if grammar.dynamic and symbol in _LOOSE and other in ("===", "!=="):
            weight = 0.2
        if other != symbol:
            yield region.replace(operator.start, operator.end, other, family, weight)
    text = region.source.text
    if group != BOOLEAN and symbol not in ("==", "!=", "===", "!==", "*"):
        swapped = right.text + text[left.end : right.start] + left.text
        textual = any(n.kind == "string" for n in (left, right))
        yield region.replace(
            left.start, right.end, swapped, "swap operands", 1.0 if symbol == "+" and not textual else 2.0
        )
    drop = "drop condition" if group == BOOLEAN else "drop operand"
    yield region.swap(node, left.text, drop)
    yield region.swap(node, right.text, drop)
    yield from _regrouped(region, left, right, drop)
    if group == BOOLEAN:
        chain = [n for n in _chain(node) if n.text == symbol]
        if len(chain) > 1 and (node.parent is None or node.parent.kind != "binary"):
            other = "||" if symbol == "&&" else "&&"
            edits = tuple(region.edit(sign.start, sign.end, other) for sign in chain)
            yield Draft(family, edits, f"every `{symbol}` → `{other}` in {region.name}", 3.0)


def _chain(node: Node) -> list[Node]:
    """The operators of a run of binary expressions, in the order of the text."""
    if node.kind == "paren" and node.children:
        return _chain(node.children[0])
    left, operator, right = (node.part(role) for role in ("left", "operator", "right"))
    if node.kind != "binary" or left is None or operator is None or right is None:
        return []
    return [*_chain(left), operator, *_chain(right)]


def _regrouped(region: TreeRegion, left: Node, right: Node, drop: str) -> Iterator[Draft]:
    """In `a op1 b op2 c`: drop `b op2`, or put `b op2 c` in parentheses; take parentheses away."""
    text = region.source.text
    for inner, is_left in ((left, True), (right, False)):
        if inner.kind == "paren" and inner.children and inner.children[0].kind == "binary":
            yield region.replace(inner.start, inner.end, inner.children[0].text, "parentheses")
        if inner.kind != "binary":
            continue
        first, last = inner.part("left"), inner.part("right")
        if first is None or last is None:
            continue
        if is_left:
            yield region.replace(last.start, right.start, "", drop, 0.7)
            yield region.replace(first.end, last.end, "", drop, 0.7)
            yield region.replace(last.start, right.end, f"({text[last.start : right.end]})", "parentheses")
        else:
            yield region.replace(left.end, first.end, "", drop, 0.7)
            yield region.replace(left.start, first.end, f"({text[left.start : first.end]})", "parentheses")


def _assignment(region: TreeRegion, node: Node) -> Iterator[Draft]:
    operator = node.part("operator")
    if operator is None:
        operator = next((child for child in node.all if not child.named), None)
    if operator is None or not operator.text.endswith("=") or operator.text in (":=",):
        return
    symbol = operator.text[:-1]
    weights = {"+": 1.0, "-": 0.5, "*": 0.4, "": 1.5, "/": 0.3, "%": 0.2, "|": 0.1}
    for other, weight in weights.items():
        if other != symbol:
            likely = max(weight, _LIKELY.get((symbol, other), 0) / 3)
            yield region.replace(operator.start, operator.end, f"{other}=", "augmented assignment", likely)
