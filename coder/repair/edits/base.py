"""What every family of edits works with: a region of suspicious code, and drafts of edits to it."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from coder.patch import Edit, Span
from coder.repair.scope import Scope
from coder.repair.source import FunctionNode, Source

LOOPS = (ast.For, ast.While, ast.AsyncFor)


@dataclass(frozen=True)
class Draft:
    """Edits of one family. `weight` says how likely they are beside others of the same family in the same region."""

    family: str
    edits: tuple[Edit, ...]
    note: str
    weight: float = 1.0


@dataclass(frozen=True)
class Hints:
    """What the failing tests' text says: constants that stand in it, and names of exceptions that it expects."""

    numbers: tuple[int | float, ...] = ()
    strings: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()


@dataclass
class Region:
    """One function (or, with `function` None, the top level of a file) and how suspicious each of its lines is.

    `suspicion` maps 1-based lines to (0, 1]; lines that are absent were not executed by a failing test, and no edit
    is made to them.
    """

    source: Source
    function: FunctionNode | None
    scope: Scope
    suspicion: Mapping[int, float]
    hints: Hints = field(default_factory=Hints)

    @property
    def name(self) -> str:
        return self.function.name if self.function else "module"

    @cached_property
    def body(self) -> list[ast.stmt]:
        """Statements without the docstring; at the top level, those that are no definitions."""
        if self.function is None:
            return self.source.top_level()
        first = self.function.body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return self.function.body[int(documented) :]

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Every statement of the region, suspicious or not, outer ones first."""
        return [node for statement in self.body for node in _walk(statement) if isinstance(node, ast.stmt)]

    def header(self, statement: ast.stmt) -> tuple[int, int]:
        """First and last line of a statement without the blocks inside it."""
        return self.source.header(statement)

    def suspect(self, statement: ast.stmt) -> float:
        """The suspicion of a statement: the highest of its lines."""
        first, last = self.header(statement)
        return max((self.suspicion.get(line, 0.0) for line in range(first, last + 1)), default=0.0)

    @cached_property
    def suspects(self) -> list[ast.stmt]:
        """Suspicious statements, the most suspicious first: of very many edits, only the first are written."""
        found = [statement for statement in self.statements if self.suspect(statement) > 0]
        return sorted(found, key=lambda statement: -self.suspect(statement))

    @cached_property
    def augmented(self) -> set[str]:
        """Names that are counted up or added to."""
        steps = (node for node in ast.walk(self.scope.root) if isinstance(node, ast.AugAssign))
        return {step.target.id for step in steps if isinstance(step.target, ast.Name)}

    @cached_property
    def expressions(self) -> list[ast.expr]:
        """Expressions of suspicious statements; annotations, and the inside of f-strings, left out."""
        found: list[ast.expr] = []
        for statement in self.suspects:
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.stmt | ast.ExceptHandler):
                    continue
                if child is getattr(statement, "annotation", None) or child is getattr(statement, "returns", None):
                    continue
                if isinstance(statement, FunctionNode) and isinstance(child, ast.arguments):
                    children = [*child.defaults, *(d for d in child.kw_defaults if d)]
                    found += [n for d in children for n in _walk(d) if isinstance(n, ast.expr)]
                elif isinstance(child, ast.match_case):
                    parts: list[ast.AST] = [child.pattern, *([child.guard] if child.guard else [])]
                    found += [n for part in parts for n in _walk(part) if isinstance(n, ast.expr)]
                elif not isinstance(statement, FunctionNode):
                    found += [node for node in _walk(child) if isinstance(node, ast.expr)]
            if isinstance(statement, ast.Try):
                found += [n for h in statement.handlers if h.type for n in _walk(h.type) if isinstance(n, ast.expr)]
        if self.function and self.suspicion:
            arguments = self.function.args
            defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d)]
            found += [n for d in defaults for n in _walk(d) if isinstance(n, ast.expr)]
        return found

    @cached_property
    def loads(self) -> list[ast.expr]:
        """Expressions that are read: no assignment targets, no slices, no keyword or starred wrappers."""
        return [
            node
            for node in self.expressions
            if not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
            and not isinstance(node, ast.Slice | ast.Starred | ast.Yield | ast.YieldFrom)
        ]

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.source.parents.get(node)

    def is_callee(self, node: ast.AST) -> bool:
        parent = self.parent(node)
        return isinstance(parent, ast.Call) and parent.func is node

    def text(self, node: ast.AST) -> str:
        return self.source.segment(node)

    def edit(self, start: int, end: int, replacement: str) -> Edit:
        return Edit(Span(self.source.path, start, end), replacement)

    def swap(self, node: ast.expr, text: str, family: str, weight: float = 1.0) -> Draft:
        """Write `text` where the expression `node` stands, in parentheses if need be."""
        start, end = self.source.span(node)
        old = short(self.source.text[start:end])
        note = f"`{old}` → `{short(text)}` in {self.name}"
        return Draft(family, (self.edit(start, end, self.source.fitted(node, text)),), note, weight)

    def replace(self, start: int, end: int, text: str, family: str, weight: float = 1.0, note: str = "") -> Draft:
        old = self.source.text[start:end]
        return Draft(
            family,
            (self.edit(start, end, text),),
            note or f"`{short(old)}` → `{short(text)}` in {self.name}",
            weight,
        )

    def is_elif(self, statement: ast.stmt) -> bool:
        return self.text(statement).startswith("elif")

    def block_of(self, statement: ast.stmt) -> tuple[list[ast.stmt], int] | None:
        """The block (list of statements) that holds a statement, and its place in it."""
        parent = self.parent(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block, block.index(statement)
        return None


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """`ast.walk` in the order of the text, without the inside of f-strings."""
    yield node
    if isinstance(node, ast.JoinedStr):
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


@lru_cache(maxsize=1 << 15)
def short(text: str, length: int = 48) -> str:
    """Code on one line, cut where it is longer than `length`: how a note names it."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 3] + "…"


@lru_cache(maxsize=100_000)
def spelled_alike(a: str, b: str) -> float:
    """How similar two names are spelled, 0 to 1."""
    return difflib.SequenceMatcher(None, a.lower(), b.lower()).ratio() if min(len(a), len(b)) > 1 else 0.5
