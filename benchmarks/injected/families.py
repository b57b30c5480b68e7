"""The 20 single-statement bug patterns of TSSB-3M (Richter and Wehrheim, MSR 2022), turned round: the fix undone.

A family maps a site to a change of the text or to None where it does not apply. Randomness comes from the caller alone.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Sequence
from random import Random

from benchmarks.injected.code import BUILTIN_FUNCTIONS, Change, Site

Family = Callable[[Site, Random], Change | None]


def alike(word: str, pool: Sequence[str], random: Random) -> str | None:
    """Another word of the pool: half of the time one that looks like `word`, as slips do."""
    others = [other for other in pool if other != word]
    if not others:
        return None
    near = difflib.get_close_matches(word, others, n=4, cutoff=0.3)
    return random.choice(near if near and random.random() < 0.5 else others)


def without_item(site: Site, items: Sequence[tuple[int, int]], index: int) -> Change:
    """Remove one of several separated items, given by their spans, together with one separator."""
    start, end = items[index]
    if index + 1 < len(items):
        return Change(start, items[index + 1][0], "")
    return Change(items[index - 1][1] if index else start, end, "")


def argument_spans(site: Site, call: ast.Call) -> list[tuple[int, int]]:
    return sorted(site.source.span(argument) for argument in [*call.args, *call.keywords])


def change_identifier(site: Site, random: Random) -> Change | None:
    node = site.node
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or site.source.is_called(node):
        return None
    other = alike(node.id, site.variables, random) if node.id in site.variables else None
    return site.source.replace(node, other) if other else None


def change_binary_operand(site: Site, random: Random) -> Change | None:
    match site.node:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.Compare(left=left, comparators=rest):
            operands = [left, *rest]
        case ast.BoolOp(values=operands):
            pass
        case _:
            return None
    simple = [operand for operand in operands if isinstance(operand, ast.Name | ast.Attribute | ast.Constant)]
    if not simple:
        return None
    operand = random.choice(simple)
    before = site.source.text_of(operand)
    other = alike(before, [*site.values, "0", "1"], random)
    return site.source.replace(operand, other) if other else None


def too_few_arguments(site: Site, random: Random) -> Change | None:
    if not isinstance(site.node, ast.Call):
        return None
    spans = argument_spans(site, site.node)
    return without_item(site, spans, random.randrange(len(spans))) if spans else None


def wrong_function_name(site: Site, random: Random) -> Change | None:
    if not isinstance(site.node, ast.Call):
        return None
    function = site.node.func
    if isinstance(function, ast.Name):
        pool = BUILTIN_FUNCTIONS if function.id in BUILTIN_FUNCTIONS else site.source.callables
        other = alike(function.id, pool, random)
        return site.source.replace(function, other) if other else None
    if isinstance(function, ast.Attribute):
        pool = site.source.methods
        for kind in (str, list, dict, set):
            if function.attr in dir(kind):
                pool = [name for name in dir(kind) if not name.startswith("_")]
        other = alike(function.attr, pool, random)
        end = site.source.span(function)[1]
        return Change(end - len(function.attr), end, other) if other else None
    return None


def change_numeric_literal(site: Site, random: Random) -> Change | None:
    node = site.node
    if not isinstance(node, ast.Constant) or type(node.value) not in (int, float):
        return None
    value = node.value
    others = {value + 1, value - 1, value * 10, value // 2, 0, 1} - {value}
    return site.source.replace(node, repr(random.choice(sorted(others))))


def lost_function_around(site: Site, random: Random) -> Change | None:
    match site.node:
        case ast.Call(func=ast.Name() | ast.Attribute(), args=[argument], keywords=[]):
            if isinstance(argument, ast.Starred):
                return None
            text = site.source.text_of(argument)
            simple = isinstance(argument, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
            return site.source.replace(site.node, text if simple else f"({text})")
    return None


def change_attribute(site: Site, random: Random) -> Change | None:
    node = site.node
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load) or site.source.is_called(node):
        return None
    seen = site.source.attributes.get(site.source.text_of(node.value), [])
    other = alike(node.attr, seen if len(seen) > 1 else site.source.attributes[""], random)
    end = site.source.span(node)[1]
    return Change(end - len(node.attr), end, other) if other else None


def lost_method_call(site: Site, random: Random) -> Change | None:
    match site.node:
        case ast.Call(func=ast.Attribute(value=receiver)) if not isinstance(site.parent, ast.Expr):
            text = site.source.text_of(receiver)
            return site.source.replace(site.node, text) if text not in ("self", "cls") else None
    return None


def _lost_operand(site: Site, random: Random, operator: type[ast.boolop]) -> Change | None:
    node = site.node
    if not isinstance(node, ast.BoolOp) or not isinstance(node.op, operator):
        return None
    if not isinstance(site.parent, ast.If | ast.While | ast.IfExp | ast.comprehension):
        return None
    spans = [site.source.span(value) for value in node.values]
    return without_item(site, spans, random.randrange(len(spans)))


def if_too_general(site: Site, random: Random) -> Change | None:
    return _lost_operand(site, random, ast.And)


def if_too_specific(site: Site, random: Random) -> Change | None:
    return _lost_operand(site, random, ast.Or)


def lost_element(site: Site, random: Random) -> Change | None:
    match site.node:
        case ast.List(elts=[_, _, *_] as elements, ctx=ast.Load()) | ast.Set(elts=[_, _, *_] as elements):
            spans = [site.source.span(element) for element in elements]
        case ast.Tuple(elts=[_, _, _, *_] as elements, ctx=ast.Load()):
            spans = [site.source.span(element) for element in elements]
        case ast.Dict(keys=[_, _, *_] as keys, values=values) if None not in keys:
            spans = [(site.source.span(key)[0], site.source.span(value)[1]) for key, value in zip(keys, values) if key]
        case _:
            return None
    return without_item(site, spans, random.randrange(len(spans)))


def too_many_arguments(site: Site, random: Random) -> Change | None:
    if not isinstance(site.node, ast.Call) or not site.node.args or not site.values:
        return None
    last = site.source.span(site.node.args[-1])[1]
    return Change(last, last, f", {random.choice([*site.values, 'None', 'True', '1'])}")


def change_boolean_literal(site: Site, random: Random) -> Change | None:
    match site.node:
        case ast.Constant(value=bool(value)):
            return site.source.replace(site.node, str(not value))
    return None


def lost_attribute_access(site: Site, random: Random) -> Change | None:
    node = site.node
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load) or site.source.is_called(node):
        return None
    return site.source.replace(node, site.source.text_of(node.value))


OPERATORS = {
    "<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="], "==": ["!="], "!=": ["=="],
    "in": ["not in"], "not in": ["in"], "is": ["is not"], "is not": ["is"], "and": ["or"], "or": ["and"],
    "+": ["-"], "-": ["+"], "*": ["+", "/", "//"], "/": ["*", "//"], "//": ["/", "%"], "%": ["//", "*"],
    "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"], "**": ["*"],
}  # fmt: skip
OPERATOR = re.compile(r"not\s+in\b|is\s+not\b|\b(?:in|is|and|or)\b|\*\*|//|<<|>>|[<>=!]=|[-+*/%&|<>]")


def change_binary_operator(site: Site, random: Random) -> Change | None:
    match site.node:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.Compare(left=left, comparators=rest):
            operands = [left, *rest]
        case ast.BoolOp(values=operands):
            pass
        case _:
            return None
    place = random.randrange(len(operands) - 1)
    start, end = site.source.span(operands[place])[1], site.source.span(operands[place + 1])[0]
    found = OPERATOR.search(site.source.text, start, end)
    others = OPERATORS.get(" ".join(found.group().split())) if found else None
    return Change(*found.span(), random.choice(others)) if found and others else None


def wrong_caller(site: Site, random: Random) -> Change | None:
    match site.node:
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as receiver)):
            before = site.source.text_of(receiver)
            other = alike(before, site.values, random) if before != "self" else None
            return site.source.replace(receiver, other) if other else None
    return None


def change_keyword(site: Site, random: Random) -> Change | None:
    node = site.node
    if not isinstance(node, ast.keyword) or not node.arg or not isinstance(site.parent, ast.Call):
        return None
    other = alike(node.arg, site.source.keywords, random)
    start = site.source.span(node)[0]
    return Change(start, start + len(node.arg), other) if other and other not in ("self", "cls") else None


def change_unary_operator(site: Site, random: Random) -> Change | None:
    match site.node:
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            return site.source.replace(site.node, site.source.text_of(operand))
        case ast.Name() | ast.Attribute() | ast.Call() if isinstance(site.parent, ast.If | ast.While | ast.IfExp):
            if site.parent.test is site.node:
                return site.source.replace(site.node, f"not {site.source.text_of(site.node)}")
    return None


def swap_arguments(site: Site, random: Random) -> Change | None:
    if not isinstance(site.node, ast.Call) or len(site.node.args) < 2:
        return None
    place = random.randrange(len(site.node.args) - 1)
    first, second = (site.source.span(argument) for argument in site.node.args[place : place + 2])
    text = site.source.text
    if text[slice(*first)] == text[slice(*second)]:
        return None
    return Change(first[0], second[1], text[slice(*second)] + text[first[1] : second[0]] + text[slice(*first)])


def change_constant_type(site: Site, random: Random) -> Change | None:
    if not isinstance(site.node, ast.Constant) or isinstance(site.parent, ast.Expr):
        return None
    match site.node.value:
        case bool(value):
            others = [str(int(value)), "None"]
        case int(value):
            others = [f'"{value}"', f"{value}.0", "None"]
        case None:
            others = ["0", '""', "False"]
        case str(value) if value.isdigit():
            others = [value.lstrip("0") or "0"]
        case "":
            others = ["None"]
        case _:
            return None
    return site.source.replace(site.node, random.choice(others))


# Share of the patterned fixes in percent, as published for the whole of TSSB-3M.
FAMILIES: dict[str, tuple[float, Family]] = {
    "change identifier": (16.7, change_identifier),
    "change binary operand": (11.6, change_binary_operand),
    "same function, more arguments": (9.9, too_few_arguments),
    "wrong function name": (9.4, wrong_function_name),
    "change numeric literal": (8.0, change_numeric_literal),
    "add function around expression": (7.7, lost_function_around),
    "change attribute": (7.3, change_attribute),
    "add method call": (4.1, lost_method_call),
    "more specific if": (3.9, if_too_general),
    "add elements to iterable": (3.6, lost_element),
    "same function, fewer arguments": (3.4, too_many_arguments),
    "change boolean literal": (3.1, change_boolean_literal),
    "add attribute access": (2.4, lost_attribute_access),
    "change binary operator": (2.2, change_binary_operator),
    "wrong caller": (1.9, wrong_caller),
    "change keyword argument": (1.5, change_keyword),
    "less specific if": (1.2, if_too_specific),
    "change unary operator": (1.0, change_unary_operator),
    "swap arguments": (0.5, swap_arguments),
    "change constant type": (0.5, change_constant_type),
}
