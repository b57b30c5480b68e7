"""Calls: fewer, more, swapped and renamed arguments; a call put around an expression, added to it, or taken away."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator

from coder.repair.edits.base import Draft, Region
from coder.repair.scope import BUILTINS, Scope

_WRAPPERS = {
    "len": 4, "str": 4, "int": 4, "abs": 3, "list": 3, "set": 2, "sorted": 3, "sum": 2, "max": 1.5, "min": 1.5,
    "float": 2, "tuple": 2, "round": 1, "reversed": 1, "bool": 1, "range": 1, "bin": 0.7, "ord": 0.7, "chr": 0.7,
    "dict": 0.7, "enumerate": 1, "iter": 0.3, "next": 0.3, "repr": 0.7, "any": 0.5, "all": 0.5,
}  # fmt: skip
_METHODS = {
    ".lower()": 3, ".upper()": 2, ".strip()": 3, ".copy()": 2, ".items()": 3, ".keys()": 1.5, ".values()": 2,
    ".split()": 2, ".rstrip()": 1, ".lstrip()": 1, ".encode()": 0.7, ".decode()": 0.7, ".swapcase()": 0.5,
    ".title()": 0.5, ".capitalize()": 0.5, ".isalpha()": 0.7, ".isdigit()": 0.7,
    ".isupper()": 0.5, ".islower()": 0.5, ".pop()": 0.5, ".replace(' ', '')": 0.5, ".isspace()": 0.3,
}  # fmt: skip
_KEYS = ("key=lambda x: x[0]", "key=lambda x: x[1]", "key=lambda x: -x[1]", "key=str.lower", "key=int")
_KEYWORDS = {
    "sorted": ("reverse=True", "key=len", "key=str", "key=abs", *_KEYS), "sort": ("reverse=True", "key=len", *_KEYS),
    "max": ("key=len", "default=0", "default=None", "key=abs", *_KEYS),
    "min": ("key=len", "default=0", "default=None", *_KEYS), "dumps": ("indent=2", "sort_keys=True"),
    "split": ("maxsplit=1",), "run": ("check=True", "text=True"), "mkdir": ("exist_ok=True",),
    "makedirs": ("exist_ok=True",),
    "sum": ("start=0",), "enumerate": ("start=1",), "print": ("end=''", "sep=''"), "zip": ("strict=True",),
    "int": ("base=2", "base=16"), "open": ("encoding='utf-8'",), "round": ("ndigits=2",),
}  # fmt: skip


def propose(region: Region) -> Iterator[Draft]:
    wrappers, (methods, seen) = _wrappers(region.scope), _methods(region.scope)
    for node in region.loads:
        if isinstance(node, ast.Call):
            yield from _fewer(region, node)
            yield from _more(region, node)
            yield from _swapped(region, node)
            yield from _keywords(region, node)
            yield from _dropped(region, node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _wrapped(region, node, {})
            yield from _joined(region, node)
        if not isinstance(node, ast.Constant | ast.BoolOp | ast.Compare | ast.Lambda) and not region.is_callee(node):
            yield from _wrapped(region, node, wrappers)
            yield from _with_method(region, node, methods, seen)
        if isinstance(node, ast.Attribute | ast.Name) and not region.is_callee(node):
            yield from _called(region, node)


def _fewer(region: Region, node: ast.Call) -> Iterator[Draft]:
    spans = _argument_spans(region, node)
    for index, (start, end) in enumerate(spans):
        if index + 1 < len(spans):
            yield region.replace(start, spans[index + 1][0], "", "fewer arguments")
        elif index:
            yield region.replace(spans[index - 1][1], end, "", "fewer arguments")
        else:
            yield region.replace(start, end, "", "fewer arguments")


def _more(region: Region, node: ast.Call) -> Iterator[Draft]:
    spans = _argument_spans(region, node)
    close = region.source.span(node)[1] - 1
    given = {keyword.arg for keyword in node.keywords}
    if any(isinstance(argument, ast.GeneratorExp) for argument in node.args) and len(spans) == 1:
        return
    last = spans[-1][1] if spans else close
    lead = ", " if spans else ""
    known = region.scope.signature(node)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if known:
        names = set(region.scope.names(node))
        free = [n for n in (*known.positional[len(node.args) :], *known.keywords) if n not in given]
        for parameter in free:
            for value, weight in (
                (parameter, 4.0 if parameter in names else 0.0),
                ("True", 0.7),
                ("None", 0.7),
                ("False", 0.5),
            ):
                if weight:
                    yield region.replace(last, last, f"{lead}{parameter}={value}", "more arguments", weight)
            for value in names - {parameter}:
                yield region.replace(last, last, f"{lead}{parameter}={value}", "more arguments", 0.3)
            for value in region.scope.functions:
                if value not in BUILTINS:
                    yield region.replace(last, last, f"{lead}{parameter}={value}", "more arguments", 0.2)
        if not free and not known.variadic:
            return
    for pair in region.scope.arguments_seen(node):
        if pair.partition("=")[0] not in given:
            yield region.replace(last, last, f"{lead}{pair}", "more arguments", 3)
    for keyword in region.scope.keywords_seen(node):
        if keyword not in given and not (known and keyword not in known.positional + known.keywords):
            for value in ("True", "False", "None", *region.scope.names(node)):
                yield region.replace(
                    last, last, f"{lead}{keyword}={value}", "more arguments", 2 if value == keyword else 0.5
                )
    pairs: tuple[str, ...] = _KEYWORDS.get(name, ())
    if _KEYS[0] in pairs:
        pairs += tuple(f"key={variable}.get" for variable in region.scope.variables(node))
    for pair in pairs:
        if pair.split("=")[0] not in given:
            yield region.replace(last, last, f"{lead}{pair}", "more arguments", 2)
    if not node.keywords:
        values = {value: 1.0 for value in region.scope.names(node)}
        values |= {"0": 0.7, "1": 1.0, "-1": 0.5, "2": 0.4, "None": 0.5, "True": 0.4, "''": 0.4, "' '": 0.4}
        for constant in region.scope.constants[:12]:
            if isinstance(constant.value, str) and len(constant.value) < 12:
                values.setdefault(region.text(constant), 0.3)
        for donor in region.scope.expressions:
            # An empty `len()` or `str()` wants a value of any shape.
            if isinstance(donor, ast.Attribute | ast.Subscript) and not region.is_callee(donor):
                values.setdefault(region.text(donor), 0.5 if spans else 2.0)
        if not spans:
            for receiver in ("self", *region.scope.locals):
                for attribute in region.scope.facts.attributes[0].get(receiver, ()):
                    values.setdefault(f"{receiver}.{attribute}", 1.0)
                    values.setdefault(f"{receiver}.{attribute}[0]", 0.2)
        for value, weight in values.items():
            yield region.replace(last, last, f"{lead}{value}", "more arguments", weight)
            for index, (start, _) in enumerate(spans):
                yield region.replace(start, start, f"{value}, ", "more arguments", weight * (0.4 if index else 0.7))


def _swapped(region: Region, node: ast.Call) -> Iterator[Draft]:
    spans = _argument_spans(region, node)[: len(node.args)]
    text = region.source.text
    for i, first in enumerate(spans):
        for j in range(i + 1, len(spans)):
            second = spans[j]
            a, b = text[slice(*first)], text[slice(*second)]
            if a != b and not isinstance(node.args[i], ast.Starred):
                edits = (region.edit(*first, b), region.edit(*second, a))
                note = f"arguments {i + 1} and {j + 1} of `{ast.unparse(node.func)}` swapped in {region.name}"
                yield Draft("swap arguments", edits, note, 2 if j == i + 1 else 1)


def _keywords(region: Region, node: ast.Call) -> Iterator[Draft]:
    known = region.scope.signature(node)
    given = {keyword.arg for keyword in node.keywords}
    names = list(known.positional + known.keywords) if known else []
    for keyword in node.keywords:
        if keyword.arg is None:
            continue
        start = region.source.offset(keyword.lineno, keyword.col_offset)
        for name in dict.fromkeys([*names, *region.scope.keywords_seen(node)]):
            if name not in given:
                yield region.replace(start, start + len(keyword.arg), name, "keyword argument", 2)
        for value in region.scope.names(keyword.value):
            yield region.swap(keyword.value, value, "keyword argument", 2 if value == keyword.arg else 0.5)


def _dropped(region: Region, node: ast.Call) -> Iterator[Draft]:
    if isinstance(node.func, ast.Attribute):
        yield region.swap(node, region.text(node.func.value), "drop call", 2)
        if not node.args and not node.keywords:
            yield region.swap(node, region.text(node.func), "drop call", 1)
    for argument in node.args:
        if isinstance(argument, ast.GeneratorExp):
            inner = region.text(argument)
            inner = inner[1:-1] if inner.startswith("(") else inner
            yield region.swap(node, f"[{inner}]", "drop call", 1)
        elif not isinstance(argument, ast.Starred):
            yield region.swap(node, region.text(argument), "drop call", 2)


def _wrapped(region: Region, node: ast.expr, wrappers: dict[str, float]) -> Iterator[Draft]:
    text = region.text(node)
    parent = region.parent(node)
    if len(text) > 200 or (isinstance(node, ast.GeneratorExp) and not text.startswith("(")):
        return
    inside = text[1:-1] if isinstance(node, ast.GeneratorExp) else text
    for callee, weight in _takers(region, node).items():
        yield region.swap(node, f"{callee}({inside})", "wrap in call", weight)
    for name, weight in wrappers.items():
        if not (isinstance(parent, ast.Call) and getattr(parent.func, "id", None) == name):
            yield region.swap(node, f"{name}({inside})", "wrap in call", weight)


def _takers(region: Region, node: ast.expr) -> dict[str, float]:
    """Methods of what is in sight that would take a value: of a bare one, which does nothing, those that store it."""
    methods: tuple[str, ...]
    if isinstance(region.parent(node), ast.Expr):
        methods, weight = ("append", "extend", "update", "add"), 4.0
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        methods, weight = ("split", "join", "startswith", "endswith", "strip", "find"), 0.3
    else:
        return {}
    return {f"{name}.{method}": weight for name in _in_sight(region, node) for method in methods}


def _in_sight(region: Region, node: ast.expr) -> list[str]:
    """Variables that may be meant at a node, and attributes of `self`."""
    attributes = (f"self.{name}" for name in region.scope.facts.attributes[0]["self"])
    return [name for name in (*region.scope.variables(node), *attributes) if name not in ("self", "cls")]


def _with_method(
    region: Region, node: ast.expr, methods: dict[str, float], seen: dict[str, list[str]]
) -> Iterator[Draft]:
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return
    if isinstance(region.parent(node), ast.Attribute):
        return
    text = region.text(node)
    for method, weight in (methods | {method: methods.get(method, 0.7) + 3 for method in seen.get(text, ())}).items():
        yield region.swap(node, text + method, "add method call", weight)


def _joined(region: Region, node: ast.Constant) -> Iterator[Draft]:
    """A string that lost what it joins."""
    if isinstance(region.parent(node), ast.Attribute | ast.Expr):
        return
    for name in _in_sight(region, node):
        yield region.swap(node, f"{region.text(node)}.join({name})", "add method call", 0.2)


def _called(region: Region, node: ast.Attribute | ast.Name) -> Iterator[Draft]:
    text = region.text(node)
    yield region.swap(node, f"{text}()", "add method call", 2 if isinstance(node, ast.Attribute) else 0.3)
    if isinstance(node, ast.Name) and not isinstance(region.parent(node), ast.Attribute):
        for receiver in region.scope.variables(node):
            for method in ("get", "index", "count"):
                if receiver != node.id:
                    yield region.swap(node, f"{receiver}.{method}({text})", "add method call", 0.1)


def _wrappers(scope: Scope) -> dict[str, float]:
    """Functions of one argument: builtins, those of this file, and those that it calls with one argument."""
    found = dict(_WRAPPERS)
    for name, known in scope.module.callables.items():
        if known.required <= 1 and (known.positional or known.variadic):
            found[name] = 2.0
    seen = Counter(
        callee for callee, node in scope.calls if len(node.args) == 1 and not node.keywords and _plain(node.func)
    )
    for name, count in seen.most_common(30):
        if "." not in name or name.split(".")[0] in scope.module.imports or name.startswith("self."):
            found[name] = found.get(name, 0.5) + min(count, 3)
    for name, origin in scope.module.imports.items():
        if ":" in origin:
            found.setdefault(name, 0.7)
    return found


def _methods(scope: Scope) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Method calls to add, with weights: common ones without arguments, and those that the file makes with constants;
    and, by the text of the receiver, those that it makes there with what is bound here too."""
    found: dict[str, float] = dict(_METHODS)
    seen: dict[str, list[str]] = defaultdict(list)
    for callee, call in scope.calls:
        if not isinstance(call.func, ast.Attribute) or call.keywords or len(callee) >= 60:
            continue
        text = f".{call.func.attr}({', '.join(ast.unparse(argument) for argument in call.args)})"
        names = {node.id for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Name)}
        if len(text) < 60 and scope.reach.issuperset(names):
            seen[callee[: -len(call.func.attr) - 1]].append(text)
            if len(text) < 40 and all(isinstance(argument, ast.Constant) for argument in call.args):
                found[text] = found.get(text, 0.7) + 0.3
    return found, seen


def _plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _plain(node.value))


def _argument_spans(region: Region, node: ast.Call) -> list[tuple[int, int]]:
    """Ranges of the arguments in the order of the text, parentheses and `name=` and stars included."""
    spans = [region.source.outer_span(argument) for argument in node.args]
    for keyword in node.keywords:
        start = region.source.offset(keyword.lineno, keyword.col_offset)
        spans.append((start, region.source.outer_span(keyword.value)[1]))
    return spans
