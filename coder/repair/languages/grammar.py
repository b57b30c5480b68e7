"""What the repair has to know of a language: which node types of its tree-sitter grammar play which part."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Language, Parser

# The same words in all of these languages.
TRUTH = ("true", "false")


@dataclass(frozen=True)
class Grammar:
    """One language. The second group are sets of node types of its grammar, written as words.

    The parts of a node (its operator, its condition, its arguments) are found by the names of fields, which the
    grammars nearly share: see `tree.PARTS`.
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    entry: str = "language"
    comment: str = "//"

    functions: str = ""
    blocks: str = ""
    """What holds statements directly."""
    statements: str = ""
    """Statements that stand in no block where a body without braces may."""
    binary: str = "binary_expression"
    unary: str = "unary_expression"
    update: str = "update_expression"
    calls: str = "call_expression"
    creations: str = ""
    members: str = ""
    indexes: str = ""
    ternaries: str = ""
    parentheses: str = "parenthesized_expression"
    names: str = "identifier"
    fields: str = ""
    numbers: str = ""
    strings: str = ""
    booleans: str = "true false"
    others: str = ""
    """Further expressions: they are moved and copied whole."""
    collections: str = ""
    assignments: str = "assignment_expression"
    ifs: str = "if_statement"
    loops: str = "for_statement while_statement do_statement"
    returns: str = "return_statement"
    leaves: str = "break_statement continue_statement"
    """Statements after which the rest of their block is not run, beside `returns`."""

    bindings: str = ""
    """What binds names, and in which field, as `type.field`; without a field in all its children."""
    hoisted: str = ""
    """Bindings that hold in the whole function, wherever they stand."""
    conditions: str = "{}"
    """How the condition of an `if` is written."""
    nothing: str = ""
    """The word for no value; empty where there is none."""
    dynamic: bool = False
    """Whether it is JavaScript or made of it: `===`, and values of any kind anywhere."""
    truthy: bool = False
    """Whether any value can be a condition."""
    arithmetic: tuple[str, ...] = ("+", "-", "*", "/", "%")
    comparisons: tuple[str, ...] = ("==", "!=", "<", "<=", ">", ">=")
    steps: tuple[str, ...] = ("{}++", "{}--")
    """How a variable is stepped, as a statement without its end."""
    end: str = ";"
    wraps: str = ""
    """What people forget around an expression, with {} where that stands; parted by semicolons, as the next two."""
    suffixed: str = ""
    """Methods and fields that people forget behind an expression."""
    kin: str = ""
    """Groups of names that are mistaken for each other."""

    @cached_property
    def parser(self) -> Parser:
        """Raises ImportError where the grammar is not installed."""
        return Parser(Language(getattr(importlib.import_module(self.module), self.entry)()))

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """Node type to the part that it plays."""
        parts = {
            "function": self.functions, "block": self.blocks, "binary": self.binary, "unary": self.unary,
            "update": self.update, "call": self.calls, "new": self.creations, "member": self.members,
            "index": self.indexes, "ternary": self.ternaries, "paren": self.parentheses, "name": self.names,
            "field": self.fields, "number": self.numbers, "string": self.strings, "boolean": self.booleans,
            "other": self.others, "collection": self.collections, "assignment": self.assignments, "if": self.ifs,
            "loop": self.loops, "return": self.returns, "leave": self.leaves, "statement": self.statements,
        }  # fmt: skip
        return {kind: part for part, kinds in parts.items() for kind in kinds.split()}

    @cached_property
    def binders(self) -> Mapping[str, tuple[str, ...]]:
        """Node type to the fields that hold the names it binds, none for all its children."""
        found: dict[str, tuple[str, ...]] = {}
        for word in self.bindings.split():
            kind, _, name = word.partition(".")
            found[kind] = (*found.get(kind, ()), *([name] if name else []))
        return found

    @cached_property
    def wrappers(self) -> tuple[str, ...]:
        return _parts(self.wraps)

    @cached_property
    def suffixes_of_values(self) -> tuple[str, ...]:
        return _parts(self.suffixed)

    @cached_property
    def related(self) -> Mapping[str, tuple[str, ...]]:
        """The names that are mistaken for a name."""
        found: dict[str, dict[str, None]] = {}
        for group in _parts(self.kin):
            for name in group.split():
                found.setdefault(name, {}).update({other: None for other in group.split() if other != name})
        return {name: tuple(others) for name, others in found.items()}


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def grammar_of(path: str) -> Grammar | None:
    """The language of a file by its name; None where it is not one of these or its grammar is not installed."""
    from coder.repair.languages.tables import BY_SUFFIX

    grammar = BY_SUFFIX.get(path[path.rfind(".") :] if "." in path.rpartition("/")[2] else "")
    try:
        return grammar if grammar and grammar.parser else None
    except ImportError:
        return None
