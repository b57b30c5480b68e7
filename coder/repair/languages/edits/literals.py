"""Literals: numbers, strings, booleans, and one kind of constant for another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coder.repair.edits.base import Draft
from coder.repair.languages.grammar import TRUTH
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Node

_COMMON = ("0", "1", "2", "-1", "10", "100")


def propose(region: TreeRegion) -> Iterator[Draft]:
    booleans = [node for node in region.loads if node.kind == "boolean"]
    numbers = [node for node in region.loads if node.kind == "number"]
    strings = [node for node in region.loads if node.kind == "string"]
    own = dict.fromkeys(n.text for n in numbers)
    for node in numbers:
        yield from _number(region, node, own)
    for node in strings:
        yield from _string(region, node, strings)
    for node in booleans:
        yield region.replace(node.start, node.end, _flipped(node), "boolean literal")
    if len(booleans) > 1:
        edits = tuple(region.edit(node.start, node.end, _flipped(node)) for node in booleans)
        yield Draft("boolean literal", edits, f"every boolean turned round in {region.name}", 2.0)
    for index, one in enumerate(booleans):
        for other in booleans[index + 1 : index + 4]:
            edits = tuple(region.edit(node.start, node.end, _flipped(node)) for node in (one, other))
            yield Draft("boolean literal", edits, f"two booleans turned round in {region.name}", 0.5)


def _flipped(node: Node) -> str:
    yes, no = TRUTH
    return no if node.text == yes else yes


def _number(region: TreeRegion, node: Node, own: dict[str, None]) -> Iterator[Draft]:
    text = node.text
    found: dict[str, float] = {}
    if re.fullmatch(r"\d+", text):
        value = int(text)
        found |= {str(value * 2): 0.7, str(value + 2): 0.7, f"-{value}": 0.7, str(value - 1): 4.0, str(value + 1): 4.0}
        found.setdefault(str(value * 10), 0.7)
        if value >= 10:
            found.setdefault(str(value // 10), 0.5)
    elif re.fullmatch(r"\d*\.\d+", text):
        found |= {
            repr(float(text) * 10): 1.0,
            repr(float(text) / 10): 1.0,
            repr(float(text) + 1): 0.7,
            repr(1 - float(text)): 0.3,
        }
    for other in _COMMON:
        found.setdefault(other, 1.0)
    for other in own:
        found[other] = max(found.get(other, 0.0), 1.5)
    for hint in region.hints.numbers:
        found.setdefault(str(hint), 0.3)
    for other, weight in found.items():
        if other != text:
            yield region.swap(node, other, "numeric literal", weight)
    for other in ("''", "[]", region.source.grammar.nothing):
        if other and region.source.grammar.dynamic:
            yield region.swap(node, other, "constant type")


def _string(region: TreeRegion, node: Node, strings: list[Node]) -> Iterator[Draft]:
    quote, body = node.text[:1], node.text[1:-1]
    if quote not in "\"'`" or node.text[-1:] != quote:
        return
    found: dict[str, float] = {}
    for sibling in strings:
        found.setdefault(sibling.text[1:-1], 2.0)
    if body:
        found.setdefault("", 1.5)
        found |= {body.lower(): 2.0, body.upper(): 1.0, body.strip(): 1.5, body.capitalize(): 0.7}
        found |= {body + " ": 0.7, " " + body: 0.5, body * 2: 0.5, body[1:]: 0.7, body[:-1]: 0.9, body[::-1]: 0.2}
        found |= {body[: len(body) // 2]: 0.6 if len(set(body)) == 1 else 0.1}
    else:
        found |= {" ": 2.0, ",": 0.5, ", ": 0.5, "\\n": 0.4, "0": 0.3}
    for bracket in ("()", "[]", "{}", "<>"):
        if body in bracket and body:
            found[bracket.replace(body, "")] = 2.0
    for hint in region.hints.strings:
        near = _near(body, hint)
        found[hint] = max(found.get(hint, 0.0), 4.0 if near else 0.4)
        for word in _words_near(body, hint):
            found[word] = max(found.get(word, 0.0), 2.0)
    if len(body) == 1:
        for letter in sorted({letter for hint in region.hints.strings for letter in hint})[:24]:
            found.setdefault(letter, 0.5)
    for index, letter in enumerate(body[:24]):
        found.setdefault(body[:index] + body[index + 1 :], 0.3 if letter.lower() != "y" or len(body) > 12 else 0.6)
    for other, weight in found.items():
        if other != body and quote not in other and "\n" not in other:
            yield region.replace(node.start, node.end, quote + other + quote, "string literal", weight)


def _near(one: str, other: str) -> bool:
    """Whether two texts differ by a letter or two."""
    if min(len(one), len(other)) < 3 or abs(len(one) - len(other)) > 1 or one == other:
        return False
    return sum(a != b for a, b in zip(one, other)) <= 2 or sum(a != b for a, b in zip(one[::-1], other[::-1])) <= 2


def _words_near(body: str, hint: str) -> Iterator[str]:
    """`body` with a word of it written as a word of the hint that it nearly is."""
    for word in set(re.findall(r"\w+", body)):
        for other in set(re.findall(r"\w+", hint)):
            if _near(word, other):
                yield body.replace(word, other)
