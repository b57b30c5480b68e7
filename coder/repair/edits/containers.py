"""Subscripts, slices, displays and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from coder.repair.edits.base import Draft, Region

_REDUCERS = ("sum", "max", "min", "len", "sorted", "any", "all")


def propose(region: Region) -> Iterator[Draft]:
    for node in region.loads:
        match node:
            case ast.Subscript():
                yield from _subscript(region, node)
            case ast.List() | ast.Tuple() | ast.Set():
                yield from _elements(region, node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                yield from _comprehension(region, node)
            case ast.Dict() if node.keys:
                yield from _pairs(region, node)
        if isinstance(node, ast.Name | ast.Attribute | ast.Call) and not region.is_callee(node):
            yield from _indexed(region, node)
    for statement in region.suspects:
        targets = [*getattr(statement, "targets", []), getattr(statement, "target", None)]
        for target in targets:
            if isinstance(target, ast.Subscript):
                yield from _subscript(region, target)
            elif isinstance(target, ast.Tuple | ast.List):
                yield from _elements(region, target)
    for node in region.loads:
        for generator in getattr(node, "generators", []):
            if isinstance(generator.target, ast.Tuple):
                yield from _elements(region, generator.target)


def _subscript(region: Region, node: ast.Subscript) -> Iterator[Draft]:
    index = node.slice
    value = region.text(node.value)
    loaded = isinstance(node.ctx, ast.Load)
    if isinstance(node.value, ast.Subscript):
        inner, outer = region.source.span(node.value.slice), region.source.span(index)
        texts = region.text(node.value.slice), region.text(index)
        if texts[0] != texts[1]:
            edits = (region.edit(*inner, texts[1]), region.edit(*outer, texts[0]))
            yield Draft("subscript", edits, f"`[{texts[0]}]` and `[{texts[1]}]` exchanged in {region.name}", 3)
    if isinstance(index, ast.Slice):
        yield from _slice(region, node, index)
    elif not isinstance(index, ast.Tuple):
        text = region.text(index)
        for other, weight in (
            (f"{text} + 1", 3.0),
            (f"{text} - 1", 3.0),
            ("0", 1.5),
            ("-1", 1.5),
            ("1", 1.0),
            (f"-{text}", 0.7),
        ):
            if other != text and not (text.lstrip("-").isdigit() and other not in ("0", "-1", "1")):
                yield region.swap(index, other, "subscript", weight)
        for name in region.scope.variables(node):
            if name != text and name != value:
                yield region.swap(index, name, "subscript", 1.0)
        if loaded:
            for other in (f"{text}:", f":{text}", f"{text}:{text} + 2" if not text.isdigit() else f":{int(text) + 1}"):
                yield region.swap(index, other, "slice", 0.5)
            yield region.swap(node, f"{value}.get({text})", "subscript", 0.5)
            for default in ("0", "None", "''", "[]"):
                yield region.swap(node, f"{value}.get({text}, {default})", "subscript", 0.4)
    if loaded:
        yield region.swap(node, value, "drop subscript", 2)
        for name in _REDUCERS:
            yield region.swap(node, f"{name}({value})", "subscript", 0.5)


def _slice(region: Region, node: ast.Subscript, index: ast.Slice) -> Iterator[Draft]:
    lower, upper, step = (region.text(part) if part else "" for part in (index.lower, index.upper, index.step))
    tail = f":{step}" if index.step else ""
    start, end = region.source.span(index)

    def sliced(low: str, high: str, rest: str, weight: float) -> Draft:
        return region.replace(start, end, f"{low}:{high}{rest}", "slice", weight)

    for bound, is_lower in ((lower, True), (upper, False)):
        variants: dict[str, float] = {"": 2.0}
        if bound:
            variants |= _shifted(bound)
            variants[f"-{bound}" if not bound.startswith("-") else bound[1:]] = 1.0
        else:
            variants |= {"1": 2.0, "-1": 2.0, "2": 0.7, "-2": 0.7}
        variants |= dict.fromkeys((name for name in region.scope.variables(node)), 0.4)
        variants |= {f"{name} + 1": 0.3 for name in region.scope.variables(node) if name in region.text(node)}
        for other, weight in variants.items():
            if other != bound:
                yield sliced(other, upper, tail, weight) if is_lower else sliced(lower, other, tail, weight)
    if lower or upper:
        yield sliced(upper, lower, tail, 1)
    if index.step:
        yield sliced(lower, upper, "", 2)
        for other in ("-1", "2", "1", "-2", f"-{step}" if not step.startswith("-") else step[1:]):
            if other != step:
                yield sliced(lower, upper, f":{other}", 1)
    else:
        yield sliced(lower, upper, ":-1", 0.5)
        yield sliced(lower, upper, ":2", 0.5)
        yield region.swap(node, f"{region.text(node)}[::-1]", "slice", 0.7)


def _shifted(bound: str) -> dict[str, float]:
    """A bound one higher and one lower, written as people do."""
    if bound.lstrip("-").isdigit():
        return {str(int(bound) + 1): 3.0, str(int(bound) - 1): 3.0}
    if bound.endswith((" + 1", " - 1")):
        return {bound[:-4]: 3.0, bound[:-1] + "2": 1.0}
    if bound.endswith(("+1", "-1")):
        return {bound[:-2]: 3.0, bound[:-1] + "2": 1.0}
    return {f"{bound} + 1": 3.0, f"{bound} - 1": 3.0}


def _indexed(region: Region, node: ast.expr) -> Iterator[Draft]:
    text = region.text(node)
    weights = {"[0]": 2.0, "[-1]": 2.0, "[::-1]": 2.0, "[1:]": 1.5, "[:-1]": 1.5, "[1]": 1.0, "[2:]": 0.5, "[:]": 1.0}
    parent = region.parent(node)
    for suffix, weight in weights.items():
        yield region.swap(
            node, text + suffix, "add subscript", weight * (0.3 if isinstance(parent, ast.Attribute) else 1)
        )
    for name in region.scope.variables(node):
        if name != text and not isinstance(node, ast.Call):
            yield region.swap(node, f"{text}[{name}]", "add subscript", 0.5)
            if name not in region.scope.parameters or isinstance(parent, ast.Compare):
                yield region.swap(node, f"{name}[{text}]", "add subscript", 0.3)


def _elements(region: Region, node: ast.List | ast.Tuple | ast.Set) -> Iterator[Draft]:
    spans = [region.source.outer_span(element) for element in node.elts]
    text = region.source.text
    for index, (start, end) in enumerate(spans):
        if len(spans) > 1 and isinstance(getattr(node, "ctx", None), ast.Load | None):
            if index + 1 < len(spans):
                yield region.replace(start, spans[index + 1][0], "", "elements", 0.7)
            else:
                yield region.replace(spans[index - 1][1], end, "", "elements", 0.7)
        limit = len(spans) if len(spans) <= 4 else min(len(spans), index + 2)
        for other in range(index + 1, limit):
            a, b = text[start:end], text[slice(*spans[other])]
            if a != b:
                edits = (region.edit(start, end, b), region.edit(*spans[other], a))
                yield Draft("elements", edits, f"`{a}` and `{b}` swapped in {region.name}", 3)
    if isinstance(getattr(node, "ctx", None), ast.Store) or not spans:
        return
    constants = [e.value for e in node.elts if isinstance(e, ast.Constant)]
    added: dict[str, float] = {}
    for value in constants:
        if isinstance(value, int) and not isinstance(value, bool):
            added |= {repr(v): 1.0 for v in (value + 1, value - 1) if v not in constants}
        elif isinstance(value, str):
            added |= {repr(v): 1.0 for v in (value.upper(), value.lower()) if v not in constants}
    kinds = {type(value) for value in constants}
    if kinds == {str}:
        longest = max(len(str(value)) for value in constants)
        for constant in region.scope.constants:
            if isinstance(constant.value, str) and len(constant.value) <= longest and constant.value not in constants:
                added.setdefault(repr(constant.value), 0.4)
    for hint in (*region.hints.strings, *region.hints.numbers):
        if type(hint) in kinds and hint not in constants:
            added.setdefault(repr(hint), 0.5)
    added |= {constant: 0.5 for constant in ("None", "0", "''") if not constants}
    added |= {name: 0.7 for name in region.scope.variables(node) if not constants}
    for value, weight in added.items():
        yield region.replace(spans[-1][1], spans[-1][1], f", {value}", "elements", weight)
        for start, _ in spans[:6]:
            yield region.replace(start, start, f"{value}, ", "elements", weight * 0.3)


def _pairs(region: Region, node: ast.Dict) -> Iterator[Draft]:
    for key, value in zip(node.keys, node.values):
        if key is not None and isinstance(key, ast.Name | ast.Attribute):
            yield region.swap(key, region.text(value), "elements", 0.3)
            yield region.swap(value, region.text(key), "elements", 0.3)


def _comprehension(
    region: Region, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
) -> Iterator[Draft]:
    for generator in node.generators:
        end = region.source.outer_span(generator.iter)[1]
        tests = [region.source.outer_span(test) for test in generator.ifs]
        for span in tests:
            before = region.source.text.rfind("if", end, span[0])
            yield region.replace(before, span[1], "", "drop condition", 1)
        targets = [n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)]
        for name in targets:
            for guard in (
                name,
                f"not {name}",
                f"{name} > 0",
                f"{name} % 2 == 0",
                f"{name} is not None",
                f"{name}.isalpha()",
            ):
                if not tests:
                    yield region.replace(end, end, f" if {guard}", "more specific if", 0.7)
    if isinstance(node, ast.ListComp | ast.SetComp):
        start, end = region.source.span(node)
        inner = region.source.text[start + 1 : end - 1]
        for left, right in ("[]", "{}", "()"):
            if left != region.source.text[start]:
                yield region.replace(start, end, f"{left}{inner}{right}", "elements", 0.5)
    elt = getattr(node, "elt", None)
    if elt is not None:
        for name in (n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)):
            if name != region.text(elt):
                yield region.swap(elt, name, "drop operand", 0.7)
