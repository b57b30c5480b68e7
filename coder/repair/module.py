"""What one file offers to the code in it and to other files: names, signatures, attributes, calls."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeGuard
from weakref import WeakKeyDictionary

from coder.repair.source import FunctionNode, Source


@dataclass(frozen=True)
class Signature:
    """What a callee takes: positional names (self left out), keyword-only names, how many must be given."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    required: int
    variadic: bool


@dataclass
class Module:
    """What one file offers: its globals, imported names, signatures of its functions and classes, attributes."""

    names: list[str] = field(default_factory=list)
    callables: dict[str, Signature] = field(default_factory=dict)
    classes: dict[str, list[str]] = field(default_factory=dict)
    methods: dict[str, list[Signature]] = field(default_factory=lambda: defaultdict(list))
    imports: dict[str, str] = field(default_factory=dict)
    path: str = ""


def read_module(tree: ast.Module) -> Module:
    """Collect the names that the top level of a file binds."""
    module = Module()
    for node in _top_level(tree.body):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                module.names.append(node.name)
                module.callables[node.name] = signature(node)
            case ast.ClassDef():
                module.names.append(node.name)
                module.classes[node.name] = class_members(node)
                for member in node.body:
                    if isinstance(member, FunctionNode):
                        taken = signature(member, bound=True)
                        module.methods[member.name].append(taken)
                        if member.name == "__init__":
                            module.callables[node.name] = taken
            case ast.Import():
                for alias in node.names:
                    name = alias.asname or alias.name.split(".")[0]
                    module.names.append(name)
                    module.imports[name] = alias.name
            case ast.ImportFrom():
                for alias in node.names:
                    name = alias.asname or alias.name
                    if name != "*":
                        module.names.append(name)
                        module.imports[name] = f"{'.' * node.level}{node.module or ''}:{alias.name}"
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.For() | ast.With():
                module.names += [name.id for name in ast.walk(node) if is_store(name)]
    return module


def signature(function: FunctionNode, bound: bool = False) -> Signature:
    """How a function is called; `bound`: as a method, its first parameter given."""
    arguments = function.args
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)][int(bound and not static) :]
    return Signature(
        tuple(positional),
        tuple(argument.arg for argument in arguments.kwonlyargs),
        max(0, len(positional) - len(arguments.defaults)),
        arguments.vararg is not None or arguments.kwarg is not None,
    )


class Facts:
    """What the scopes of all functions of one file have in common; collected once for each `Source`."""

    _known: ClassVar[WeakKeyDictionary[Source, Facts]] = WeakKeyDictionary()

    def __init__(self, source: Source) -> None:
        self._tree = source.tree
        self._parents = source.parents
        self.module = read_module(source.tree)

    @classmethod
    def of(cls, source: Source) -> Facts:
        if source not in cls._known:
            cls._known[source] = cls(source)
        return cls._known[source]

    @cached_property
    def attributes(self) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
        """Attributes read or set, and methods called, by the text of the receiver ("*" for any)."""
        data: dict[str, Counter[str]] = defaultdict(Counter)
        called: dict[str, Counter[str]] = defaultdict(Counter)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute):
                parent = self._parents.get(node)
                is_call = isinstance(parent, ast.Call) and parent.func is node
                for receiver in (ast.unparse(node.value), "*"):
                    (called if is_call else data)[receiver][node.attr] += 1
        return data, called

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """Every call with the text of its callee."""
        return [(ast.unparse(n.func), n) for n in ast.walk(self._tree) if isinstance(n, ast.Call)]

    @cached_property
    def constants(self) -> list[ast.Constant]:
        """Every constant but docstrings and parts of f-strings."""
        return [
            node
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Constant) and not isinstance(self._parents.get(node), ast.Expr | ast.JoinedStr)
        ]

    @cached_property
    def conditions(self) -> list[tuple[str, tuple[str, ...]]]:
        """The parts of the file's conditions, short ones, those that occur most often first, with their names."""
        names: dict[str, tuple[str, ...]] = {}
        often: Counter[str] = Counter()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert | ast.comprehension):
                for test in node.ifs if isinstance(node, ast.comprehension) else [node.test]:
                    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
                        text = ast.unparse(part)
                        if len(text) <= 60:
                            names[text] = _names(part)
                            often[text] += 1
        return [(text, names[text]) for text, _ in often.most_common()]

    @cached_property
    def keyword_arguments(self) -> dict[str, list[tuple[str, str, tuple[str, ...]]]]:
        """By the last name of the callee: the keyword arguments that calls pass, as (name, `name=value`, names in the
        value)."""
        found: dict[str, list[tuple[str, str, tuple[str, ...]]]] = defaultdict(list)
        for callee, node in self.calls:
            for keyword in node.keywords:
                if keyword.arg:
                    text = f"{keyword.arg}={ast.unparse(keyword.value)}"
                    found[callee.split(".")[-1]].append((keyword.arg, text, _names(keyword.value)))
        return found

    @cached_property
    def raised(self) -> list[str]:
        """Plain names that are raised or caught anywhere, and classes derived from them or named like exceptions."""
        found: dict[str, None] = {}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Raise) and node.exc is not None:
                exc = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                if isinstance(exc, ast.Name):
                    found.setdefault(exc.id)
            elif isinstance(node, ast.ExceptHandler) and node.type is not None:
                found |= dict.fromkeys(name.id for name in ast.walk(node.type) if isinstance(name, ast.Name))
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ClassDef):
                bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                if bases & found.keys() or any(map(like_an_exception, bases)):
                    found.setdefault(node.name)
        return list(found)


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            parts = [node.body, node.orelse, *([h.body for h in node.handlers] if isinstance(node, ast.Try) else [])]
            for part in parts:
                yield from _top_level(part)
        else:
            yield node


def class_members(owner: ast.ClassDef) -> list[str]:
    """Names of methods and attributes that a class defines or that its methods use of `self` and `cls`."""
    members: dict[str, None] = {}
    for node in ast.walk(owner):
        if isinstance(node, FunctionNode) and node in owner.body and not node.name.startswith("__"):
            members.setdefault(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            members.setdefault(node.attr)
        elif isinstance(node, ast.AnnAssign | ast.Assign) and node in owner.body:
            members |= dict.fromkeys(n.id for n in ast.walk(node) if is_store(n))
    return list(members)


def is_store(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def like_an_exception(name: str) -> bool:
    """Whether a name is spelled as those of exceptions are."""
    return name.endswith(("Error", "Exception"))


def _names(node: ast.AST) -> tuple[str, ...]:
    """The plain names in an expression, each once."""
    return tuple(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)))
