"""A source file as the injector sees it: syntax tree, character spans, functions, and the names at hand."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, order=True)
class Change:
    """Characters [start, end) of a file become `after`."""

    start: int
    end: int
    after: str


def apply_changes(text: str, changes: tuple[Change, ...]) -> str:
    for change in sorted(changes, reverse=True):
        text = text[: change.start] + change.after + text[change.end :]
    return text


class SourceFile:
    def __init__(self, text: str):
        self.text = text
        self.tree = ast.parse(text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Character offset of a line (from 1) and a column in bytes, as `ast` counts them."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt | ast.keyword)
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def text_of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def replace(self, node: ast.AST, after: str) -> Change:
        return Change(*self.span(node), after)

    def line_bounds(self, node: ast.stmt) -> tuple[int, int]:
        """The whole lines of a statement, with the last line's end."""
        assert node.end_lineno is not None
        return self._starts[node.lineno - 1], min(self._starts[node.end_lineno], len(self.text))

    def statement_of(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    @cached_property
    def functions(self) -> list[FunctionNode]:
        return [node for node in ast.walk(self.tree) if isinstance(node, FunctionNode)]

    @cached_property
    def callables(self) -> list[str]:
        """Functions, classes and imported names of the module."""
        names = set()
        for node in self.tree.body:
            if isinstance(node, FunctionNode | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.ImportFrom):
                names.update(alias.asname or alias.name for alias in node.names)
        return sorted(names)

    @cached_property
    def methods(self) -> list[str]:
        """Names of attributes that are called."""
        calls = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return sorted({function.attr for function in calls if isinstance(function, ast.Attribute)})

    @cached_property
    def attributes(self) -> dict[str, list[str]]:
        """Attributes that are read and not called, by the text of what they are read from; under "" all of them."""
        found: dict[str, set[str]] = defaultdict(set)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and not self.is_called(node) and not self.in_f_string(node):
                found[self.text_of(node.value)].add(node.attr)
                found[""].add(node.attr)
        return {receiver: sorted(names) for receiver, names in found.items()}

    @cached_property
    def keywords(self) -> list[str]:
        passed = {node.arg for node in ast.walk(self.tree) if isinstance(node, ast.keyword) and node.arg}
        return sorted(passed | {node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)})

    def is_called(self, node: ast.AST) -> bool:
        parent = self.parents.get(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def in_f_string(self, node: ast.AST) -> bool:
        # Python 3.11 gives wrong positions inside f-strings.
        above = self.parents.get(node)
        while above is not None and not isinstance(above, ast.stmt):
            if isinstance(above, ast.JoinedStr):
                return True
            above = self.parents.get(above)
        return False


@dataclass(frozen=True)
class Site:
    """A node in the body of a function, where a bug may go."""

    source: SourceFile
    function: FunctionNode
    node: ast.AST

    @cached_property
    def parent(self) -> ast.AST:
        return self.source.parents[self.node]

    @cached_property
    def variables(self) -> list[str]:
        """Parameters and assigned names of the function, without self and cls."""
        arguments = {node.arg for node in ast.walk(self.function.args) if isinstance(node, ast.arg)}
        stored = (node for node in ast.walk(self.function) if isinstance(node, ast.Name))
        assigned = {node.id for node in stored if isinstance(node.ctx, ast.Store)}
        return sorted((arguments | assigned) - {"self", "cls", "_"})

    @cached_property
    def values(self) -> list[str]:
        """Short expressions at hand: variables and the attributes of self."""
        return self.variables + [f"self.{name}" for name in self.source.attributes.get("self", []) if self.has_self]

    @property
    def has_self(self) -> bool:
        arguments = self.function.args.args
        return bool(arguments) and arguments[0].arg == "self"


def body_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """Statements and expressions of a function's body: no decorators, annotations, docstring, nested functions."""
    body = list(function.body)
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, FunctionNode | ast.ClassDef | ast.JoinedStr):
            continue
        if isinstance(node, ast.expr | ast.stmt | ast.keyword):
            yield node
        annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
        waiting += [child for child in reversed(list(ast.iter_child_nodes(node))) if child is not annotation]


BUILTIN_FUNCTIONS = sorted(name for name in dir(builtins) if name.islower() and callable(getattr(builtins, name)))
