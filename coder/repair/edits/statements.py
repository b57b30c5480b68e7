"""Statements: deleted, moved, swapped, re-indented; `insertions` writes new ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from coder.repair.edits.base import LOOPS, Draft, Region, short
from coder.repair.edits.insertions import defaults, inserted, results
from coder.repair.module import like_an_exception


def propose(region: Region) -> Iterator[Draft]:
    yield from defaults(region)
    for statement in region.suspects:
        yield from _delete(region, statement)
        yield from _move(region, statement)
        yield from _exchange(region, statement)
        if isinstance(statement, ast.Try):
            yield from _flatten(region, statement)
        if isinstance(statement, ast.If):
            yield from _reorder(region, statement)
    # New statements are thousands: they come last, so that all others are written.
    for statement in region.suspects:
        yield from inserted(region, statement)


def _delete(region: Region, statement: ast.stmt) -> Iterator[Draft]:
    """The statement alone, and runs of two and three that begin with it; `if` headers taken off their body."""
    place = region.block_of(statement)
    if place is None:
        return
    block, index = place
    for count, weight in ((1, 3.0), (2, 1.0), (3, 0.5)):
        run = block[index : index + count]
        if len(run) < count:
            break
        first, last = region.source.statement_lines(run[0]), region.source.statement_lines(run[-1])
        if first is None or last is None:
            if count == 1:
                start, end = region.source.span(statement)
                yield region.replace(start, end, "pass", "delete statement", weight)
            continue
        text = ""
        if count == len(block):
            text = f"{region.source.indentation(statement)}pass{region.source.newline}"
        name = f"delete `{short(region.text(statement))}`" + (f" and the next {count - 1}" if count > 1 else "")
        yield region.replace(first[0], last[1], text, "delete statement", weight, f"{name} in {region.name}")
    if isinstance(statement, ast.If | ast.For | ast.While | ast.With) and statement.body:
        span = region.source.statement_lines(statement)
        body = _lines(region, statement.body)
        if span and body is not None and region.text(statement)[:4] != "elif":
            kept = _reindent(body, region.source.indentation(statement.body[0]), region.source.indentation(statement))
            note = f"`{short(region.text(statement))}` taken off its body in {region.name}"
            yield region.replace(*span, kept, "delete statement", 1.5 if isinstance(statement, ast.If) else 0.3, note)
    orelse = getattr(statement, "orelse", None)
    if orelse and not (isinstance(statement, ast.If) and isinstance(orelse[0], ast.If) and region.is_elif(orelse[0])):
        yield from _dissolve_else(region, statement, orelse)


def _dissolve_else(region: Region, statement: ast.stmt, orelse: list[ast.stmt]) -> Iterator[Draft]:
    """`else:` of a loop or an `if`: its body moved behind the statement; and dropped."""
    span = region.source.statement_lines(statement)
    body = _lines(region, orelse)
    inner = getattr(statement, "body", [])
    if span is None or body is None or not inner:
        return
    start = region.source.line_start((inner[-1].end_lineno or 0) + 1)
    outside = _reindent(body, region.source.indentation(orelse[0]), region.source.indentation(statement))
    yield region.replace(start, span[1], outside, "move statement", 1.0, f"`else:` taken off its body in {region.name}")
    yield region.replace(start, span[1], "", "delete statement", 0.5, f"`else` dropped in {region.name}")


def _move(region: Region, statement: ast.stmt) -> Iterator[Draft]:
    """Swap with the next statement; out of the block at its end or start; into the block before or after it."""
    place = region.block_of(statement)
    own = region.source.statement_lines(statement)
    if place is None or own is None or _multiline_string(statement):
        return
    block, index = place
    text = region.source.text[slice(*own)]
    label = f"`{short(region.text(statement))}`"
    if not text.endswith("\n"):
        text += region.source.newline
    indent = region.source.indentation(statement)
    if index + 1 < len(block):
        following = region.source.statement_lines(block[index + 1])
        if following and not _multiline_string(block[index + 1]):
            other = region.source.text[slice(*following)]
            other += "" if other.endswith("\n") else region.source.newline
            between = region.source.text[own[1] : following[0]]
            note = f"{label} moved down in {region.name}"
            yield region.replace(own[0], following[1], other + between + text, "move statement", 1, note)
            inner = block[index + 1]
            if isinstance(inner, ast.If | ast.For | ast.While) and inner.body and not isinstance(statement, ast.If):
                moved = _reindent(text, indent, region.source.indentation(inner.body[0]))
                at = region.source.line_start(inner.body[0].lineno)
                if region.source.statement_lines(inner.body[0]):
                    yield _moved(region, own, at, moved, 0.7, f"{label} moved into the block below in {region.name}")
    if index and (end := _open_end(region, block[index - 1])) is not None:
        moved = f"{indent}else:{region.source.newline}{_reindent(text, indent, end)}"
        yield region.replace(*own, moved, "move statement", 1.0, f"{label} put into an `else` in {region.name}")
    if index and isinstance(block[index - 1], ast.If | ast.For | ast.While):
        above = block[index - 1]
        while isinstance(above, ast.If | ast.For | ast.While):
            body = _last_block(region, above)
            lines = region.source.statement_lines(body[-1]) if body else None
            if not body or lines is None or not region.source.text[: lines[1]].endswith("\n"):
                break
            moved = _reindent(text, indent, region.source.indentation(body[0]))
            yield _moved(region, own, lines[1], moved, 1.0, f"{label} moved into the block above in {region.name}")
            above = body[-1]
    outer = region.parent(statement)
    while isinstance(outer, ast.stmt) and outer is not region.function and len(block) > 1:
        lines = region.source.statement_lines(outer)
        if lines is None:
            break
        moved = _reindent(text, indent, region.source.indentation(outer))
        if index + 1 == len(block):
            at = lines[1]
            ended = region.source.text[:at].endswith("\n")
            if ended or at != own[1]:
                yield _moved(region, own, at, moved, 1.5, f"{label} moved behind the block in {region.name}")
        if index == 0:
            yield _moved(region, own, lines[0], moved, 1.0, f"{label} moved before the block in {region.name}")
        outer = region.parent(outer)


def _reorder(region: Region, statement: ast.If) -> Iterator[Draft]:
    """A case exchanged with the next: the rarer one is to be asked for first."""
    following = statement.orelse[0] if statement.orelse else None
    if not isinstance(following, ast.If) or not region.is_elif(following):
        return
    source, both = region.source, (statement, following)
    spans = [(source.outer_span(one.test)[0], source.span(one.body[-1])[1]) for one in both]
    texts = [region.source.text[slice(*span)] for span in spans]
    edits = (region.edit(*spans[0], texts[1]), region.edit(*spans[1], texts[0]))
    note = f"`{short(region.text(statement.test))}` asked after the next case in {region.name}"
    yield Draft("move statement", edits, note, 1.5)


def _exchange(region: Region, statement: ast.stmt) -> Iterator[Draft]:
    """`return`, `break`, `continue` and `pass` for each other; a bare expression returned or assigned."""
    start, end = region.source.span(statement)
    if isinstance(statement, ast.Break | ast.Continue | ast.Pass):
        words = ["break", "continue", "pass", "return", "return True", "return False"]
        if isinstance(region.source.enclosing(statement, ast.ExceptHandler, ast.FunctionDef), ast.ExceptHandler):
            words.append("raise")
        for word in words:
            if word != region.text(statement):
                yield region.replace(start, end, word, "statement keyword", 1 if " " not in word else 0.3)
    if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Await | ast.Yield | ast.YieldFrom):
        yield region.replace(start, start, "return ", "statement keyword", 1)
        yield region.replace(start, start, "yield ", "statement keyword", 0.3)
        value = statement.value
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and isinstance(value.func.value, ast.Name)
        ):
            yield region.replace(start, start, f"{value.func.value.id} = ", "statement keyword", 1)
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.expr() as told])):
            yield region.replace(start, end, f"return {region.text(told)}", "statement keyword", 1)
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if like_an_exception(name):
            yield region.replace(start, start, "raise ", "statement keyword", 4)
        case ast.Expr(value=ast.Call(func=ast.Name(), args=[ast.Name(id=name), *_])):
            yield region.replace(start, start, f"{name} = ", "statement keyword", 1)
        case ast.Return(value=ast.Call(func=ast.Name(id=name)) as error) if like_an_exception(name):
            yield region.replace(start, region.source.outer_span(error)[0], "raise ", "statement keyword", 4)
        case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
            for word in ("return ", "yield from "):
                yield region.replace(start, region.source.outer_span(value)[0], word, "statement keyword", 1)
        case ast.Expr(value=ast.YieldFrom(value=value)):
            yield region.replace(start, region.source.outer_span(value)[0], "yield ", "statement keyword", 1)
        case ast.Return(value=None) if region.function is not None:
            for text, weight in results(region, region.scope.variables(statement)).items():
                yield region.replace(start, end, f"return {text}", "return value", weight)
    if isinstance(statement, ast.Return) and region.source.enclosing(statement, *LOOPS):
        for word in ("break", "continue"):
            yield region.replace(start, end, word, "statement keyword", 0.5)
    if isinstance(statement, ast.Return) and statement.value is not None:
        yield region.replace(start, region.source.outer_span(statement.value)[0], "yield ", "statement keyword", 0.3)


def _flatten(region: Region, statement: ast.Try) -> Iterator[Draft]:
    span, body = region.source.statement_lines(statement), _lines(region, statement.body)
    if span and body:
        kept = _reindent(body, region.source.indentation(statement.body[0]), region.source.indentation(statement))
        yield region.replace(*span, kept, "delete statement", 0.3, f"`try` taken off its body in {region.name}")


def _moved(region: Region, own: tuple[int, int], at: int, text: str, weight: float, note: str) -> Draft:
    edits = (region.edit(*own, ""), region.edit(at, at, text))
    return Draft("move statement", edits, note, weight)


def _open_end(region: Region, statement: ast.stmt) -> str | None:
    """The indentation of the body of an `if` that has no `else`, and goes on behind; None of any other statement."""
    while isinstance(statement, ast.If):
        if not statement.orelse:
            leaves = isinstance(statement.body[-1], ast.Return | ast.Raise | ast.Break | ast.Continue)
            return None if leaves else region.source.indentation(statement.body[0])
        statement = statement.orelse[0]
        if not (isinstance(statement, ast.If) and region.is_elif(statement)):
            break
    return None


def _last_block(region: Region, statement: ast.stmt) -> list[ast.stmt]:
    orelse: list[ast.stmt] = getattr(statement, "orelse", [])
    while orelse and isinstance(orelse[0], ast.If) and region.is_elif(orelse[0]):
        statement, orelse = orelse[0], orelse[0].orelse
    return orelse or getattr(statement, "body", [])


def _lines(region: Region, block: list[ast.stmt]) -> str | None:
    first, last = region.source.statement_lines(block[0]), region.source.statement_lines(block[-1])
    if first is None or last is None or any(_multiline_string(statement) for statement in block):
        return None
    text = region.source.text[first[0] : last[1]]
    return text if text.endswith("\n") else text + region.source.newline


def _multiline_string(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno
        for node in ast.walk(statement)
    )


def _reindent(text: str, old: str, new: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(new + line[len(old) :] if line.startswith(old) else line for line in lines)
