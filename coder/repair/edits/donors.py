"""Expressions replaced by others of the same function, and results varied: `+ 1`, `[::-1]`, `abs(…)`, `not …`."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Sequence

from coder.repair.edits.base import Draft, Region


def propose(region: Region) -> Iterator[Draft]:
    for statement in region.suspects:
        if isinstance(statement, ast.Return) and statement.value is not None:
            yield from _returned(region, statement.value)
    donors = [_Donor(region, node) for node in region.scope.expressions]
    for node in region.loads:
        if _replaceable(region, node):
            yield from _donated(region, node, donors)
        if isinstance(node, ast.Name | ast.Call | ast.BinOp | ast.Subscript | ast.Attribute) and not region.is_callee(
            node
        ):
            yield from _offset(region, node)
        if isinstance(node, ast.Name) and isinstance(region.parent(node), ast.Attribute | ast.Call):
            yield from _converted(region, node)
        if isinstance(node, ast.IfExp):
            yield from _branches(region, node)


def _replaceable(region: Region, node: ast.expr) -> bool:
    parent = region.parent(node)
    if region.is_callee(node) or isinstance(node, ast.Constant) or len(region.text(node)) > 120:
        return False
    return not (isinstance(parent, ast.Attribute) and not isinstance(node, ast.Name))


class _Donor:
    """An expression of the function, and what is asked of it for each place that it might be put into."""

    def __init__(self, region: Region, node: ast.expr) -> None:
        self.node = node
        self.text = region.text(node)
        self.truth = _is_truth(node)
        self.callee = region.is_callee(node)
        self.names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _donated(region: Region, node: ast.expr, donors: Sequence[_Donor]) -> Iterator[Draft]:
    text, truth = region.text(node), _is_truth(node)
    hidden = set(region.scope.comprehension_names) - set(region.scope.variables(node))
    matcher = difflib.SequenceMatcher(None, b=text)
    for donor in donors:
        if donor.text == text or (isinstance(donor.node, ast.Name) and isinstance(node, ast.Name)) or donor.callee:
            continue
        if donor.truth != truth or isinstance(donor.node, ast.Lambda) != isinstance(node, ast.Lambda):
            continue
        if donor.names & hidden:
            continue
        matcher.set_seq1(donor.text)
        weight = 0.5 + matcher.quick_ratio()
        kin = type(donor.node) is type(node)
        yield region.swap(node, donor.text, "donor expression", weight * (1.0 if kin else 0.6))


def _offset(region: Region, node: ast.expr) -> Iterator[Draft]:
    text = region.text(node)
    parent = region.parent(node)
    if isinstance(parent, ast.Attribute | ast.Starred | ast.UnaryOp) or (
        isinstance(node, ast.BinOp) and isinstance(parent, ast.BinOp)
    ):
        return
    numeric = isinstance(parent, ast.BinOp | ast.Compare | ast.Slice | ast.Subscript) or (
        isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in ("range", "int", "len", "sum", "abs")
    )
    plain = (
        f"({text})" if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Sub | ast.Mult) else text
    )
    for suffix, weight in (
        (" + 1", 3.0),
        (" - 1", 3.0),
        (" * 2", 0.3),
        (" // 2", 0.5),
        (" / 2", 0.3),
        (" % 2", 0.3),
        (" ** 2", 0.2),
    ):
        if "1" not in suffix and isinstance(node, ast.BinOp):
            plain = f"({text})"
        yield region.swap(node, plain + suffix, "offset", weight * (1 if numeric else 0.3))
    for name in region.scope.variables(node):
        if name != text and numeric:
            for operator in ("+", "-", "*", "%", "//", "/"):
                yield region.swap(node, f"{plain} {operator} {name}", "add operand", 0.4 if operator in "+-" else 0.2)
    for constant in region.scope.constants[:6]:
        if isinstance(constant.value, int) and not isinstance(constant.value, bool) and constant.value not in (0, 1, 2):
            for operator in ("+", "-", "*", "%", "//"):
                yield region.swap(node, f"{plain} {operator} {constant.value}", "add operand", 0.2)
    for default in ("0", "1", "None", "[]", "''", "{}"):
        yield region.swap(node, f"{text} or {default}", "add operand", 0.15)


def _converted(region: Region, node: ast.Name) -> Iterator[Draft]:
    """Another name, in another form: `arr.count("1")` for `bin(x).count("1")`."""
    if region.is_callee(node):
        return
    for name in region.scope.variables(node):
        for function in ("str", "len", "bin", "int", "list", "set", "abs"):
            if name != node.id:
                yield region.swap(node, f"{function}({name})", "donor expression", 0.1)


def _branches(region: Region, node: ast.IfExp) -> Iterator[Draft]:
    body, orelse = region.source.outer_span(node.body), region.source.outer_span(node.orelse)
    text = region.source.text
    edits = (region.edit(*body, text[slice(*orelse)]), region.edit(*orelse, text[slice(*body)]))
    yield Draft("swap operands", edits, f"branches of the conditional expression swapped in {region.name}", 2)
    yield region.swap(node, region.text(node.body), "drop condition")
    yield region.swap(node, region.text(node.orelse), "drop condition")


def _returned(region: Region, node: ast.expr) -> Iterator[Draft]:
    text = region.text(node)
    inner = f"({text})" if isinstance(node, ast.BinOp | ast.IfExp | ast.Compare | ast.BoolOp) else text
    forms = {
        f"not {inner}": 2.0, f"abs({text})": 1.0, f"sorted({text})": 1.0, f"sorted({text}, reverse=True)": 0.7,
        f"{inner}[::-1]": 1.0, f"list({text})": 1.0, f"len({text})": 1.0, f"set({text})": 0.5, f"tuple({text})": 0.7,
        f"int({text})": 1.0, f"str({text})": 1.0, f"float({text})": 0.5, f"round({text}, 2)": 0.5, f"bool({text})": 0.7,
        f"-{inner}": 0.7, f"[{text}]": 0.5, f"sum({text})": 0.5, f"max({text})": 0.3, f"min({text})": 0.3,
        f"{inner}[0]": 0.5, f"{inner}[-1]": 0.3, f"{inner}[:-1]": 0.3, f"{inner}[1:]": 0.3, f"dict({text})": 0.3,
    }  # fmt: skip
    for form, weight in forms.items():
        yield region.swap(node, form, "return value", weight)
    for name in region.scope.variables(node):
        if name != text:
            yield region.swap(node, name, "return value", 1.0)
            yield region.swap(node, f"{inner} + {name}", "return value", 0.2)
            yield region.swap(
                node, f"({text}, {name})" if not isinstance(node, ast.Tuple) else name, "return value", 0.1
            )
    for constant in ("True", "False", "None", "0", "1", "-1", "[]", "''"):
        if constant != text:
            yield region.swap(node, constant, "return value", 0.5)


def _is_truth(node: ast.expr) -> bool:
    """Whether an expression plainly yields a truth value."""
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
