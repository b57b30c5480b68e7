"""What is suspicious in the text of one Python file: each finding a short text, the same for the same thing."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from sandbox.testing import places
from sandbox.testing.banlist import (
    BANNED_MODULES,
    BANNED_NAMES,
    COMPARISONS,
    EQUALITY,
    FAKING_METHODS,
    FIELDS,
    FRAME_NAMES,
    LIMITED,
    LOOKUPS,
    MAKERS,
    METACLASSES,
    PLAIN_DUNDERS,
    SNIFFED,
)
from sandbox.testing.foreign import Foreign, called


def top_modules(tree: ast.AST) -> Iterator[str]:
    """Top-level names of the modules imported anywhere in `tree`; "" for the package's own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "" if node.level else (node.module or "").partition(".")[0]


class Findings:
    """All that is suspicious in one tree. `known` modules may be imported."""

    def __init__(self, tree: ast.Module, known: Collection[str]) -> None:
        self._tree = tree
        self._known = known
        self._modules: dict[str, str] = {}
        self._imported: set[str] = set()
        self._once: set[str] = set()
        self._foreign = Foreign(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self._modules[bound] = alias.name.partition(".")[0]
                    self._imported.add(bound)
            elif isinstance(node, ast.ImportFrom):
                self._imported.update(alias.asname or alias.name for alias in node.names)
        self._asked = {id(part) for node in ast.walk(tree) for part in _asked(node)}
        self._called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        functions = ast.FunctionDef | ast.AsyncFunctionDef
        self._defined = {node.name for node in ast.walk(tree) if isinstance(node, functions)} - FIELDS

    def all(self) -> Iterator[str]:
        docstrings = set(_docstrings(self._tree))
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._import(node)
            elif isinstance(node, ast.Name):
                yield from self._name(node)
            elif isinstance(node, ast.Attribute):
                yield from self._attribute(node)
            elif isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, ast.Match):
                yield from self._patterns(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _method(node)
            elif isinstance(node, ast.ClassDef):
                yield from _class(node)
            elif isinstance(node, ast.Raise):
                yield from _raise(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                for word in SNIFFED.findall(node.value):
                    yield f"text {word!r}"
        yield from places.found(self._tree)

    def _import(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(node, ast.Import):
            names = [(alias.name, "") for alias in node.names]
        elif node.level:
            names = [("", alias.name) for alias in node.names]
            if _is_test_module(node.module or "") or any(_is_test_module(member) for _, member in names):
                yield f"import from {node.module}"
        else:
            names = [(node.module or "", alias.name) for alias in node.names]
        for module, member in names:
            top = module.partition(".")[0]
            if top in BANNED_MODULES or _is_test_module(module):
                yield f"import of {module}"
            elif member == "*":
                yield f"import of everything in {module}"
            elif top in LIMITED:
                if member and member not in LIMITED[top]:
                    yield f"{top}.{member}"
            elif top and top not in self._known:
                yield f"import of {module}"
            if member.strip("_") in BANNED_MODULES | set(LIMITED):
                yield f"import of {member}"
        for alias in node.names:
            if alias.asname and alias.name in MAKERS | LOOKUPS:
                yield f"{alias.name} under another name"

    def _name(self, node: ast.Name) -> Iterator[str]:
        module = self._modules.get(node.id)
        if isinstance(node.ctx, ast.Load):
            if module in BANNED_MODULES:
                yield f"use of {module}"
            elif module in LIMITED:
                if id(node) not in self._asked:
                    yield f"{module} as a value"
            elif module and id(node) not in self._asked and self._foreign.is_module(node):
                yield from self._first(f"module {node.id} as a value")
            if node.id in BANNED_NAMES:
                yield f"use of {node.id}"
            elif node.id in ("getattr", "attrgetter") and id(node) not in self._called:
                yield f"{node.id} as a value"
        elif node.id in FAKING_METHODS:
            yield f"a new {node.id}"

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        name = node.attr
        yield from self._reached(node.value, name)
        if name in LOOKUPS and id(node) not in self._called:
            yield f"{name} as a value"
        if isinstance(node.ctx, ast.Load):
            return
        if name in PLAIN_DUNDERS and name not in ("__cause__", "__context__", "__doc__", "__name__"):
            yield f"assignment to {name}"
        if self._foreign.may_be(node.value):
            yield from self._first(f"assignment to {ast.unparse(node)}")

    def _reached(self, owner: ast.expr | None, name: str) -> Iterator[str]:
        """What is wrong with asking `owner` for its attribute `name`; None where the owner may be anything."""
        module = self._modules.get(owner.id) if isinstance(owner, ast.Name) else None
        plain = name.strip("_")
        if module in LIMITED and name not in LIMITED[module]:
            yield f"{module}.{name}"
        elif plain in LIMITED or (plain in BANNED_MODULES and (owner is None or _root(owner) in self._imported)):
            yield f"module {name} reached through another"
        if name in FRAME_NAMES or name in MAKERS:
            yield f"attribute {name}"
        if name.startswith("__") and name.endswith("__") and name not in PLAIN_DUNDERS:
            yield f"attribute {name}"

    def _call(self, node: ast.Call) -> Iterator[str]:
        name = called(node)
        if isinstance(node.func, ast.Name) and name == "getattr":
            yield from self._looked_up(name, node.args[0] if node.args else None, node.args[1:2] or [node])
        elif isinstance(node.func, ast.Name) and name == "type" and len(node.args) > 1:
            yield "a class made by type()"
        elif name in METACLASSES:
            yield f"a class made by {name}()"
        elif name == "attrgetter":
            yield from self._looked_up(name, None, [*node.args, *(keyword.value for keyword in node.keywords)])
        elif isinstance(node.func, ast.Attribute) and name == "get_field":
            # That of string.Formatter takes three arguments; other classes have methods of that name.
            known = bool(node.args) and isinstance(node.args[0], ast.Constant)
            if known or _is_spread(node) or len(node.args) + len(node.keywords) >= 3:
                yield from self._looked_up(name, None, node.args[:1] or [node], skipped=1)
        if name not in self._defined:
            yield from _blind(node)

    def _looked_up(
        self, function: str, owner: ast.expr | None, names: Collection[ast.expr], skipped: int = 0
    ) -> Iterator[str]:
        """A function that gets attributes by their dotted names, the first `skipped` words of which are none."""
        for name in names:
            if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
                yield f"{function} with a computed name"
                continue
            for part in _WORDS.findall(name.value)[skipped:]:
                yield from self._reached(owner, part)
                if part.startswith("_"):
                    yield f"{function} of {part}"

    def _patterns(self, node: ast.Match) -> Iterator[str]:
        """Attributes that the patterns for classes ask for."""
        for pattern in (part for one in node.cases for part in ast.walk(one.pattern)):
            if isinstance(pattern, ast.MatchClass):
                for name in pattern.kwd_attrs:
                    yield from self._reached(node.subject, name)

    def _first(self, finding: str) -> Iterator[str]:
        """A finding that counts once: what the code does already it may do again."""
        if finding not in self._once:
            self._once.add(finding)
            yield finding


_WORDS = re.compile(r"\w+")


def _asked(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions that are only asked for something: for an attribute, or whether they are there at all."""
    match node:
        case ast.Attribute():
            yield node.value
        case ast.Compare() if all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            yield from (node.left, *node.comparators)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.If() | ast.IfExp() | ast.While() | ast.Assert():
            yield node.test
        case ast.Call(func=ast.Name(id="getattr" | "hasattr")):
            yield from node.args[:1]


def _is_spread(node: ast.Call) -> bool:
    """Whether it is not known how many arguments a call has."""
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    return starred or any(keyword.arg is None for keyword in node.keywords)


def _root(value: ast.expr) -> str:
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _blind(node: ast.Call) -> Iterator[str]:
    """Fields of a data class that its comparison leaves out."""
    name = called(node)
    for keyword in node.keywords:
        constant = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        left_out = isinstance(keyword.value, ast.Constant) and not constant
        if keyword.arg == "compare" and (left_out or (name in FIELDS and constant is None)):
            yield f"{name} that does not compare"
        elif name in FIELDS and (keyword.arg is None or (keyword.arg in EQUALITY and constant is not True)):
            yield f"{name} that may not compare"


def _method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    if node.name in FAKING_METHODS:
        yield f"a new {node.name}"
    returns = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
    if node.name in COMPARISONS and returns and all(isinstance(value, ast.Constant) for value in returns):
        yield f"{node.name} that does not compare"


def _class(node: ast.ClassDef) -> Iterator[str]:
    if any(keyword.arg == "metaclass" for keyword in node.keywords):
        yield "a metaclass"
    if any(isinstance(base, ast.Name) and base.id == "type" for base in node.bases):
        yield "a metaclass"


def _raise(node: ast.Raise) -> Iterator[str]:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(raised, ast.Name) and raised.id in ("KeyboardInterrupt", "GeneratorExit"):
        yield f"raising {raised.id}"


def _is_test_module(module: str) -> bool:
    return any(part in ("tests", "test", "conftest") or part.startswith("test_") for part in module.split("."))


def _docstrings(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield id(first.value)
