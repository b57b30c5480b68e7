"""Names: identifiers, operands, attributes, function names, receivers, exceptions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from coder.repair.edits.base import Draft, Region, spelled_alike
from coder.repair.module import like_an_exception
from coder.repair.scope import BUILTINS, METHODS

# Functions that are taken for each other.
_KIN = (
    ("min", "max", "sum", "len"), ("any", "all"), ("sorted", "reversed", "list", "set"),
    ("str", "int", "float", "repr"),
    ("floor", "ceil", "round", "int", "abs"), ("list", "tuple", "set", "frozenset", "sorted"), ("zip", "enumerate"),
    ("append", "extend", "insert", "add"), ("lower", "upper", "title", "capitalize", "swapcase"),
    ("strip", "lstrip", "rstrip"), ("find", "rfind", "index", "rindex"), ("isalpha", "isdigit", "isalnum", "isnumeric"),
    ("isupper", "islower"), ("split", "rsplit", "splitlines", "partition"), ("keys", "values", "items"),
    ("startswith", "endswith"), ("union", "intersection", "difference", "symmetric_difference"),
    ("pop", "remove", "popleft", "discard"), ("append", "appendleft"), ("ord", "chr"), ("bin", "hex", "oct"),
    ("update", "setdefault"), ("sin", "cos", "tan"), ("get", "pop", "setdefault"), ("read", "readlines", "readline"),
    ("permutations", "combinations", "product", "combinations_with_replacement"),
    ("sqrt", "exp", "log", "log2", "log10"),
    ("match", "search", "fullmatch", "findall", "finditer", "sub"), ("group", "groups", "groupdict"),
    ("bisect", "bisect_left", "bisect_right"), ("heappush", "heappop", "heapify"), ("load", "loads"), ("dump", "dumps"),
    ("exists", "isfile", "isdir"), ("ljust", "rjust", "center", "zfill"), ("encode", "decode"), ("gcd", "lcm"),
    ("issubset", "issuperset", "isdisjoint"), ("Counter", "defaultdict", "OrderedDict", "dict"), ("quote", "unquote"),
)  # fmt: skip
EXCEPTIONS = (
    "ValueError", "KeyError", "TypeError", "IndexError", "AttributeError", "StopIteration", "ZeroDivisionError",
    "LookupError", "OSError", "FileNotFoundError", "NotImplementedError", "RuntimeError", "Exception",
)  # fmt: skip


# Types that are asked for, or make the values of a dictionary.
_TYPES = ("int", "float", "str", "bool", "list", "tuple", "set", "dict", "bytes")


def kin(name: str) -> list[str]:
    """Names of functions and methods that are taken for `name`."""
    return list(dict.fromkeys(other for group in _KIN if name in group for other in group if other != name))


def propose(region: Region) -> Iterator[Draft]:
    for node in region.expressions:
        match node:
            case ast.Name():
                yield from _name(region, node)
                yield from _of_self(region, node)
            case ast.Attribute():
                yield from _attribute(region, node)
    for statement in region.suspects:
        if isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Constant | ast.JoinedStr):
            for name in _exceptions(region):
                weight = 4 if name in region.hints.exceptions else 1
                yield region.swap(statement.exc, f"{name}({region.text(statement.exc)})", "exception", weight)
    for node in region.loads:
        inside = region.is_callee(node) or isinstance(region.parent(node), ast.Attribute)
        if isinstance(node, ast.Name | ast.Attribute) and not inside:
            for name in region.scope.attributes(node, called=False)[:24]:
                yield region.swap(node, f"{region.text(node)}.{name}", "attribute access")


def _name(region: Region, node: ast.Name) -> Iterator[Draft]:
    parent = region.parent(node)
    scope = region.scope
    if _is_exception(region, node):
        for name in _exceptions(region):
            if name != node.id:
                yield region.swap(node, name, "exception", 4 if name in region.hints.exceptions else 1)
        if isinstance(parent, ast.ExceptHandler):
            for name in _exceptions(region)[:8]:
                if name != node.id:
                    yield region.swap(node, f"({node.id}, {name})", "exception", 0.5)
        return
    if region.is_callee(node):
        related = kin(node.id)
        for name in [*related, *scope.functions]:
            if name != node.id:
                weight = 6.0 if name in related else 1.0 + 3 * spelled_alike(name, node.id)
                foreign = name in BUILTINS and node.id not in BUILTINS
                yield region.swap(node, name, "function name", weight * (0.2 if foreign else 1.0))
        for name in scope.variables(node):
            if name != node.id:
                yield region.swap(node, name, "function name", 0.3)
        return
    family = "identifier"
    if isinstance(parent, ast.BinOp):
        family = "operand"
    elif isinstance(parent, ast.Attribute) and region.is_callee(parent):
        family = "caller"
    stored = isinstance(node.ctx, ast.Store)
    if not stored and family == "identifier":
        compared = isinstance(parent, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops)
        for constant in ("None", "True", "False"):
            yield region.swap(node, constant, "constant type", 2.0 if compared else 0.3)
    if node.id in _TYPES and not stored:
        either = isinstance(parent, ast.Call) and getattr(parent.func, "id", "") == "isinstance"
        for name in _TYPES:
            if name != node.id:
                yield region.swap(node, name, family, 2)
                if either:
                    yield region.swap(node, f"({node.id}, {name})", family, 1)
    names = scope.variables(node) if stored else [*scope.names(node)]
    for name in names:
        if name != node.id:
            weight = (1.0 + 2 * spelled_alike(name, node.id)) * (1.0 if name in scope.locals else 0.5)
            yield region.swap(node, name, family, weight * (0.3 if stored else 1))
    if not stored and family != "caller" and not scope.locals.count(node.id):
        for name in scope.functions:
            if name != node.id and spelled_alike(name, node.id) > 0.6:
                yield region.swap(node, name, "function name", 2)


def _of_self(region: Region, node: ast.Name) -> Iterator[Draft]:
    """A name that lost the `self` or `cls` that it is of."""
    for receiver in ("self", "cls"):
        if receiver in region.scope.parameters and node.id in region.scope.own:
            family = "function name" if region.is_callee(node) else "attribute access"
            yield region.swap(node, f"{receiver}.{node.id}", family, 8)


def _attribute(region: Region, node: ast.Attribute) -> Iterator[Draft]:
    called = region.is_callee(node)
    text = region.text(node.value)
    end = region.source.span(node)[1]
    start = end - len(node.attr)
    if region.source.text[start:end] != node.attr:
        return
    family = "function name" if called else "attribute"
    related = kin(node.attr)
    likewise = [name for names in METHODS.values() if called and node.attr in names for name in names]
    known = region.scope.attributes(node.value, called)
    for name in dict.fromkeys([*related, *known, *likewise]):
        if name != node.attr:
            weight = 5.0 if name in related else (1.0 if name in known else 0.6) + 3 * spelled_alike(name, node.attr)
            yield region.replace(start, end, name, family, weight)
    if called:
        for name in region.scope.attributes(node.value, called=False)[:8]:
            yield region.swap(node.value, f"{text}.{name}", "caller")
    if isinstance(node.value, ast.Attribute):
        yield region.swap(node.value, region.text(node.value.value), "caller" if called else "drop attribute")
    if not called and isinstance(node.ctx, ast.Load):
        yield region.swap(node, text, "drop attribute")
        if text in ("self", "cls") and node.attr in region.scope.locals:
            yield region.swap(node, node.attr, "identifier", 2)


def _exceptions(region: Region) -> list[str]:
    """Names of exceptions: those that the failing tests expect, the file's own, then builtins."""
    own = [name for name in region.scope.functions if like_an_exception(name)]
    return list(dict.fromkeys([*region.hints.exceptions, *own, *region.scope.facts.raised, *EXCEPTIONS]))


def _is_exception(region: Region, node: ast.Name) -> bool:
    handler = region.source.enclosing(node, ast.ExceptHandler, ast.stmt)
    if isinstance(handler, ast.ExceptHandler):
        return True
    statement = region.source.statement_of(node)
    if not isinstance(statement, ast.Raise):
        return False
    return statement.exc is node or (isinstance(statement.exc, ast.Call) and statement.exc.func is node)
