"""Statements: deleted, moved, exchanged, inserted as copies with other names; guards that leave early."""

from __future__ import annotations

from collections.abc import Iterator

from coder.repair.edits.base import Draft, short
from coder.repair.languages.edits.conditions import guards, renamed
from coder.repair.languages.grammar import TRUTH
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import Node

_LONGEST = 120


def propose(region: TreeRegion) -> Iterator[Draft]:
    for statement in region.suspects:
        yield from _deleted(region, statement)
        yield from _moved(region, statement)
        yield from _inserted(region, statement)
        yield from _exchanged_leave(region, statement)
    yield from _guards(region)
    yield from _ends(region)


def _deleted(region: TreeRegion, statement: Node) -> Iterator[Draft]:
    if statement.parent is None or statement.parent.kind != "block" or _declares(region, statement):
        return
    span = region.whole_lines(statement)
    end = statement.end + (region.source.text[statement.end : statement.end + 1] == ";")
    start, end = span or (statement.start, end)
    note = f"delete `{short(statement.text)}`"
    yield region.replace(start, end, "", "delete statement", 2.0 if statement.kind != "return" else 0.7, note)
    if statement.kind in ("if", "loop") and (body := statement.part("consequence") or statement.part("body")):
        inner = body.text[1:-1].strip() if body.text.startswith("{") else body.text
        if statement.part("alternative") is None and "\n" not in inner:
            yield region.replace(
                statement.start, statement.end, inner, "delete statement", 0.7, f"always `{short(inner)}`"
            )
    alternative = statement.part("alternative") if statement.kind == "if" else None
    if alternative is not None:
        start = (
            alternative.start
            if alternative.type == "else_clause"
            else region.source.text.rfind("else", 0, alternative.start)
        )
        yield region.replace(start, alternative.end, "", "delete statement", 0.7, f"delete `{short(alternative.text)}`")


def _declares(region: TreeRegion, statement: Node) -> bool:
    """Whether a statement binds a name that is read elsewhere in the function."""
    bindings = region.source.grammar.binders
    return any(
        node.type in bindings and node.kind not in ("function", "loop") for node in [statement, *statement.children]
    )


def _moved(region: TreeRegion, statement: Node) -> Iterator[Draft]:
    """Exchanged with the next statement; out of the loop or branch that it ends, or into the one before it."""
    text = region.source.text
    block = region.siblings(statement)
    place = block.index(statement) if statement in block else -1
    if place < 0:
        return
    if place + 1 < len(block):
        after = block[place + 1]
        swapped = after.text + text[statement.end : after.start] + statement.text
        note = f"exchange `{short(statement.text, 20)}` and `{short(after.text, 20)}`"
        yield region.replace(statement.start, after.end, swapped, "move statement", 1.0, note)
    span = region.whole_lines(statement)
    if span is None or statement.parent is None:
        return
    end = ";" if text[statement.end : statement.end + 1] == ";" else ""
    outer = statement.outer("loop", "if", "function")
    holder = outer
    while holder is not None and not region.source.is_statement(holder):
        holder = holder.parent
    if (
        holder is not None
        and outer is not None
        and outer.kind != "function"
        and holder.start > region.statements[0].start - 1
    ):
        indent = region.source.indentation_of(holder.line)
        moved = f"{indent}{statement.text}{end}{region.source.newline}"
        after_line = region.source.line_start(holder.last_line + 1)
        before_line = region.source.line_start(holder.line)
        gone = region.edit(*span, "")
        if not text[holder.end : after_line].strip().strip(";"):
            edits = (gone, region.edit(after_line, after_line, moved))
            yield Draft("move statement", edits, f"`{short(statement.text)}` after the block in {region.name}", 1.0)
        if not text[before_line : holder.start].strip():
            edits = (region.edit(before_line, before_line, moved), gone)
            yield Draft("move statement", edits, f"`{short(statement.text)}` before the block in {region.name}", 0.7)


def _inserted(region: TreeRegion, statement: Node) -> Iterator[Draft]:
    """Copies of the function's short statements, with names changed, before or after a statement."""
    source = region.source
    if statement.parent is None or statement.parent.kind != "block":
        return
    line_before, line_after = source.line_start(statement.line), source.line_start(statement.last_line + 1)
    if source.text[line_before : statement.start].strip():
        return
    alone = not source.text[statement.end : line_after].strip().strip(";") and _ended(region, statement)
    last = region.siblings(statement)[-1:] == [statement]
    indent = source.indentation_of(statement.line)
    for text, weight in _copies(region, statement).items():
        yield region.replace(
            line_before,
            line_before,
            f"{indent}{text}{source.newline}",
            "insert statement",
            weight,
            f"insert `{short(text)}`",
        )
        if alone and last and statement.kind not in ("return", "leave"):
            yield region.replace(
                line_after,
                line_after,
                f"{indent}{text}{source.newline}",
                "insert statement",
                weight,
                f"insert `{short(text)}`",
            )


def _copies(region: TreeRegion, at: Node) -> dict[str, float]:
    grammar = region.source.grammar
    variables = region.scope.variables(at)[:8]
    found: dict[str, float] = {}
    for statement in region.statements:
        text = _with_end(region, statement)
        if len(text) > _LONGEST or "\n" in text or statement.kind in ("loop", "return") or _declares(region, statement):
            continue
        if not _ended(region, statement):
            continue
        if statement.text != at.text:
            found.setdefault(text, 1.0)
        names = [n.text for n in statement.walk() if n.kind == "name" and not n.is_callee]
        for name in dict.fromkeys(names):
            for other in variables:
                if other != name:
                    found.setdefault(renamed(text, {name: other}), 0.2)
    end = _end(region)
    for name in variables[:6]:
        for template in grammar.steps:
            found.setdefault(template.format(name) + end, 0.6)
    if at.outer("loop") is not None:
        found |= {f"{word}{end}": 0.8 for word in ("break", "continue")}
    numbers = {n.text for s in region.statements for n in region.within(s) if n.kind in ("index", "binary", "call")}
    for name in [n for n in variables if n in region.scope.locals][:5]:
        for value in list(dict.fromkeys([*("0", "1"), *variables[:5], *sorted(numbers, key=len)[:12]])):
            if value != name:
                found.setdefault(f"{name} = {value}{end}", 0.15)
    return found


def _ended(region: TreeRegion, statement: Node) -> bool:
    """Whether a statement ends as one that others may follow: in Rust, the value of a block does not."""
    return not region.source.grammar.end or _with_end(region, statement).endswith((";", "}"))


def _end(region: TreeRegion) -> str:
    """What ends a statement here: in JavaScript, that is a matter of taste."""
    return region.source.grammar.end or (";" if ";\n" in region.source.text else "")


def _with_end(region: TreeRegion, statement: Node) -> str:
    follows = region.source.text[statement.end : statement.end + 1] == ";"
    return statement.text + (";" if follows else "")


def _exchanged_leave(region: TreeRegion, statement: Node) -> Iterator[Draft]:
    text = statement.text.rstrip(";")
    if text in ("break", "continue"):
        other = "continue" if text == "break" else "break"
        yield region.replace(statement.start, statement.start + len(text), other, "statement keyword", 2.0)
    if statement.kind == "return" and statement.outer("loop") is not None:
        for word in ("break", "continue"):
            yield region.replace(statement.start, statement.start + len(text), word, "statement keyword", 0.5)


def _guards(region: TreeRegion) -> Iterator[Draft]:
    """`if (…) return …` at the beginning of the function."""
    body = region.function.node.part("body") if region.function else None
    first = next(
        (n for n in region.statements if n.parent is body or (n.parent is not None and n.parent.parent is body)), None
    )
    if first is None or body is None or first is body:
        return
    grammar, source = region.source.grammar, region.source
    if source.text[source.line_start(first.line) : first.start].strip():
        return
    end = _end(region)
    values = dict.fromkeys(s.children[0].text for s in region.statements if s.kind == "return" and s.children)
    constants = ["0", "1", "-1", *TRUTH, *(["''", "[]", "null"] if grammar.dynamic else [])]
    brief = [value for value in values if len(value) < 24 and not set(value) & set("{\n")]
    simple = {text: weight for text, weight in guards(region, first).items() if weight >= 0.3 and len(text) < 40}
    indent = source.indentation_of(first.line)
    start = source.line_start(first.line)
    for condition, weight in list(simple.items())[:24]:
        for value in dict.fromkeys([*brief[:4], *sorted(region.scope.parameters)[:3], *constants]):
            head = f"if {grammar.conditions.format(condition)}"
            text = f"{indent}{head} {{ return {value}{end} }}{source.newline}"
            likely = weight * (1.0 if value in brief else 0.5)
            yield region.replace(
                start, start, text, "insert statement", likely * 0.3, f"insert `{short(text.strip())}`"
            )


def _ends(region: TreeRegion) -> Iterator[Draft]:
    """A value returned at the end of a function that has none there."""
    body = region.function.node.part("body") if region.function else None
    if body is None or not body.text.startswith("{") or not body.children:
        return
    last = region.statements[-1] if region.statements else None
    if last is None or body.children[-1].kind == "return":
        return
    source = region.source
    at = source.line_start(body.last_line)
    if source.text[at : body.end - 1].strip():
        return
    outer = body.children[-1]
    indent = source.indentation_of(outer.line)
    for value in [*region.scope.variables(outer)[:8], *TRUTH]:
        text = f"{indent}return {value}{_end(region)}{source.newline}"
        yield region.replace(at, at, text, "insert statement", 1.5, f"insert `return {value}`")
