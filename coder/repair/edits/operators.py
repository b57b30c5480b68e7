"""Operators: binary, comparison, boolean, unary, augmented; operands dropped or swapped; parentheses moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from coder.repair.edits.base import Draft, Region

ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")
BITWISE = ("&", "|", "^", "<<", ">>")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not")
SYMBOLS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not", ast.And: "and", ast.Or: "or",
}  # fmt: skip
# Slips that people make more often than others of the same kind; every other pair weighs 1.
_LIKELY = {
    ("<", "<="): 4, ("<=", "<"): 4, (">", ">="): 4, (">=", ">"): 4, ("<", ">"): 4, (">", "<"): 4, ("<=", ">="): 3,
    (">=", "<="): 3, ("==", "!="): 4, ("!=", "=="): 4, ("in", "not in"): 4, ("not in", "in"): 4, ("is", "is not"): 4,
    ("is not", "is"): 4, ("is", "=="): 3, ("is not", "!="): 3, ("+", "-"): 4, ("-", "+"): 4, ("*", "/"): 2,
    ("/", "*"): 2, ("/", "//"): 4, ("//", "/"): 3, ("//", "%"): 3, ("%", "//"): 3, ("/", "%"): 2, ("*", "+"): 2,
    ("*", "**"): 3, ("**", "*"): 3, ("+", "*"): 2, ("-", "%"): 2,
}  # fmt: skip

# Operators of bits where those of truth or powers were meant.
_ACROSS = {"^": "**", "&": "and", "|": "or"}


def propose(region: Region) -> Iterator[Draft]:
    for node in region.expressions:
        match node:
            case ast.BinOp():
                yield from _binary(region, node)
            case ast.Compare():
                yield from _compare(region, node)
            case ast.BoolOp():
                yield from _boolean(region, node)
            case ast.UnaryOp():
                yield region.swap(node, region.text(node.operand), "unary operator")
    for node in region.loads:
        inside = region.is_callee(node) or isinstance(region.parent(node), ast.Attribute | ast.UnaryOp)
        if isinstance(node, ast.Name | ast.Call | ast.Subscript | ast.Attribute) and not inside:
            yield region.swap(node, f"-{region.text(node)}", "unary operator", 0.3)
    for statement in region.suspects:
        if isinstance(statement, ast.AugAssign):
            yield from _augmented(region, statement)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name | ast.Subscript | ast.Attribute):
                token = _between(region, region.source.span(target)[1], region.source.span(statement.value)[0], "=")
                if token:
                    for operator, weight in (("+=", 1.0), ("-=", 0.4), ("*=", 0.3), ("//=", 0.1), ("|=", 0.1)):
                        yield region.replace(*token, operator, "augmented assignment", weight)


def _binary(region: Region, node: ast.BinOp) -> Iterator[Draft]:
    symbol = SYMBOLS[type(node.op)]
    left_end, right_start = region.source.span(node.left)[1], region.source.span(node.right)[0]
    token = _between(region, left_end, right_start, symbol)
    if token is None:
        return
    textual = any(isinstance(n, ast.JoinedStr) or _is_text(n) for n in (node.left, node.right))
    group = BITWISE if symbol in BITWISE else ARITHMETIC
    for other in group if not textual else ("+", "*", "%"):
        if other != symbol:
            yield region.replace(*token, other, "binary operator", _LIKELY.get((symbol, other), 1))
    if symbol in _ACROSS:
        yield region.replace(*token, _ACROSS[symbol], "binary operator", 2)
    left, right = region.text(node.left), region.text(node.right)
    if symbol not in ("*", "&", "|", "^") or textual:
        outer_left, outer_right = region.source.outer_span(node.left), region.source.outer_span(node.right)
        text = region.source.text
        swapped = text[slice(*outer_right)] + text[outer_left[1] : outer_right[0]] + text[slice(*outer_left)]
        yield region.replace(outer_left[0], outer_right[1], swapped, "swap operands", 2 if symbol != "+" else 1)
    yield region.swap(node, left, "drop operand")
    yield region.swap(node, right, "drop operand")
    yield from _neighbours(region, node)


def _neighbours(region: Region, node: ast.BinOp) -> Iterator[Draft]:
    """In `a op1 b op2 c`, as written: drop `op1 b`, drop `b op2`, or put `(a op1 b)` or `(b op2 c)` in parentheses."""
    source = region.source
    for inner, is_left in ((node.left, True), (node.right, False)):
        if not isinstance(inner, ast.BinOp):
            continue
        span = source.span(inner)
        outer = source.outer_span(inner)
        if outer != span:
            yield region.replace(*outer, region.text(inner), "parentheses")
            continue
        left, right = source.outer_span(inner.left), source.outer_span(inner.right)
        if is_left:
            far = source.outer_span(node.right)
            yield region.replace(left[1], right[1], "", "drop operand", 0.7)
            yield region.replace(right[0], far[0], "", "drop operand", 0.7)
            yield region.replace(right[0], far[1], f"({source.text[right[0] : far[1]]})", "parentheses")
        else:
            far = source.outer_span(node.left)
            yield region.replace(left[0], right[0], "", "drop operand", 0.7)
            yield region.replace(far[1], left[1], "", "drop operand", 0.7)
            yield region.replace(far[0], left[1], f"({source.text[far[0] : left[1]]})", "parentheses")


def _compare(region: Region, node: ast.Compare) -> Iterator[Draft]:
    operands = [node.left, *node.comparators]
    for index, op in enumerate(node.ops):
        symbol = SYMBOLS[type(op)]
        left, right = region.source.outer_span(operands[index]), region.source.outer_span(operands[index + 1])
        token = _between(region, left[1], right[0], symbol)
        if token is None:
            continue
        for other in COMPARISONS:
            weight = _LIKELY.get((symbol, other), 1.0)
            if ("in" in other) != ("in" in symbol) or ("is" in other) != ("is" in symbol):
                weight = min(weight, 0.2) if "is" not in symbol else weight
            if other != symbol:
                spaced = f" {other} " if other.isalpha() or " " in other else other
                tight = region.source.text[left[1] : right[0]].strip() == region.source.text[left[1] : right[0]]
                yield region.replace(*token, spaced if tight else other, "comparison", weight)
        if symbol not in ("==", "!=") and len(node.ops) == 1:
            text = region.source.text
            swapped = text[slice(*right)] + text[left[1] : right[0]] + text[slice(*left)]
            yield region.replace(left[0], right[1], swapped, "swap operands", 1)
    if len(node.ops) == 2:
        yield region.swap(node, _slice(region, node.left, node.comparators[0]), "drop operand")
        yield region.swap(node, _slice(region, node.comparators[0], node.comparators[1]), "drop operand")


def _boolean(region: Region, node: ast.BoolOp) -> Iterator[Draft]:
    symbol = SYMBOLS[type(node.op)]
    other = "or" if symbol == "and" else "and"
    spans = [region.source.outer_span(value) for value in node.values]
    tokens = [_between(region, a[1], b[0], symbol) for a, b in pairwise(spans)]
    found = [token for token in tokens if token]
    if len(found) > 1:
        edits = tuple(region.edit(*token, other) for token in found)
        yield Draft("boolean operator", edits, f"every `{symbol}` → `{other}` in {region.name}", 2)
    for token in found:
        yield region.replace(*token, other, "boolean operator", 2 if len(found) == 1 else 1)
    for index, value in enumerate(node.values):
        if index + 1 < len(spans):
            yield region.replace(spans[index][0], spans[index + 1][0], "", "drop condition")
        else:
            yield region.replace(spans[index - 1][1], spans[index][1], "", "drop condition")
        if isinstance(value, ast.BoolOp):
            outer, inner = spans[index], region.source.span(value)
            if outer != inner:
                yield region.replace(*outer, region.text(value), "parentheses")
    mixed = [(i, v) for i, v in enumerate(node.values) if isinstance(v, ast.BoolOp)]
    for index, value in mixed:
        if spans[index] == region.source.span(value) and symbol == "or":
            # `a or b and c` → `(a or b) and c`, `a and b or c` → `a and (b or c)`
            first, last = region.source.outer_span(value.values[0]), region.source.outer_span(value.values[-1])
            if index > 0:
                start = spans[index - 1][0]
                yield region.replace(start, first[1], f"({region.source.text[start : first[1]]})", "parentheses")
            if index + 1 < len(spans):
                end = spans[index + 1][1]
                yield region.replace(last[0], end, f"({region.source.text[last[0] : end]})", "parentheses")


def _augmented(region: Region, node: ast.AugAssign) -> Iterator[Draft]:
    symbol = SYMBOLS[type(node.op)]
    start, end = region.source.span(node.target)[1], region.source.span(node.value)[0]
    token = _between(region, start, end, symbol + "=")
    if token is None:
        return
    for other in BITWISE if symbol in BITWISE else ARITHMETIC:
        if other != symbol:
            yield region.replace(*token, other + "=", "augmented assignment", _LIKELY.get((symbol, other), 1))
    yield region.replace(*token, "=", "augmented assignment", 2)


def _between(region: Region, start: int, end: int, symbol: str) -> tuple[int, int] | None:
    """Where the operator stands between two operands."""
    words = symbol.split()
    tokens = list(region.source.tokens_in(start, end))
    for index, token in enumerate(tokens):
        if [t.text for t in tokens[index : index + len(words)]] == words:
            return token.start, tokens[index + len(words) - 1].end
    return None


def _slice(region: Region, first: ast.expr, last: ast.expr) -> str:
    return region.source.text[region.source.outer_span(first)[0] : region.source.outer_span(last)[1]]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
