"""Conditions: negated, made more or less specific, conjuncts dropped, `if` and `while` and `elif` exchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from coder.repair.edits.base import Draft, Region
from sandbox.trees import expression


def propose(region: Region) -> Iterator[Draft]:
    for statement in region.suspects:
        yield from _keyword(region, statement)
    for node in conditions(region):
        yield from _negate(region, node)
    for node in region.loads:
        if isinstance(node, ast.BoolOp):
            yield from _parts(region, node)
        if isinstance(node, ast.BoolOp | ast.Compare):
            yield from _clones(region, node)
    # Guards are thousands: they come last, so that all others are written.
    for node in conditions(region):
        yield from _specialise(region, node)


def conditions(region: Region) -> list[ast.expr]:
    """Tests of `if`, `while`, conditional expressions, assertions and comprehension filters, and returned booleans."""
    found: list[ast.expr] = []
    for statement in region.suspects:
        if isinstance(statement, ast.If | ast.While | ast.Assert):
            found.append(statement.test)
        elif isinstance(statement, ast.Return) and isinstance(statement.value, ast.Compare | ast.BoolOp):
            found.append(statement.value)
    for node in region.loads:
        if isinstance(node, ast.IfExp):
            found.append(node.test)
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            found += [test for generator in node.generators for test in generator.ifs]
        elif isinstance(node, ast.Lambda) and isinstance(node.body, ast.Compare | ast.BoolOp):
            found.append(node.body)
    return found


def guards(region: Region, at: ast.AST) -> dict[str, float]:
    """Conditions that guard code of this kind, with weights: donor conditions, then tests of the names in sight."""
    found: dict[str, float] = {}
    for donor in region.scope.expressions:
        if isinstance(donor, ast.Compare | ast.BoolOp):
            found.setdefault(region.text(donor), 2.0)
    used = {n.id for n in ast.walk(at) if isinstance(n, ast.Name)}
    for name in region.scope.variables(at):
        weight = 1.0 if name in used or name in region.scope.parameters else 0.4
        for text, share in (
            (name, 1.0), (f"not {name}", 1.0), (f"{name} is None", 1.2), (f"{name} is not None", 1.2),
            (f"len({name}) == 0", 0.4), (f"{name} == 0", 0.6), (f"{name} > 0", 0.6), (f"{name} < 0", 0.6),
            (f"{name} <= 0", 0.4), (f"{name} >= 0", 0.3), (f"{name} != 0", 0.3), (f"{name} > 1", 0.3),
            (f"{name} < 2", 0.3), (f"{name} == 1", 0.3), (f"len({name}) == 1", 0.3),
        ):  # fmt: skip
            found.setdefault(text, weight * share)
        for kind in ("str", "int", "list", "dict"):
            found.setdefault(f"isinstance({name}, {kind})", 0.15 * weight)
    for text in region.scope.conditions_seen(at):
        found.setdefault(text, 0.6)
    names = [name for name in region.scope.variables(at) if name in used or name in region.scope.parameters]
    data, called = region.scope.facts.attributes
    for name in names:
        for attribute in data.get(name, ()):
            for form in ("{}", "not {}"):
                found.setdefault(form.format(f"{name}.{attribute}"), 0.3)
        for method in (m for m in called.get(name, ()) if m.startswith(("is", "has"))):
            for form in ("{}()", "not {}()"):
                found.setdefault(form.format(f"{name}.{method}"), 0.3)
    for left in names:
        for right in names:
            if left != right:
                for operator in ("==", "!=", "<", "<=", "in", "not in"):
                    if left < right or operator not in ("==", "!="):
                        found.setdefault(f"{left} {operator} {right}", 0.2)
    return found


def _negate(region: Region, node: ast.expr) -> Iterator[Draft]:
    text = region.text(node)
    if (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)) or (
        isinstance(node, ast.Compare) and len(node.ops) == 1
    ):
        return  # other families drop a `not` and turn a comparison round
    yield region.swap(
        node, f"not {text}" if not isinstance(node, ast.BoolOp | ast.IfExp) else f"not ({text})", "negate"
    )


def _parts(region: Region, node: ast.BoolOp) -> Iterator[Draft]:
    """Single parts of a condition: negated, tested against None, or compared as the part before is: `a == 1 or 2`."""
    compared: ast.Compare | None = None
    for part in node.values:
        text = region.text(part)
        if isinstance(part, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            yield region.swap(part, f"not {text}", "negate")
            yield region.swap(part, f"{text} is not None", "condition donor", 2)
        if isinstance(part, ast.Compare):
            compared = part if len(part.ops) == 1 else None
        elif compared is not None:
            start, end = region.source.span(compared)[0], region.source.outer_span(compared.comparators[0])[0]
            yield region.swap(part, f"{region.source.text[start:end]}{text}", "condition donor", 4)


def _specialise(region: Region, node: ast.expr) -> Iterator[Draft]:
    text = region.text(node)
    own = {region.text(n) for n in ast.walk(node) if isinstance(n, ast.expr)}
    in_or = isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
    special = isinstance(node, ast.IfExp | ast.Lambda)
    for guard, weight in guards(region, node).items():
        if guard in own or special:
            continue
        part = f"({guard})" if " or " in guard or " and " in guard else guard
        kept = f"({text})" if in_or else text
        yield region.swap(node, f"{kept} and {part}", "more specific if", weight)
        yield region.swap(node, f"{part} and {kept}", "more specific if", weight * 0.6)
        yield region.swap(node, f"{text} or {part}", "less specific if", weight)
        yield region.swap(node, f"{part} or {text}", "less specific if", weight * 0.3)
        if isinstance(node, ast.Compare | ast.Name | ast.Call):
            yield region.swap(node, guard, "condition donor", weight)
    for constant in ("True", "False"):
        yield region.swap(node, constant, "condition donor", 0.5)


def _clones(region: Region, node: ast.BoolOp | ast.Compare) -> Iterator[Draft]:
    """One more operand, a copy of an existing one with two names exchanged or one replaced: the forgotten case of
    `(x+y==z) or (y+z==x)`."""
    values = node.values if isinstance(node, ast.BoolOp) else [node]
    words = ["and", "or"]
    if isinstance(node, ast.BoolOp):
        words = ["or" if isinstance(node.op, ast.Or) else "and"]
    elif isinstance(region.parent(node), ast.BoolOp):
        return
    present = {None, *(ast.unparse(value) for value in values)}
    _, end = region.source.outer_span(values[-1])
    for value in values:
        if not isinstance(value, ast.Compare):
            continue
        low, high = region.source.outer_span(value)
        for text in dict.fromkeys(_permuted(region, value)):
            piece = region.source.text[low : region.source.span(value)[0]] + text
            piece += region.source.text[region.source.span(value)[1] : high]
            if _unparsed(text) not in present:
                for word in words:
                    family = "less specific if" if word == "or" else "more specific if"
                    yield region.replace(end, end, f" {word} {piece}", family, 1.0)


def _unparsed(text: str) -> str | None:
    """An expression as it is written plainly; None where it is none."""
    try:
        return ast.unparse(expression(f"({text})"))
    except SyntaxError:
        return None


def _permuted(region: Region, node: ast.expr) -> Iterator[str]:
    """The text of an expression with two of its names exchanged, a name replaced by one in scope, or its constant or
    operator changed."""
    text = region.text(node)
    base = region.source.span(node)[0]
    spots = [(region.source.span(n), n.id) for n in ast.walk(node) if isinstance(n, ast.Name)]
    names = list(dict.fromkeys(name for _, name in spots))

    def renamed(mapping: dict[str, str]) -> str:
        result = text
        for (start, end), name in sorted(spots, reverse=True):
            result = result[: start - base] + mapping.get(name, name) + result[end - base :]
        return result

    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            yield renamed({first: second, second: first})
    for name in names:
        for other in region.scope.variables(node):
            if other not in names:
                yield renamed({name: other})
    for constant in ast.walk(node):
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str | int):
            low, high = (offset - base for offset in region.source.span(constant))
            if isinstance(constant.value, str) and constant.value.swapcase() != constant.value:
                yield text[:low] + repr(constant.value.swapcase()) + text[high:]
            for donor in region.scope.constants[:6]:
                if type(donor.value) is type(constant.value) and donor.value != constant.value:
                    yield text[:low] + repr(donor.value) + text[high:]


def _keyword(region: Region, statement: ast.stmt) -> Iterator[Draft]:
    start = region.source.span(statement)[0]
    if isinstance(statement, ast.While) and not statement.orelse:
        yield region.replace(start, start + len("while"), "if", "statement keyword", 1)
    elif isinstance(statement, ast.If):
        word = region.source.text[start : start + 4]
        if word == "elif":
            yield region.replace(start, start + 4, "if", "statement keyword", 2)
        else:
            if not statement.orelse:
                yield region.replace(start, start + 2, "while", "statement keyword", 1)
            place = region.block_of(statement)
            if place and place[1] and isinstance(place[0][place[1] - 1], ast.If):
                yield region.replace(start, start + 2, "elif", "statement keyword", 2)
