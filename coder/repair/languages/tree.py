"""A file in one of the languages as the repair sees it: its text and its tree, whose nodes play named parts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from coder.repair.languages.grammar import Grammar, grammar_of
from coder.repair.text import Text

# The fields in which the grammars keep the same part.
PARTS: dict[str, tuple[str, ...]] = {
    "operand": ("argument", "operand", "value"),
    "object": ("object", "operand", "value", "argument", "array"),
    "field": ("property", "field"),
    "index": ("index", "indices"),
    "callee": ("function", "constructor"),
    "called": ("name",),
    "update": ("increment", "update"),
    "first": ("initializer", "init"),
    "value": ("value", "right"),
}
# Functions that are named by what they are assigned to, and the field with that name.
_NAMED_BY = {
    "variable_declarator": "name", "pair": "key", "assignment_expression": "left", "field_definition": "property",
    "public_field_definition": "name", "let_declaration": "pattern",
}  # fmt: skip
EXPRESSIONS = frozenset(
    ("binary", "unary", "update", "call", "new", "member", "index", "ternary", "paren", "name", "number", "string",
     "boolean", "other", "collection")
)  # fmt: skip


class Node:
    """A node of the tree, its range in characters; `kind` is the part it plays, "" for none (see `Grammar`)."""

    __slots__ = ("__dict__", "end", "field", "named", "parent", "raw", "source", "start", "type")

    def __init__(self, raw: Any, source: TreeSource, parent: Node | None, field: str) -> None:
        self.source, self.parent, self.field, self.raw = source, parent, field, raw
        self.type: str = raw.type
        self.named: bool = raw.is_named
        self.start, self.end = source.character(raw.start_byte), source.character(raw.end_byte)

    @cached_property
    def kind(self) -> str:
        kind = self.source.grammar.kinds.get(self.type, "") if self.named else ""
        if kind == "name" and self.parent is not None:
            outer = self.source.grammar.kinds.get(self.parent.type)
            if (outer == "member" and self.field in PARTS["field"]) or (outer == "call" and self.field == "name"):
                return "field"
        return kind

    @cached_property
    def all(self) -> list[Node]:
        """Its children, words and signs too."""
        raw = self.raw
        return [
            Node(child, self.source, self, raw.field_name_for_child(i) or "") for i, child in enumerate(raw.children)
        ]

    @cached_property
    def children(self) -> list[Node]:
        """Its named children without comments."""
        return [child for child in self.all if child.named and "comment" not in child.type]

    def part(self, role: str) -> Node | None:
        """The child that plays a part: a field of that name, or one of `PARTS`."""
        fields = PARTS.get(role, (role,))
        found = next((child for child in self.all if child.field in fields), None)
        if found is None and role == "operator":
            found = next((child for child in self.all if not child.named), None)
        elif found is None and self.children and role == "operand":
            found = self.children[-1]
        elif found is None and self.kind == "index" and len(self.children) == 2:
            found = self.children[("object", "index").index(role)] if role in ("object", "index") else None
        if found is not None and role == "index" and found.type == "subscript_argument_list" and found.children:
            return found.children[0]
        return found

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        return self.source.line_of(self.start)

    @property
    def last_line(self) -> int:
        return self.source.line_of(max(self.start, self.end - 1))

    def walk(self) -> Iterator[Node]:
        """Itself and all named nodes below, in the order of the text, comments left out."""
        yield self
        for child in self.children:
            yield from child.walk()

    def outer(self, *kinds: str) -> Node | None:
        """The nearest node around it of one of the kinds."""
        node = self.parent
        while node is not None and node.kind not in kinds:
            node = node.parent
        return node

    @property
    def condition(self) -> Node | None:
        """The condition of an `if`, a loop or a conditional expression, without its parentheses."""
        found = self.part("condition")
        if found is None and self.kind == "loop":
            found = next((c.part("condition") for c in self.children if c.type == "for_clause"), None)
        while found is not None and found.type in ("parenthesized_expression", "condition_clause") and found.children:
            found = found.part("value") or found.children[0]
        return found if found is not None and found.kind else None

    @property
    def arguments(self) -> list[Node]:
        """What a call is given."""
        given = self.part("arguments")
        return given.children if given is not None else []

    @property
    def called(self) -> Node | None:
        """The name that a call calls: that of a function, or of a method."""
        callee = self.part("callee") or self.part("called")
        if callee is not None and callee.kind == "member":
            return callee.part("field")
        return callee if callee is not None and callee.kind in ("name", "field") else None

    @property
    def receiver(self) -> Node | None:
        """What a method is called on, or whose field is read."""
        if self.kind == "member":
            return self.part("object")
        callee = self.part("callee")
        if callee is None:
            return self.part("object") if self.kind == "call" else None
        return callee.part("object") if callee.kind == "member" else None

    @property
    def is_callee(self) -> bool:
        return self.parent is not None and self.parent.kind in ("call", "new") and self.field in PARTS["callee"]


@dataclass(frozen=True, eq=False)
class Function:
    """A function; lines from 1, both included; `body_line` is where its body begins."""

    name: str
    node: Node
    lineno: int
    end_lineno: int
    body_line: int


class TreeSource(Text):
    """One parsed file. Raises SyntaxError when `text` does not parse, ValueError for a language that is not known."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text)
        grammar = grammar_of(path)
        if grammar is None:
            raise ValueError(f"no grammar for {path}")
        self.grammar: Grammar = grammar
        data = text.encode("utf-8", "surrogateescape")
        self._characters: array[int] | None = None
        if len(data) != len(text):
            lengths = [len(c.encode("utf-8", "surrogateescape")) for c in text]
            self._characters = array("L", (i for i, length in enumerate(lengths) for _ in range(length)))
            self._characters.append(len(text))
        raw = grammar.parser.parse(data).root_node
        if raw.has_error:
            raise SyntaxError(f"{path} does not parse as {grammar.name}")
        self.root = Node(raw, self, None, "")

    @property
    def comment(self) -> str:
        """What begins a comment up to the end of the line."""
        return self.grammar.comment

    def character(self, byte: int) -> int:
        return byte if self._characters is None else self._characters[byte]

    @cached_property
    def _functions(self) -> list[Function]:
        return list(_functions(self.root))

    def functions(self) -> list[Function]:
        """Named functions that no other named one encloses, and unnamed ones with no named one inside, in order.

        Tests that stand beside the code are left out.
        """
        return self._functions

    def is_statement(self, node: Node) -> bool:
        """Whether a node stands in a block, or is the body of an `if` or a loop without braces."""
        parent = node.parent
        if parent is None or not node.named or "comment" in node.type:
            return False
        if parent.kind == "block":
            return node.kind != "block" and node.field != "value"
        return node.field in ("consequence", "alternative", "body") and node.kind in (
            "statement", "if", "loop", "return", "leave",
        )  # fmt: skip


def _functions(node: Node) -> Iterator[Function]:
    before: Node | None = None
    for child in node.children:
        # Rust keeps tests beside the code, marked by an attribute.
        test = before is not None and before.type == "attribute_item" and "test" in before.text
        before = child
        if test:
            continue
        if child.kind != "function":
            yield from _functions(child)
            continue
        name = name_of(child)
        inside = [] if name else list(_functions(child))
        if any(function.name for function in inside):
            yield from inside
            continue
        body = child.part("body")
        start = child.parent if child.parent is not None and child.parent.type in _NAMED_BY else child
        first = body.line + (1 if body is not None and body.text.startswith("{") else 0) if body else child.line
        yield Function(name, child, start.line, child.last_line, min(first, child.last_line))


def name_of(function: Node) -> str:
    """The name of a function, its own or that of what it is assigned to; "" for none."""
    named = function.part("name") or function.part("declarator")
    parent = function.parent
    if named is None and parent is not None and parent.type in _NAMED_BY:
        named = next((child for child in parent.all if child.field == _NAMED_BY[parent.type]), None)
    if named is None:
        return ""
    if named.kind == "member":
        named = named.part("field") or named
    while (inner := named.part("declarator")) is not None:
        named = inner
    return named.text
