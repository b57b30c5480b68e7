"""One name of one file replaced by another, at nodes of its tree; and what must hold for that."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from coder.patch import Edit, Span, apply_edits
from coder.repair.source import FunctionNode, Source
from coder.verbs.scopes import Unclear, uses
from sandbox.trees import parse

_DEFINED = re.compile(r"(?:async\s+def|def|class)\s+")
_PLAIN = frozenset("abc contextlib functools typing typing_extensions".split())
"""Modules whose decorators do not go by names of what they decorate."""


def renamed(source: Source, nodes: Sequence[ast.AST], old: str, new: str, scope: ast.AST | None = None) -> list[Edit]:
    """The edits that put `new` for `old` at the nodes. With `scope`, those among them that are its uses of `old` must
    be all of its uses of `new` afterwards. Raises Unclear where they are not, and where the tree has a wrong place."""
    spans = {_place(source, node, old) for node in nodes}
    edits = [Edit(Span(source.path, start, start + len(old)), new) for start in sorted(spans)]
    try:
        after = parse(apply_edits(source.text, edits))
    except SyntaxError:
        raise Unclear(f"{source.path} would not parse") from None
    walked, numbers = list(ast.walk(after)), _numbers(source.tree)
    if not all(_goes_by(walked[numbers[id(node)]], new) for node in nodes):
        raise Unclear(f"{old} is not where the tree of {source.path} says")  # as in some f-strings
    if scope is not None:
        meant, there = {numbers[id(node)] for node in uses(scope, old)}, _numbers(after)
        if {there[id(node)] for node in uses(walked[numbers[id(scope)]], new)} != meant:
            raise Unclear(f"{new} has a meaning already where {old} is used in {source.path}")
    return edits


def heed_decorators(function: FunctionNode, name: str) -> None:
    """Raises Unclear where a decorator may go by the name of a function or parameter: one that is told it, or one of a
    library, as those that make commands, routes and fixtures."""
    for decorator in function.decorator_list:
        shown = ast.unparse(decorator)
        library, dot, _ = shown.partition("(")[0].partition(".")
        texts = [str(one.value) for one in ast.walk(decorator) if isinstance(one, ast.Constant)]
        told = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts)
        if told or (dot and library not in _PLAIN):
            raise Unclear(f"@{shown} may go by the name {name}")


def _goes_by(node: ast.AST, name: str) -> bool:
    return any(getattr(node, part, None) == name for part in ("id", "arg", "attr", "name", "value"))


def _numbers(tree: ast.AST) -> dict[int, int]:
    """Each node's place in the walk, the same in a tree that differs in names alone."""
    return {id(node): number for number, node in enumerate(ast.walk(tree))}


def _place(source: Source, node: ast.AST, old: str) -> int:
    """Where the name stands that a node has."""
    start, end = source.span(node)
    match node:
        case ast.Attribute():
            start = end - len(old)
        case ast.Constant():
            start += source.text[start:end].find(old)
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            found = _DEFINED.match(source.text, start)
            start = found.end() if found else start
    if source.text[start : start + len(old)] != old:
        raise Unclear(f"{old} in line {getattr(node, 'lineno', '?')} of {source.path} is not where the tree says")
    return start
