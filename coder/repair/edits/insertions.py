"""New statements: steps, assignments, returns, guards that leave early, and copies of statements nearby."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from coder.repair.edits.base import LOOPS, Draft, Region, short
from coder.repair.edits.conditions import guards
from coder.repair.module import is_store
from coder.repair.source import FunctionNode

_ENDS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


def inserted(region: Region, statement: ast.stmt) -> Iterator[Draft]:
    """New statements before and after this one."""
    own = region.source.statement_lines(statement)
    if own is None or region.block_of(statement) is None:
        return
    indent, newline = region.source.indentation(statement), region.source.newline
    place = region.block_of(statement)
    ended = region.source.text.endswith("\n", 0, own[1])
    last = place is not None and place[0][-1] is statement and not isinstance(statement, _ENDS) and ended
    for text, weight in _new_statements(region, statement):
        lines = "".join(indent + line + newline for line in text.split("\n"))
        note = f"insert `{short(text)}` in {region.name}"
        if not isinstance(statement, ast.If) or not region.is_elif(statement):
            yield region.replace(own[0], own[0], lines, "insert statement", weight, note)
        if last:
            yield region.replace(own[1], own[1], lines, "insert statement", weight, note)
    if isinstance(statement, ast.If) and not statement.orelse and ended:
        for text, weight in _new_statements(region, statement, simple=True):
            lines = f"{indent}else:{newline}{indent}    {text}{newline}"
            yield region.replace(
                own[1], own[1], lines, "insert statement", weight * 0.5, f"insert `else: {short(text)}`"
            )


def _new_statements(region: Region, at: ast.stmt, simple: bool = False) -> Iterator[tuple[str, float]]:
    # At the top level all names of the file are in sight: their pairs would be hundreds of thousands.
    names = [name for name in region.scope.variables(at) if name not in ("self", "cls")] if region.function else []
    looped = region.source.enclosing(at, *LOOPS, ast.FunctionDef)
    in_loop = isinstance(looped, LOOPS)
    numbers = _numbers(region)
    body = getattr(region.function, "body", [])
    for name in names:
        for step, weight in (("+= 1", 1.0), ("-= 1", 0.6)):
            if name in numbers:
                yield f"{name} {step}", weight * (2 if name in region.augmented or in_loop else 1)
        for other in names:
            if other != name:
                yield f"{name} = {other}", 0.3
                if name in region.augmented:
                    yield f"{name} += {other}", 0.4
    for receiver, method in _collectors(region):
        for other in names:
            if other != receiver:
                yield f"{receiver}.{method}({other})", 0.5
    if in_loop:
        yield "break", 1.0
        yield "continue", 1.0
    found = results(region, names)
    for value, weight in found.items():
        yield f"return {value}", weight
    if simple:
        return
    yield from _declarations(region, at)
    first = bool(body) and at in body[:2]
    if region.name == "__init__" and (first or at is body[-1]):
        yield from _attributes(region)
    forms = ("not {}", "{} is None", "len({}) == 0")
    empty = {form.format(name) for name in region.scope.parameters for form in forms}
    for guard, weight in guards(region, at).items():
        # The commonest guard of all: nothing was given.
        weight *= 10.0 if first and guard in empty else 1.0
        ends = [f"return {value}" for value in list(found)[:9]] if first or weight >= 2 else []
        for end in [*ends, *(["continue", "break"] if in_loop else [])]:
            yield f"if {guard}:\n    {end}", 0.3 * weight * (found.get(end.removeprefix("return "), 0.5))
    for exception in region.hints.exceptions:
        for guard, weight in guards(region, at).items():
            yield f"if {guard}:\n    raise {exception}", weight
    if first:
        for name in region.scope.parameters:
            if name not in ("self", "cls"):
                for value in ("[]", "{}", "0", "''"):
                    yield f"if {name} is None:\n    {name} = {value}", 0.5
    if not first and isinstance(at, ast.Try | ast.With | ast.FunctionDef):
        return
    for statement in region.statements:
        # A statement of the function, once more, where it is missing.
        text = region.text(statement)
        if (
            statement is not at
            and "\n" not in text
            and not isinstance(statement, ast.If | ast.For | ast.While | ast.Return)
        ):
            yield text, 0.5


def _declarations(region: Region, at: ast.stmt) -> Iterator[tuple[str, float]]:
    """At the beginning of a function: that names which it sets are those outside of it."""
    function = region.source.enclosing(at, ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(function, FunctionNode) or at not in function.body[:2]:
        return
    word, outer = "global", set(region.scope.globals)
    if function is not region.function:
        inside = set(ast.walk(function))
        word, outer = "nonlocal", _set(node for node in ast.walk(region.scope.root) if node not in inside)
    for name in sorted(outer & _set(ast.walk(function))):
        yield f"{word} {name}", 4.0


def _set(nodes: Iterable[ast.AST]) -> set[str]:
    return {node.id for node in nodes if is_store(node)}


def _attributes(region: Region) -> Iterator[tuple[str, float]]:
    """What `__init__` forgot: an attribute that its class uses, the work of its base."""
    owner = region.source.enclosing(region.scope.root, ast.ClassDef)
    if not isinstance(owner, ast.ClassDef):
        return
    if owner.bases and "super()" not in region.text(region.scope.root):
        yield "super().__init__()", 4.0
    known = _set(ast.walk(owner)) | {getattr(member, "name", "") for member in owner.body}
    attributes = [node for node in ast.walk(region.scope.root) if isinstance(node, ast.Attribute)]
    known |= {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    for name in region.scope.facts.attributes[0].get("self", ()):
        if name in region.scope.own and name not in known:
            given = name.lstrip("_")
            if given in region.scope.parameters:
                yield f"self.{name} = {given}", 8.0
            for value in ("None", "0", "[]", "{}"):
                yield f"self.{name} = {value}", 2.0


def defaults(region: Region) -> Iterator[Draft]:
    """A list, dict or set that all calls of a function share, made anew in each."""
    lines = region.source.statement_lines(region.body[0]) if region.function is not None and region.body else None
    if region.function is None or lines is None:
        return
    taken, newline = region.function.args, region.source.newline
    indent = region.source.indentation(region.body[0])
    positional = zip(reversed([*taken.posonlyargs, *taken.args]), reversed(taken.defaults))
    for argument, default in [*positional, *zip(taken.kwonlyargs, taken.kw_defaults)]:
        made = isinstance(default, ast.Call) and getattr(default.func, "id", "") in ("list", "dict", "set")
        if default is not None and (made or isinstance(default, ast.List | ast.Dict | ast.Set)):
            name, text = argument.arg, region.text(default)
            anew = f"{indent}if {name} is None:{newline}{indent}    {name} = {text}{newline}"
            edits = (region.edit(*region.source.span(default), "None"), region.edit(lines[0], lines[0], anew))
            yield Draft("insert statement", edits, f"`{name}={short(text)}` made anew in {region.name}", 20)


def results(region: Region, names: list[str]) -> dict[str, float]:
    """What the function may return: what it returns elsewhere, constants of the same kind, names in sight."""
    found: dict[str, float] = {}
    for node in ast.walk(region.scope.root):
        if isinstance(node, ast.Return) and node.value is not None:
            text = region.text(node.value)
            if len(text) < 40:
                found[text] = found.get(text, 0.0) + 1.0
    for text in ("None", "False", "True", "0", "[]", "''", "1", "-1"):
        found.setdefault(text, 0.5)
    for name in names:
        found.setdefault(name, 0.5)
    return found


def _collectors(region: Region) -> list[tuple[str, str]]:
    """(receiver, method) of calls that put one thing into a container."""
    found: dict[tuple[str, str], None] = {}
    for node in ast.walk(region.scope.root):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and len(node.args) == 1
            and (
                node.func.attr in ("append", "add", "appendleft", "extend", "remove")
                and len(region.text(node.func.value)) < 30
            )
        ):
            found.setdefault((region.text(node.func.value), node.func.attr))
    return list(found)


def _numbers(region: Region) -> set[str]:
    """Names that are used as numbers: in arithmetic, as an index, compared, or bound to a number or to arithmetic."""
    found: set[str] = set()
    for node in ast.walk(region.scope.root):
        match node:
            case ast.BinOp() | ast.Compare() | ast.AugAssign():
                parts = list(ast.iter_child_nodes(node))
            case ast.Subscript():
                parts = [node.slice]
            case ast.Assign(value=ast.Constant(value=int() | float()) | ast.BinOp()):
                parts = list(node.targets)
            case _:
                continue
        found |= {part.id for part in parts if isinstance(part, ast.Name)}
    return found
