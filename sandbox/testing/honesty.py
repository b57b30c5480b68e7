"""The static gate on a change: what a repair never needs and a faked pass often does.

Tests that run in one process with the code they judge can be fooled by that code; the canary and the events catch most
of it, and this gate the rest: values that equal everything, answers read from the caller's frame. Only what is new
counts: each finding is a short text, and the change is clean when the new file has none more often than the old one.
Answers made to fit the tests' inputs are beyond any gate.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from sandbox.testing import endings, texts
from sandbox.testing.banlist import (
    BANNED_MODULES,
    BANNED_NAMES,
    COMPARISONS,
    FAKING_METHODS,
    FRAME_NAMES,
    HARMLESS_MODULES,
    HIDDEN,
    LIMITED,
    MAKERS,
    PLAIN_DUNDERS,
    SNIFFED,
)
from sandbox.testing.imports import importable
from sandbox.testing.protected import is_protected
from sandbox.testing.report import relative
from sandbox.working_copy import WorkingCopy


def inspect_change(
    path: str, before: str, after: str, allow_tests: bool = False, imported: Collection[str] = ()
) -> list[str]:
    """Why the change of the file at `path` from `before` to `after` is refused; empty for a clean one.

    `imported` names top-level modules that the repository has or already imports elsewhere.
    A file that is not Python is only asked whether it is a test or configures tests.
    """
    if is_protected(path):
        return [] if allow_tests else [f"{path} is a test or configures tests"]
    reasons = [f"{path}: {reason}" for reason in _new(_hidden(before), _hidden(after))]
    if not path.endswith((".py", ".pyi", ".pyw")):
        return reasons + [
            f"{path}: {reason}" for reason in _new(endings.found(path, before), endings.found(path, after))
        ]
    new = _tree(after)
    if new is None:
        return [*reasons, f"{path}: not valid Python"]
    old = _tree(before) or ast.Module([], [])
    known = HARMLESS_MODULES | set(imported) | {module for module, _ in _imports(old)}
    old_findings, new_findings = (list(_Findings(tree, known).all()) for tree in (old, new))
    return reasons + [f"{path}: {reason}" for reason in _new(old_findings, new_findings)]


def inspect_files(
    tree: WorkingCopy, files: Mapping[str, str], allow_tests: bool = False, judges: Collection[str] = ()
) -> list[str]:
    """`inspect_change` for each of `files`, whole new texts by path, against the pristine `tree`.

    `judges` are files that are known to hold tests, whatever their names. Permission to change these does not make them
    exempt from the rest: they may hold the code as well.
    """
    imported = importable(tree)
    reasons: list[str] = []
    for name, after in files.items():
        path = relative(name)
        reasons += inspect_change(path, texts.read(tree, path), after, allow_tests, imported)
        if path in judges and not allow_tests:
            reasons.append(f"{path} is run as a test")
    return reasons


def _new(before: list[str], after: list[str]) -> list[str]:
    return sorted(Counter(after) - Counter(before))


def _tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.lstrip("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _hidden(text: str) -> list[str]:
    return [f"hidden character U+{ord(found):04X}" for found in HIDDEN.findall(text.lstrip("\ufeff"))]


def _imports(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    """Top-level names of the modules imported anywhere in `tree`; "" for the package's own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node
        elif isinstance(node, ast.ImportFrom):
            yield ("" if node.level else (node.module or "").partition(".")[0]), node


class _Findings:
    """All that is suspicious in one tree. `known` modules may be imported."""

    def __init__(self, tree: ast.Module, known: Collection[str]) -> None:
        self._tree = tree
        self._known = known
        self._modules: dict[str, str] = {}
        self._imported: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self._modules[bound] = alias.name.partition(".")[0]
                    self._imported.add(bound)
            elif isinstance(node, ast.ImportFrom):
                self._imported.update(alias.asname or alias.name for alias in node.names)
        self._bases = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}

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
                yield from _call(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _method(node)
            elif isinstance(node, ast.ClassDef):
                yield from _class(node)
            elif isinstance(node, ast.Raise):
                yield from _raise(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                for word in SNIFFED.findall(node.value):
                    yield f"text {word!r}"

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

    def _name(self, node: ast.Name) -> Iterator[str]:
        module = self._modules.get(node.id)
        if isinstance(node.ctx, ast.Load):
            if module in BANNED_MODULES:
                yield f"use of {module}"
            elif module in LIMITED and id(node) not in self._bases:
                yield f"{module} as a value"
            if node.id in BANNED_NAMES:
                yield f"use of {node.id}"
        elif node.id in FAKING_METHODS:
            yield f"a new {node.id}"

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        name = node.attr
        owner = self._modules.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if owner in LIMITED and name not in LIMITED[owner]:
            yield f"{owner}.{name}"
        elif name.strip("_") in LIMITED or (name.strip("_") in BANNED_MODULES and _root(node) in self._imported):
            yield f"module {name} reached through another"
        if name in FRAME_NAMES or name in MAKERS:
            yield f"attribute {name}"
        if name.startswith("__") and name.endswith("__"):
            if name not in PLAIN_DUNDERS:
                yield f"attribute {name}"
            elif not isinstance(node.ctx, ast.Load) and name not in ("__cause__", "__context__", "__doc__", "__name__"):
                yield f"assignment to {name}"
        if not isinstance(node.ctx, ast.Load) and (root := _root(node)) in self._imported:
            yield f"assignment to {root}.{name}"


def _root(node: ast.Attribute) -> str:
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _call(node: ast.Call) -> Iterator[str]:
    if not isinstance(node.func, ast.Name):
        return
    if node.func.id == "getattr":
        name = node.args[1] if len(node.args) > 1 else None
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            yield "getattr with a computed name"
        elif name.value.startswith("_"):
            yield f"getattr of {name.value}"
    elif node.func.id == "type" and len(node.args) > 1:
        yield "a class made by type()"


def _method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    if node.name in FAKING_METHODS:
        yield f"a new {node.name}"
    returns = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
    if node.name in COMPARISONS and returns and all(isinstance(value, ast.Constant) for value in returns):
        yield f"{node.name} that does not compare"


def _class(node: ast.ClassDef) -> Iterator[str]:
    for keyword in node.keywords:
        if keyword.arg == "metaclass":
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
