"""Which expressions of a file may stand for a module or a class from elsewhere, whatever it is called there.

Followed are the plain ways to hand such a thing on: assignments, loops, patterns, containers, attributes, arguments and
results of the file's own functions. Calls of others are taken to make something new.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from sandbox.testing.protected import words

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = ast.Module | Function
Key = tuple[int, str]
"""A name in a scope, by the scope's identity; in scope 0 `.name` is an attribute and `name()` the result of a call."""

_HAND_ON = words("next iter list tuple set frozenset dict reversed sorted min max enumerate zip filter nullcontext")
_OWN = ("self", "cls")
_MAKERS = ("__init__", "__new__")


class Foreign:
    """Classes do not count as scopes, nor do comprehensions: their names are those of the function around them."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._scopes: dict[int, Scope] = {}  # of each ast.Name
        self._outer: dict[int, Scope] = {}
        self._bound: dict[int, set[str]] = defaultdict(set)
        self._flows: list[tuple[Scope | None, str, ast.expr]] = []
        self._functions: dict[str, list[Function]] = defaultdict(list)
        self._imports: list[tuple[Scope, str, bool]] = []
        calls: list[ast.Call] = []
        free: list[tuple[Scope, list[str]]] = []
        todo: list[tuple[ast.AST, Scope]] = [(tree, tree)]
        while todo:
            node, scope = todo.pop()
            if isinstance(node, ast.Call):
                calls.append(node)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                free.append((scope, node.names))
            self._names(node, scope)
            self._take(node, scope)
            todo += self._children(node, scope)
        for scope, names in free:
            self._bound[id(scope)].difference_update(names)
        for call in calls:
            self._arguments(call)
        self._modules = {self._key(name, scope) for scope, name, is_module in self._imports if is_module}
        self._foreign = {self._key(name, scope) for scope, name, _ in self._imports}
        self._spread()

    def may_be(self, value: ast.expr) -> bool:
        """Whether `value` may be such a thing, hold it, or be a part of it."""
        match value:
            case ast.Name():
                return self._key(value.id, self._scopes[id(value)]) in self._foreign
            case ast.Attribute(attr="__class__"):
                return not _is_own(value.value)
            case ast.Attribute():
                return (0, f".{value.attr}") in self._foreign or self.may_be(value.value)
            case ast.Call():
                return self._may_give(value)
            case ast.Subscript() | ast.Starred() | ast.NamedExpr():
                return self.may_be(value.value)
            case ast.Tuple() | ast.List() | ast.Set():
                return any(map(self.may_be, value.elts))
            case ast.Dict() | ast.BoolOp():
                return any(map(self.may_be, value.values))
            case ast.IfExp():
                return self.may_be(value.body) or self.may_be(value.orelse)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self.may_be(value.elt)
            case ast.DictComp():
                return self.may_be(value.value)
        return False

    def is_module(self, name: ast.Name) -> bool:
        """Whether a name is that of a module, bound by `import module`."""
        return self._key(name.id, self._scopes[id(name)]) in self._modules

    def _may_give(self, call: ast.Call) -> bool:
        name = called(call)
        if name == "getattr":
            return any(map(self.may_be, call.args[:1]))
        if name == "type" and len(call.args) == 1:
            return not _is_own(call.args[0])
        return (0, f"{name}()") in self._foreign or (name in _HAND_ON and any(map(self.may_be, call.args)))

    def _key(self, name: str, scope: Scope | None) -> Key:
        if scope is None:
            return 0, name
        while scope is not self._tree and name not in self._bound[id(scope)]:
            scope = self._outer[id(scope)]
        return id(scope), name

    def _spread(self) -> None:
        flows = [(self._key(name, scope), value) for scope, name, value in self._flows]
        while True:
            more = {key for key, value in flows if key not in self._foreign and self.may_be(value)}
            if not more:
                return
            self._foreign |= more

    # -- reading the tree ----------------------------------------------------------------------------------------------

    def _children(self, node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        inner = {id(part) for part in (_body(node) if isinstance(node, Function) else [])}
        for child in ast.iter_child_nodes(node):
            yield child, node if isinstance(node, Function) and id(child) in inner else scope

    def _names(self, node: ast.AST, scope: Scope) -> None:
        """The names that a node binds."""
        bound = self._bound[id(scope)]
        match node:
            case ast.Name():
                self._scopes[id(node)] = scope
                if not isinstance(node.ctx, ast.Load):
                    bound.add(node.id)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    self._imports.append((scope, name, isinstance(node, ast.Import)))
                    bound.add(name)
            case ast.ClassDef():
                bound.add(node.name)
                definitions = (part for part in node.body if isinstance(part, ast.FunctionDef))
                self._functions[node.name] += [part for part in definitions if part.name in _MAKERS]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                bound.add(node.name)
                self._functions[node.name].append(node)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                bound.add(name)
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
        if isinstance(node, Function):
            self._outer[id(node)] = scope
            self._bound[id(node)].update(argument.arg for argument in _parameters(node))

    def _take(self, node: ast.AST, scope: Scope) -> None:
        """What a node hands on, and to what."""
        match node:
            case ast.Assign():
                for target in node.targets:
                    self._bind(target, node.value, scope)
            case ast.AnnAssign(value=ast.expr() as value) | ast.AugAssign(value=value) | ast.NamedExpr(value=value):
                self._bind(node.target, value, scope)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._bind(node.target, node.iter, scope)
            case ast.withitem(optional_vars=ast.expr() as target):
                self._bind(target, node.context_expr, scope)
            case ast.Match():
                for pattern in (part for one in node.cases for part in ast.walk(one.pattern)):
                    name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                    if isinstance(name, str):
                        self._flows.append((scope, name, node.subject))
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
                    self._flows.append((None, f"{scope.name}()", value))
        if isinstance(node, Function):
            for argument, default in _defaults(node.args):
                self._flows.append((node, argument.arg, default))

    def _bind(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        match target:
            case ast.Name():
                self._flows.append((scope, target.id, value))
                if isinstance(value, ast.Lambda):
                    self._flows.append((None, f"{target.id}()", value.body))
                    self._functions[target.id].append(value)
            case ast.Attribute():
                self._flows.append((None, f".{target.attr}", value))
            case ast.Subscript() | ast.Starred():
                self._bind(target.value, value, scope)
            case ast.Tuple() | ast.List():
                same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
                parts = value.elts if isinstance(value, ast.Tuple | ast.List) and same else [value] * len(target.elts)
                for part, given in zip(target.elts, parts):
                    self._bind(part, given, scope)

    def _arguments(self, call: ast.Call) -> None:
        """What a call hands to the file's own functions of that name."""
        for function in self._functions.get(called(call), ()):
            names = [argument.arg for argument in _parameters(function)]
            placed = names[1:] if names[:1] and names[0] in _OWN else names
            for number, value in enumerate(call.args):
                spread = number >= len(placed) or any(isinstance(one, ast.Starred) for one in call.args)
                for name in placed if spread else placed[number : number + 1]:
                    self._flows.append((function, name, value))
            for keyword in call.keywords:
                for name in [name for name in names if name == keyword.arg] or placed:
                    self._flows.append((function, name, keyword.value))


def called(call: ast.Call) -> str:
    """The last name of what is called; "" where it has none."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_own(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in _OWN


def _body(function: Function) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else [*function.body]


def _parameters(function: Function) -> list[ast.arg]:
    """All of them, those that are given by place first."""
    given = function.args
    more = [argument for argument in (given.vararg, given.kwarg) if argument is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *more]


def _defaults(given: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    placed = [*given.posonlyargs, *given.args]
    yield from zip(placed[len(placed) - len(given.defaults) :], given.defaults)
    for argument, default in zip(given.kwonlyargs, given.kw_defaults):
        if default is not None:
            yield argument, default
