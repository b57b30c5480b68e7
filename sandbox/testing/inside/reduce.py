"""Cuts a changed file down to the one function that differs, so that compiling costs no more than that function."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A function or method: its lines (from 1, decorators included), the headers of its classes by line number, and
    the names that the module imports. The compiler treats attributes of imported names in a way of their own."""

    first: int
    last: int
    headers: dict[int, str]
    imported: tuple[str, ...]


def reduce(old: str, new: str) -> tuple[str, str] | None:
    """Both texts with all but the one changed function blanked; lines keep their numbers.

    None where the change is not within one function or method: then compare whole files.
    """
    if "\r" in old or "\r" in new:
        return None
    olds, news = old.split("\n"), new.split("\n")
    shorter = min(len(olds), len(news))
    same = 0
    while same < shorter and olds[same] == news[same]:
        same += 1
    tail = 0
    while tail < shorter - same and olds[-1 - tail] == news[-1 - tail]:
        tail += 1
    first, last = same + 1, max(len(olds) - tail, same + 1)
    place = next((place for place in functions_of(old) if place.first <= first and last <= place.last), None)
    if place is None:
        return None
    return _blank(olds, place, place.last), _blank(news, place, place.last + len(news) - len(olds))


@functools.lru_cache(maxsize=64)
def functions_of(text: str) -> list[Place]:
    """The outermost functions and methods of a file; none where it does not parse."""
    try:
        body = ast.parse(text.lstrip("\ufeff")).body
    except (SyntaxError, ValueError):
        return []
    return list(_functions(body, {}, tuple(_imported(body))))


def _functions(body: list[ast.stmt], headers: dict[int, str], imported: tuple[str, ...]) -> Iterator[Place]:
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            start = min([statement.lineno, *(one.lineno for one in statement.decorator_list)])
            if start not in headers:
                yield Place(start, statement.end_lineno or start, headers, imported)
        elif isinstance(statement, ast.ClassDef):
            header = " " * statement.col_offset + f"class {statement.name}:"
            yield from _functions(statement.body, {**headers, statement.lineno: header}, imported)


def _imported(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from _imported([child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)])


def _blank(lines: list[str], place: Place, last: int) -> str:
    blank = [place.headers.get(number, "") for number in range(1, place.first)]
    names = ", ".join(name for name in place.imported if name != "*")
    return "\n".join([*blank, *lines[place.first - 1 : last], f"import {names}" if names else "", ""])
