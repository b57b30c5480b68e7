"""An expression or a statement in the form that was meant: awaited, sorted anew, kept within bounds, counted the other
way round, gathered instead of overwritten; and what stands in the braces of an f-string."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from coder.repair.edits.base import LOOPS, Draft, Region, spelled_alike
from coder.repair.source import binding

Place = ast.Name | ast.Attribute | ast.Subscript
# A name at the beginning of a field of an f-string, what follows it there, and the digits of its format.
_FIELD = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)([^{}]*)\}")
_DIGITS = re.compile(r"\.(\d)[fe%]$")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SUM, _AND = 10, 3  # how tightly `+` and `and` bind


def propose(region: Region) -> Iterator[Draft]:
    for node in region.loads:
        match node:
            case ast.Call():
                yield from _called(region, node)
            case ast.Await():
                yield region.swap(node, region.text(node.value), "drop call", 1)
            case ast.JoinedStr():
                yield from _fields(region, node)
            case ast.BinOp(op=ast.Sub() | ast.Div()):
                yield from _bounded(region, node)
            case ast.BoolOp(op=ast.Or(), values=[first, second]) if isinstance(first, Place):
                if not _asked(region, node):
                    one, other = region.text(first), region.text(second)
                    yield region.swap(node, f"{other} if {one} is None else {one}", "condition donor", 2)
    for statement in region.suspects:
        match statement:
            case ast.Assign(targets=[target], value=value) if isinstance(target, Place):
                yield from _assigned(region, statement, target, value)
            case ast.AugAssign(target=target, op=ast.Add(), value=value):
                text = f"{region.text(target)}.append({region.text(value)})"
                yield region.replace(*region.source.span(statement), text, "augmented assignment", 1)
                yield region.swap(value, f"[{region.text(value)}]", "elements", 1)
            case ast.For(iter=ast.Name() | ast.Attribute() as over):
                yield region.swap(over, f"range(len({region.text(over)}))", "wrap in call", 1)
        if isinstance(statement, ast.For | ast.With) and _waits(region, statement):
            start, _ = region.source.span(statement)
            yield region.replace(start, start, "async ", "statement keyword", 2)


def _waits(region: Region, node: ast.AST) -> bool:
    """Whether the innermost function around a node may await."""
    return isinstance(region.source.enclosing(node, *_FUNCTIONS), ast.AsyncFunctionDef)


def _asked(region: Region, node: ast.expr) -> bool:
    """Whether only the truth of an expression counts."""
    parent = region.parent(node)
    return isinstance(parent, ast.BoolOp | ast.UnaryOp) or getattr(parent, "test", None) is node


def _called(region: Region, node: ast.Call) -> Iterator[Draft]:
    parent, text = region.parent(node), region.text(node)
    if not isinstance(parent, ast.Await) and _waits(region, node):
        yield region.swap(node, f"await {text}", "wrap in call", 4)
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[ast.expr() as end], keywords=[]):
            yield from _counted(region, end)
        case ast.Call(func=ast.Attribute(attr="sort", value=value)) if not isinstance(parent, ast.Expr):
            _, start = region.source.span(node.func)
            given = region.source.text[start : region.source.span(node)[1]].strip()[1:-1].strip()
            new = f"sorted({region.text(value)}{', ' if given else ''}{given})"
            yield region.swap(node, new, "function name", 6)
        case ast.Call(func=ast.Attribute(attr="reverse", value=value), args=[]) if not isinstance(parent, ast.Expr):
            yield region.swap(node, f"{region.text(value)}[::-1]", "function name", 6)
        case ast.Call(func=ast.Attribute(attr="get", value=value), args=[key, *_]):
            yield region.swap(node, f"{region.text(value)}[{region.text(key)}]", "subscript", 1)


def _counted(region: Region, end: ast.expr) -> Iterator[Draft]:
    """`range(n)` that begins at one, or counts down."""
    text = region.text(end)
    summand = text if binding(text) >= _SUM else f"({text})"
    for form, weight in ((f"1, {summand} + 1", 3.0), (f"{summand} - 1, -1, -1", 1.5), (f"{text}, 0, -1", 1.0)):
        yield region.replace(*region.source.outer_span(end), form, "more arguments", weight)


def _bounded(region: Region, node: ast.BinOp) -> Iterator[Draft]:
    """A difference or a ratio that may leave its bounds, or have nothing to divide by."""
    text = region.text(node)
    for form in (f"max(0, {text})", f"max(1, {text})", f"min(1, {text})"):
        yield region.swap(node, form, "wrap in call", 0.7)
    if isinstance(node.op, ast.Div):
        yield region.swap(node, f"{text} if {region.text(node.right)} else 0", "add operand", 1)


def _assigned(region: Region, statement: ast.Assign, target: Place, value: ast.expr) -> Iterator[Draft]:
    """Both sides exchanged; in a loop, a value that is gathered and not only kept."""
    name, text = region.text(target), region.text(value)
    if isinstance(value, Place):
        spans = region.source.span(target), region.source.outer_span(value)
        edits = (region.edit(*spans[0], text), region.edit(*spans[1], name))
        yield Draft("swap operands", edits, f"both sides of `{name} = {text}` exchanged in {region.name}", 1)
    around = region.source.enclosing(statement, *LOOPS, *_FUNCTIONS)
    if not isinstance(around, LOOPS) or isinstance(value, ast.Constant):
        return
    for form in (f"max({name}, {text})", f"min({name}, {text})"):
        yield region.swap(value, form, "wrap in call", 3)
    operand = text if binding(text) > _AND else f"({text})"
    for word in ("or", "and"):
        yield region.swap(value, f"{name} {word} {operand}", "add operand", 0.5)
    yield region.replace(*region.source.span(statement), f"{name}.append({text})", "augmented assignment", 0.3)


def _fields(region: Region, node: ast.JoinedStr) -> Iterator[Draft]:
    """Names and formats of an f-string, found in its text: before Python 3.12 its tree misplaces them."""
    base, _ = region.source.span(node)
    for field in _FIELD.finditer(region.text(node)):
        start, end = base + field.start(1), base + field.end(1)
        for name in region.scope.variables(node):
            if name != field[1]:
                yield region.replace(start, end, name, "identifier", 0.7 + 2 * spelled_alike(name, field[1]))
        digits = _DIGITS.search(field[2])
        if digits:
            at = end + digits.start(1)
            for digit in ("0", "1", "2", "3"):
                if digit != digits[1]:
                    yield region.replace(at, at + 1, digit, "numeric literal", 1)
        elif not re.search("[:!=]", field[2]):
            for form in (":.2f", "!r"):
                at = base + field.end(2)
                yield region.replace(at, at, form, "string literal", 0.3)
