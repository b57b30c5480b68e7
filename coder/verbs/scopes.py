"""Where a name of one scope is used: in the scope itself and in those inside it that do not bind it anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
INNER = (ast.ClassDef, *_FUNCTIONS, *_COMPREHENSIONS)
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_TYPES = ("TypeVar", "ParamSpec", "TypeVarTuple")  # Python 3.11 has none of them in its trees


class Unclear(Exception):
    """The tree does not say where the name is used, or not in a way that can be edited; the message says why."""


def uses(scope: ast.AST, name: str) -> list[ast.AST]:
    """The nodes that stand for the `name` of a scope: names, parameters, definitions, parts of imports. Raises
    Unclear."""
    return [node for node in _within(scope, name) if named(node) == name]


def binds(scope: ast.AST, name: str) -> bool:
    """Whether the name gets a meaning of its own in a scope."""
    own = list(_own(scope))
    declared = any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in own)
    return not declared and any(name in _bound(node, scope) for node in own)


def bound(scope: ast.AST) -> list[str]:
    """The names that a scope gives a meaning."""
    return list(dict.fromkeys(name for node in _own(scope) for name in _bound(node, scope)))


def named(node: ast.AST) -> str:
    """The name that a node stands for, where that can be edited; else nothing."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            return name
        case ast.alias(name=name, asname=None) if "." not in name:
            return name
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
    return ""


def _within(scope: ast.AST, name: str, members: bool = True) -> Iterator[ast.AST]:
    """The nodes of a scope, and of those inside it that see its names; not `members`: of those alone."""
    for node in _own(scope):
        if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            raise Unclear(f"{name} is declared {type(node).__name__.lower()} in line {node.lineno}")
        if not named(node) and name in _bound(node, scope):
            raise Unclear(f"line {getattr(node, 'lineno', '?')} binds {name} in a way that is not edited here")
        if members:
            yield node
        if isinstance(node, INNER):
            own = binds(node, name)
            if own and isinstance(node, ast.ClassDef) and _reads(node, name):
                raise Unclear(f"class {node.name} in line {node.lineno} has and reads a {name}, its own or another")
            if not own or isinstance(node, ast.ClassDef):  # a class's names are not seen by what is inside it
                yield from _within(node, name, members=not own)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are run in a scope; of the scopes inside it, the node and what is run outside of them."""
    waiting = _inside(scope)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _outside(node) if isinstance(node, (*INNER, ast.arg)) else ast.iter_child_nodes(node)


def _outside(node: ast.AST) -> list[ast.AST]:
    """The parts of an inner scope that are run in the one around it."""
    parts: list[ast.AST | None] = []
    match node:
        case ast.ClassDef():
            parts = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords), *_types(node)]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            annotations = [parameter.annotation for parameter in _parameters(node.args)]
            defaults = [*node.args.defaults, *node.args.kw_defaults]
            parts = [*node.decorator_list, *defaults, *annotations, node.returns, *_types(node)]
        case ast.Lambda():
            parts = [*node.args.defaults, *node.args.kw_defaults]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            parts = [node.generators[0].iter]
    return [part for part in parts if part is not None]


def _types(node: ast.AST) -> list[ast.AST]:
    """The type parameters of a definition, and what bounds them: `[T: int]`."""
    return list(getattr(node, "type_params", ()))


def _reads(scope: ast.AST, name: str) -> bool:
    own = (node for node in _own(scope) if isinstance(node, ast.Name) and node.id == name)
    return any(isinstance(node.ctx, ast.Load) for node in own)


def _inside(scope: ast.AST) -> list[ast.AST]:
    """The parts of a scope that are run in it, with its parameters."""
    match scope:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*_parameters(scope.args), *scope.body]
        case ast.Lambda():
            return [*_parameters(scope.args), scope.body]
        case ast.DictComp():
            return [scope.key, scope.value, *_generators(scope.generators)]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [scope.elt, *_generators(scope.generators)]
        case ast.Module() | ast.ClassDef():
            return list(scope.body)
    return []


def _generators(generators: list[ast.comprehension]) -> list[ast.AST]:
    return [*(part for one in generators for part in (one.target, *one.ifs)), *(one.iter for one in generators[1:])]


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    variadic = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *variadic]


def _bound(node: ast.AST, scope: ast.AST) -> tuple[str, ...]:
    """The names that a node binds in the scope that it is run in."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            if isinstance(scope, _COMPREHENSIONS):
                return (name,) if any(node in ast.walk(one.target) for one in scope.generators) else ()
            return (name,)
        case ast.arg(arg=name):
            return (name,)
        case ast.alias():
            return (node.asname or node.name.partition(".")[0],)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return (name,)
        case ast.MatchMapping(rest=str(name)):
            return (name,)
    defines = isinstance(node, _DEFINITIONS) or type(node).__name__ in _TYPES
    return (getattr(node, "name", ""),) if defines else ()
