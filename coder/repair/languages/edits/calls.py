"""Calls: put around an expression or behind it, taken away; arguments added, dropped, exchanged."""

from __future__ import annotations

from collections.abc import Iterator

from coder.repair.edits.base import Draft
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Node

_WRAPPED = frozenset(("name", "binary", "call", "member", "index", "number", "collection", "ternary"))


def propose(region: TreeRegion) -> Iterator[Draft]:
    for node in region.expressions:
        if node.kind in ("call", "new"):
            yield from _arguments(region, node)
        if node.kind == "call":
            yield from _dropped(region, node)
    for node in region.loads:
        if node.kind in _WRAPPED and not node.is_callee:
            yield from _wrapped(region, node)


def _wrapped(region: TreeRegion, node: Node) -> Iterator[Draft]:
    grammar, parent = region.source.grammar, node.parent
    chained = parent is not None and parent.kind in ("member", "call") and parent.receiver is node
    mentioned = region.scope.mentioned
    if not chained:
        own = [f"{name}({{}})" for name in region.scope.functions[:8] if not _known(name, grammar.wrappers)]
        for template in [*grammar.wrappers, *own]:
            name = template.partition("(")[0]
            weight = 1.0 if node.kind != "number" else 0.2
            if name.rpartition(".")[2] in mentioned or template in own:
                weight *= 2.0
            if not node.text.startswith(name + "("):
                yield region.swap(node, template.format(node.text), "wrap in call", weight)
    if node.kind in ("number", "ternary"):
        return
    for suffix in grammar.suffixes_of_values:
        word = suffix.lstrip(".").partition("(")[0]
        weight = 2.0 if word in mentioned else 1.0
        base = f"({node.text})" if node.kind == "binary" else node.text
        if not node.text.endswith(suffix):
            yield region.swap(node, base + suffix, "add method call", weight * (0.4 if node.kind == "binary" else 1.0))


def _known(name: str, templates: tuple[str, ...]) -> bool:
    return any(template.startswith(name + "(") for template in templates)


def _dropped(region: TreeRegion, node: Node) -> Iterator[Draft]:
    arguments, receiver = node.arguments, node.receiver
    if len(arguments) == 1:
        yield region.swap(node, arguments[0].text, "drop call")
    if receiver is not None:
        yield region.swap(node, receiver.text, "drop call", 1.5)


def _arguments(region: TreeRegion, node: Node) -> Iterator[Draft]:
    given, arguments = node.part("arguments"), node.arguments
    if given is None or not given.text.startswith("("):
        return
    texts = [argument.text for argument in arguments]
    start, end = given.start + 1, given.end - 1

    def call(new: list[str], family: str, weight: float = 1.0) -> Draft:
        return region.replace(start, end, ", ".join(new), family, weight)

    for index in range(len(texts)):
        yield call(texts[:index] + texts[index + 1 :], "fewer arguments")
        for other in range(index + 1, len(texts)):
            swapped = list(texts)
            swapped[index], swapped[other] = swapped[other], swapped[index]
            yield call(swapped, "swap arguments")
    variables = region.scope.variables(node)[:8]
    constants = ("0", "1", "-1", "''", "10", "2") if region.source.grammar.dynamic else ("0", "1")
    likely = {text: 1.5 for text in variables} | {text: 0.7 for text in constants}
    if region.source.grammar.dynamic and node.called is not None and node.called.text in ("sort", "toSorted"):
        likely = {"(a, b) => a - b": 8.0, "(a, b) => b - a": 8.0}
    for text, weight in likely.items():
        if text not in texts:
            yield call([*texts, text], "more arguments", weight)
            if texts:
                yield call([text, *texts], "more arguments", weight * 0.4)
