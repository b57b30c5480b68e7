"""New statements: steps, assignments, returns, guards that leave early, and copies of statements nearby."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from coder.repair.edits.base import LOOPS, Draft, Region, short
from coder.repair.edits.conditions import guards

_ENDS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


def inserted(region: Region, statement: ast.stmt) -> Iterator[Draft]:
    """New statements before and after this one."""
    own = region.source.statement_lines(statement)
    if own is None or region.block_of(statement) is None:
        return
    indent, newline = region.source.indentation(statement), region.source.newline
    for text, weight in _new_statements(region, statement):
        lines = "".join(indent + line + newline for line in text.split("\n"))
        note = f"insert `{short(text)}` in {region.name}"
        if not isinstance(statement, ast.If) or not region.is_elif(statement):
            yield region.replace(own[0], own[0], lines, "insert statement", weight, note)
        last = (place := region.block_of(statement)) is not None and place[0][-1] is statement
        if last and not isinstance(statement, _ENDS) and region.source.text[: own[1]].endswith("\n"):
            yield region.replace(own[1], own[1], lines, "insert statement", weight, note)
    if isinstance(statement, ast.If) and not statement.orelse and region.source.text[: own[1]].endswith("\n"):
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
    augmented = {
        n.target.id
        for n in ast.walk(region.scope.root)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    for name in names:
        for step, weight in (("+= 1", 1.0), ("-= 1", 0.6)):
            if name in numbers:
                yield f"{name} {step}", weight * (2 if name in augmented or in_loop else 1)
        for other in names:
            if other != name:
                yield f"{name} = {other}", 0.3
                if name in augmented:
                    yield f"{name} += {other}", 0.4
    for receiver, method in _collectors(region):
        for other in names:
            if other != receiver:
                yield f"{receiver}.{method}({other})", 0.5
    if in_loop:
        yield "break", 1.0
        yield "continue", 1.0
    results = _results(region, names)
    for value, weight in results.items():
        yield f"return {value}", weight
    if simple:
        return
    first = bool(body) and at in body[:2]
    forms = ("not {}", "{} is None", "len({}) == 0")
    empty = {form.format(name) for name in region.scope.parameters for form in forms}
    for guard, weight in guards(region, at).items():
        # The commonest guard of all: nothing was given.
        weight *= 10.0 if first and guard in empty else 1.0
        ends = [f"return {value}" for value in list(results)[:9]] if first or weight >= 2 else []
        for end in [*ends, *(["continue", "break"] if in_loop else [])]:
            yield f"if {guard}:\n    {end}", 0.3 * weight * (results.get(end.removeprefix("return "), 0.5))
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


def _results(region: Region, names: list[str]) -> dict[str, float]:
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
