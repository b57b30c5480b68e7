"""Bugs that no single tree edit undoes: two-place slips, rewritten lines, deleted statements, lost expressions.

57 % of the single-statement fixes of TSSB-3M fall outside its 20 patterns; these stand for them.
"""

from __future__ import annotations

import ast
from random import Random

from benchmarks.injected.code import Change, FunctionNode, Site, SourceFile, body_nodes
from benchmarks.injected.families import FAMILIES

OPERATION = (
    ast.Call | ast.BinOp | ast.Compare | ast.BoolOp | ast.Subscript | ast.UnaryOp | ast.IfExp | ast.comprehension
)

Changes = tuple[Change, ...]


def operations(node: ast.AST) -> int:
    return sum(isinstance(child, OPERATION) for child in ast.walk(node))


def single_change(source: SourceFile, function: FunctionNode, nodes: list[ast.AST], random: Random) -> Change | None:
    """One change at one of the nodes, its family drawn by the published shares."""
    names = list(FAMILIES)
    (name,) = random.choices(names, [FAMILIES[name][0] for name in names])
    for node in random.sample(nodes, len(nodes)):
        if not source.in_f_string(node) and (change := FAMILIES[name][1](Site(source, function, node), random)):
            return change
    return None


def _two_changes(source: SourceFile, function: FunctionNode, random: Random, same_statement: bool) -> Changes | None:
    nodes = list(body_nodes(function))
    first = single_change(source, function, nodes, random)
    if first is None:
        return None

    def near(node: ast.AST) -> bool:
        start, end = source.span(source.statement_of(node))
        return (start <= first.start < end) is same_statement

    second = single_change(source, function, [node for node in nodes if near(node)], random)
    if second is None or not (first.end < second.start or second.end < first.start):
        return None
    if same_statement and source.text.count("\n", *sorted((first.start, second.start))) > 0:
        return None
    return tuple(sorted((first, second)))


def two_places(source: SourceFile, function: FunctionNode, random: Random) -> Changes | None:
    """Slips in two statements of one function."""
    return _two_changes(source, function, random, same_statement=False)


def rewritten_line(source: SourceFile, function: FunctionNode, random: Random) -> Changes | None:
    """Two slips on one line."""
    return _two_changes(source, function, random, same_statement=True)


def is_unique(source: SourceFile, node: ast.AST) -> bool:
    """Whether no other node of the file is written the same: nothing to copy it back from."""
    wanted = ast.dump(node)
    return sum(ast.dump(other) == wanted for other in ast.walk(source.tree) if type(other) is type(node)) == 1


def deleted_statement(source: SourceFile, function: FunctionNode, random: Random) -> Changes | None:
    """A statement with at least two operations in it, written nowhere else in the file, is gone."""
    simple = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.If
    statements = [node for node in body_nodes(function) if isinstance(node, simple)]
    for node in random.sample(statements, len(statements)):
        short = not isinstance(node, ast.If) or (len(node.body) <= 2 and not node.orelse and not is_guard(node))
        elif_branch = isinstance(node, ast.If) and source.text_of(node).startswith("elif")
        if not short or elif_branch or operations(node) < 2 or not is_unique(source, node):
            continue
        start, end = source.line_bounds(node)
        line = source.text[start:end]
        if line.strip() != source.text_of(node).strip() or in_pieces(source, node):
            continue
        if is_only_one(source, node):
            return (source.replace(node, "pass"),)
        return (Change(start, end, ""),)
    return None


def is_guard(node: ast.If) -> bool:
    """`if …: return x`, `raise`, `continue`: a shape that a repairer may well insert by itself."""
    return len(node.body) == 1 and isinstance(
        node.body[0], ast.Return | ast.Raise | ast.Continue | ast.Break | ast.Pass
    )


def in_pieces(source: SourceFile, node: ast.stmt) -> bool:
    """Whether the statement shares its lines with others (`a; b`)."""
    siblings = [child for child in ast.iter_child_nodes(source.parents[node]) if isinstance(child, ast.stmt)]
    return (
        sum(child.lineno <= (node.end_lineno or 0) and (child.end_lineno or 0) >= node.lineno for child in siblings) > 1
    )


def is_only_one(source: SourceFile, node: ast.stmt) -> bool:
    parent = source.parents[node]
    blocks = (getattr(parent, name, []) for name in ("body", "orelse", "finalbody"))
    return any(block == [node] for block in blocks)


def lost_expression(source: SourceFile, function: FunctionNode, random: Random) -> Changes | None:
    """An expression of three operations or more, written nowhere else in the file, shrinks to a name or a constant."""
    nodes = [node for node in body_nodes(function) if isinstance(node, ast.expr) and operations(node) >= 3]
    for node in random.sample(nodes, len(nodes)):
        if isinstance(source.parents[node], ast.Expr) or not is_unique(source, node) or source.in_f_string(node):
            continue
        used = {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
        variables = sorted(used & set(Site(source, function, node).variables))
        return (source.replace(node, random.choice([*variables, "None", "0", '""'])),)
    return None


# Bugs of each kind per hundred bugs of all kinds.
LARGER = {
    "two places": (12, two_places),
    "rewritten line": (10, rewritten_line),
    "deleted statement": (7, deleted_statement),
    "lost expression": (6, lost_expression),
}
