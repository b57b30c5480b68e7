"""A function of a parsed file and how suspicious each of its lines is: what the families of edits work on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from coder.patch import Edit, Span
from coder.repair.edits.base import Draft, Hints, short
from coder.repair.languages.binding import fitted
from coder.repair.languages.scope import Scope
from coder.repair.languages.tree import EXPRESSIONS, Function, Node, TreeSource


@dataclass
class TreeRegion:
    """One function (or, with `function` None, the top level of a file). `suspicion` maps lines to (0, 1]; no edit is
    made to statements of which no line is in it."""

    source: TreeSource
    function: Function | None
    scope: Scope
    suspicion: Mapping[int, float]
    hints: Hints = field(default_factory=Hints)

    @classmethod
    def of(
        cls, source: TreeSource, function: Function | None, suspicion: Mapping[int, float], hints: Hints
    ) -> TreeRegion:
        return cls(source, function, Scope(source, function.node if function else None), suspicion, hints)

    @property
    def name(self) -> str:
        return (self.function.name or "a function") if self.function else "the top level"

    @cached_property
    def statements(self) -> list[Node]:
        """Every statement of the region, outer ones first; the body itself where a function has no block."""
        if self.function is None:
            return list(_outside(self.source))
        found = [node for node in self.function.node.walk() if self.source.is_statement(node)]
        body = self.function.node.part("body")
        return found if found or body is None else [body]

    def header(self, statement: Node) -> tuple[int, int]:
        """First and last line of a statement without the blocks inside it."""
        inner = next((n for n in statement.walk() if n is not statement and self.source.is_statement(n)), None)
        last = statement.last_line if inner is None else max(statement.line, inner.line - 1)
        return statement.line, last

    def suspect(self, statement: Node) -> float:
        """The suspicion of a statement: the highest of its lines."""
        first, last = self.header(statement)
        return max((self.suspicion.get(line, 0.0) for line in range(first, last + 1)), default=0.0)

    @cached_property
    def suspects(self) -> list[Node]:
        return [statement for statement in self.statements if self.suspect(statement) > 0]

    @cached_property
    def expressions(self) -> list[Node]:
        """Expressions of suspicious statements, outer ones first."""
        return [node for statement in self.suspects for node in self.within(statement)]

    def within(self, statement: Node) -> Iterator[Node]:
        """The expressions of a statement, those of statements inside it left out."""
        if statement.kind in EXPRESSIONS:
            yield statement
        for child in statement.children:
            if not self.source.is_statement(child):
                yield from self.within(child)

    @cached_property
    def loads(self) -> list[Node]:
        """Expressions that are read: no targets of assignments, no names that are bound here."""
        return [node for node in self.expressions if node.kind != "field" and not self.is_target(node)]

    def is_target(self, node: Node) -> bool:
        """Whether an expression is assigned to, or a name is bound where it stands."""
        parent = node.parent
        while parent is not None and (parent.type.endswith("_pattern") or parent.type == "expression_list"):
            node, parent = parent, parent.parent
        if parent is None:
            return False
        bound = self.source.grammar.binders.get(parent.type)
        if bound is not None and parent.kind not in EXPRESSIONS and (not bound or node.field in bound):
            return True
        return parent.kind in ("assignment", "update") and node.field in ("left", "argument", "")

    def edit(self, start: int, end: int, replacement: str) -> Edit:
        return Edit(Span(self.source.path, start, end), replacement)

    def swap(self, node: Node, text: str, family: str, weight: float = 1.0) -> Draft:
        """Write `text` where the expression `node` stands, in parentheses if need be."""
        return self.replace(node.start, node.end, fitted(node, text), family, weight)

    def replace(self, start: int, end: int, text: str, family: str, weight: float = 1.0, note: str = "") -> Draft:
        old = self.source.text[start:end]
        said = note or (f"`{short(old)}` → `{short(text)}`" if old.strip() else f"insert `{short(text)}`")
        return Draft(family, (self.edit(start, end, text),), f"{said} in {self.name}", weight)

    def siblings(self, statement: Node) -> list[Node]:
        """The statements of the block that holds a statement."""
        parent = statement.parent
        return (
            []
            if parent is None or parent.kind != "block"
            else [n for n in parent.children if self.source.is_statement(n)]
        )

    def whole_lines(self, statement: Node) -> tuple[int, int] | None:
        """The range of the lines that a statement fills, None where it shares one with other code."""
        start, end = self.source.line_start(statement.line), self.source.line_start(statement.last_line + 1)
        after = self.source.text[statement.end : end].strip().lstrip(";").strip()
        if self.source.text[start : statement.start].strip() or (after and not after.startswith(self.source.comment)):
            return None
        return start, end


def _outside(source: TreeSource) -> Iterator[Node]:
    """Statements of the top level, those with a function of their own and imports left out."""
    for node in source.root.walk():
        if source.is_statement(node) and node.outer("function") is None:
            holds = any(inner.kind == "function" for inner in node.walk())
            if not holds and "import" not in node.type and "include" not in node.type:
                yield node
