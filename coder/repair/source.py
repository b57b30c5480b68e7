"""A Python file as the repair sees it: its text, its tree, and the way from one to the other.

Edits are made on the text, at offsets taken from the tree, so that all formatting outside an edit stays as it was.
`ast` counts columns in UTF-8 bytes and lines by `\\n`; everything here counts characters of the decoded text.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from coder.repair.text import Text
from sandbox.trees import expression, parse

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
ATOM = 14
_BINDING: dict[type, int] = {
    ast.NamedExpr: 0, ast.Lambda: 0, ast.Yield: 0, ast.IfExp: 1, ast.Or: 2, ast.And: 3, ast.Not: 4, ast.Compare: 5,
    ast.BitOr: 6, ast.BitXor: 7, ast.BitAnd: 8, ast.LShift: 9, ast.RShift: 9, ast.Add: 10, ast.Sub: 10, ast.Mult: 11,
    ast.Div: 11, ast.FloorDiv: 11, ast.Mod: 11, ast.MatMult: 11, ast.USub: 12, ast.UAdd: 12, ast.Invert: 12,
    ast.Pow: 13, ast.Await: 13,
}  # fmt: skip


@dataclass(frozen=True)
class Token:
    """One token: its kind (`tokenize.OP` and kin), text and half-open range of characters."""

    kind: int
    text: str
    start: int
    end: int


class Source(Text):
    """One parsed file. Raises SyntaxError when `text` is no Python."""

    comment = "#"

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text)
        self.tree = parse(text)
        self.parents: dict[ast.AST, ast.AST] = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        # What is asked of the same nodes thousands of times.
        self._spans: dict[ast.AST, tuple[int, int]] = {}
        self._tightness: dict[ast.AST, int] = {}

    def offset(self, line: int, column: int) -> int:
        """The character offset of 1-based `line` and byte `column`."""
        if line > len(self.lines):
            return len(self.text)
        text = self.lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="ignore"))
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """The range of characters of an expression or statement (its parentheses not counted)."""
        if node not in self._spans:
            self._spans[node] = self._span(node)
        return self._spans[node]

    def _span(self, node: ast.AST) -> tuple[int, int]:
        end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
        assert end_line is not None and end_column is not None, f"{type(node).__name__} has no position"
        return (
            self.offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self.offset(end_line, end_column),
        )

    def segment(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    @cached_property
    def tokens(self) -> list[Token]:
        """All tokens but layout, in order."""
        skip = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER}
        found = []
        # tokenize counts columns in characters, unlike ast.
        for token in tokenize.generate_tokens(io.StringIO(self.text, newline="\n").readline):
            if token.type not in skip:
                start = self._starts[token.start[0] - 1] + token.start[1]
                end = self._starts[token.end[0] - 1] + token.end[1]
                found.append(Token(token.type, token.string, start, end))
        return found

    def tokens_in(self, start: int, end: int) -> Iterator[Token]:
        """Tokens that lie within [start, end)."""
        low, high = 0, len(self.tokens)
        while low < high:
            middle = (low + high) // 2
            if self.tokens[middle].start < start:
                low = middle + 1
            else:
                high = middle
        for index in range(low, len(self.tokens)):
            if self.tokens[index].end > end:
                return
            yield self.tokens[index]

    def outer_span(self, node: ast.AST) -> tuple[int, int]:
        """The range of an expression with the parentheses that directly enclose it, never those of a call."""
        start, end = self.span(node)
        parent = self.parents.get(node)
        low, high = self.span(parent) if parent is not None and hasattr(parent, "lineno") else (0, len(self.text))
        if isinstance(parent, ast.Call) and node is not parent.func:
            low = self.span(parent.func)[1] + 1
            high -= 1
        before = [token for token in self.tokens_in(low, start)]
        after = [token for token in self.tokens_in(end, high)]
        for left, right in zip(reversed(before), after):
            if left.text != "(" or right.text != ")":
                break
            start, end = left.start, right.end
        return start, end

    def statement_lines(self, statement: ast.stmt) -> tuple[int, int] | None:
        """The range of the whole lines that a statement fills, or None when it shares a line with another one."""
        first = min([statement.lineno, *(node.lineno for node in getattr(statement, "decorator_list", []))])
        start, end = self.line_start(first), self.line_start((statement.end_lineno or first) + 1)
        own_start, own_end = self.span(statement)
        before = self.text[start : min(own_start, end)] if first == statement.lineno else ""
        after = self.text[own_end:end].strip()
        if before.strip() or (after and not after.startswith("#")):
            return None
        return start, end

    def indentation(self, statement: ast.stmt) -> str:
        return self.indentation_of(statement.lineno)

    def fitted(self, node: ast.expr, text: str) -> str:
        """`text` as it must stand where `node` stands: in parentheses where the neighbours bind more tightly."""
        if node not in self._tightness:
            need = self._needed(node)
            self._tightness[node] = need if need and self.outer_span(node) == self.span(node) else 0
        need = self._tightness[node]
        return f"({text})" if need and binding(text) < need else text

    def _needed(self, node: ast.expr) -> int:
        """How tightly an expression must bind to stand where `node` stands without parentheses."""
        parent = self.parents.get(node)
        match parent:
            case ast.BoolOp() | ast.UnaryOp():
                return _BINDING[type(parent.op)]
            case ast.BinOp():
                own = _BINDING[type(parent.op)]
                return own + int((parent.right is node) != isinstance(parent.op, ast.Pow))
            case ast.Compare() | ast.Starred():
                return _BINDING[ast.Compare] + 1
            case ast.IfExp() if parent.orelse is not node:
                return _BINDING[ast.Or]
            case ast.Attribute() | ast.Await():
                return ATOM
            case ast.Call() if parent.func is node:
                return ATOM
            case ast.Subscript() if parent.value is node:
                return ATOM
        return 0

    def functions(self) -> list[FunctionNode]:
        """Functions and methods that no other function encloses, in order."""
        found: list[FunctionNode] = []

        def visit(node: ast.AST) -> None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, FunctionNode):
                    found.append(child)
                elif isinstance(child, ast.stmt | ast.ExceptHandler):
                    visit(child)

        visit(self.tree)
        return found

    def top_level(self) -> list[ast.stmt]:
        """Statements outside functions, those of class bodies too; definitions and imports left out."""
        found: list[ast.stmt] = []

        def visit(body: list[ast.stmt]) -> None:
            for statement in body:
                if isinstance(statement, ast.ClassDef):
                    visit(statement.body)
                elif not isinstance(statement, (FunctionNode, ast.Import, ast.ImportFrom)):
                    found.append(statement)

        visit(self.tree.body)
        return found

    def header(self, statement: ast.stmt) -> tuple[int, int]:
        """First and last line of a statement without the blocks inside it and the comments on top of those."""
        last = statement.end_lineno or statement.lineno
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body:
            last = max(statement.lineno, body[0].lineno - 1)
            while last > statement.lineno and self.lines[last - 1].strip()[:1] in ("", "#"):
                last -= 1
        return statement.lineno, last

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement whose header stands on a line."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt)]
        here = [node for node in found if self.header(node)[0] <= line <= self.header(node)[1]]
        return max(here, key=lambda node: node.lineno, default=None)

    def enclosing(self, node: ast.AST, *kinds: type) -> ast.AST | None:
        """The nearest ancestor of one of the kinds."""
        parent = self.parents.get(node)
        while parent is not None and not isinstance(parent, kinds):
            parent = self.parents.get(parent)
        return parent

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parents.get(current)
        return current


@lru_cache(maxsize=1 << 15)
def binding(text: str) -> int:
    """How tightly an expression's text keeps together: ATOM when nothing can tear it apart."""
    try:
        node = expression(text)
    except SyntaxError:
        return ATOM
    if node.col_offset > 0:
        return ATOM  # it begins behind a parenthesis
    match node:
        case ast.BoolOp() | ast.UnaryOp() | ast.BinOp():
            return _BINDING[type(node.op)]
        case ast.Tuple() | ast.GeneratorExp():
            return ATOM if text.startswith("(") else 0
    return _BINDING.get(type(node), ATOM)
