"""How tightly a piece of code binds, so that it can be put where another one stands."""

from __future__ import annotations

import re
from functools import lru_cache

from coder.repair.languages.tree import Node

ATOM = 20
# C's order, which the other languages share but for details that parentheses make safe.
_LEVELS: dict[str, int] = {
    "??": 3, "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8, "===": 8, "!==": 8, "<": 9, ">": 9, "<=": 9,
    ">=": 9, "in": 9, "instanceof": 9, "..": 9, "<<": 10, ">>": 10, ">>>": 10, "+": 11, "-": 11, "*": 12, "/": 12,
    "%": 12, "**": 13,
}  # fmt: skip
_UNARY, _LOOSE, _TERNARY = 14, 1, 2
_TOKEN = re.compile(
    r"""\s+|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|[\w$#@]+(?:\.\d+)?"""
    r"""|=>|->|===|!==|==|!=|<=|>=|&&|\|\||\?\?|\?\.|>>>|<<|>>|\*\*|\.\.\.|\.\.|[-+*/%&|^]=|\+\+|--|::|."""
)
_OPENERS, _CLOSERS = "([{", ")]}"
_PREFIXES = frozenset(("await", "typeof", "void", "delete", "new", "yield"))


@lru_cache(maxsize=50_000)
def binding(text: str) -> int:
    """How tightly the loosest operator of an expression binds, ATOM where there is none outside of brackets."""
    depth, loosest, operand = 0, ATOM, False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token.isspace():
            continue
        if token in _OPENERS:
            depth += 1
        elif token in _CLOSERS:
            depth -= 1
            operand = True
            continue
        if depth:
            continue
        if token in ("=>", "=", "->") or (token.endswith("=") and token[:1] in "-+*/%&|^" and len(token) == 2):
            loosest = min(loosest, _LOOSE)
        elif token == "?" and text.rstrip() != text[: match.end()]:
            loosest = min(loosest, _TERNARY)
        elif token in _LEVELS and operand:
            loosest = min(loosest, _LEVELS[token])
        elif token in ("!", "-", "+", "~", "*", "&") or token in _PREFIXES:
            loosest = min(loosest, _UNARY)
        operand = token not in _LEVELS and token not in ("!", "~", "?", ":", ",", "=>", "=") and token not in _PREFIXES
    return loosest


def fitted(node: Node, text: str) -> str:
    """`text` as it must stand where the expression `node` stands."""
    return text if binding(text) >= _needed(node) else f"({text})"


def _needed(node: Node) -> int:
    parent = node.parent
    if parent is None:
        return 0
    match parent.kind:
        case "binary":
            operator = parent.part("operator")
            level = _LEVELS.get(operator.text if operator else "", 0)
            return level + (node.field == "right")
        case "unary" | "update":
            return _UNARY
        case "member" | "index" if node.field not in ("index", "property", "field", "indices"):
            return ATOM if parent.part("object") is node else 0
        case "call" | "new" if node.is_callee or node.field == "object":
            return ATOM
        case "ternary" if node.field == "condition":
            return _TERNARY + 1
    if parent.type in ("await_expression", "try_expression", "cast_expression", "type_cast_expression"):
        return _UNARY
    return 0
