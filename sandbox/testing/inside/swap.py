"""Replaces the code of functions in place, where that is the same as importing the changed file.

It is the same only if all that runs at import is unchanged (compared as bytecode), if each changed function keeps its
arguments and free variables, and if no changed function was called while the tests were imported and collected. In
haste the last of these is let pass: what the function made then stays as the old code made it.
"""

from __future__ import annotations
import __future__

import gc
import sys
from collections.abc import Iterator
from types import AsyncGeneratorType, CodeType, CoroutineType, FunctionType, GeneratorType
from typing import Any

from .calls import Key, key
from .reduce import functions_of, reduce

SUSPENDED: dict[type, str] = {GeneratorType: "gi_code", CoroutineType: "cr_code", AsyncGeneratorType: "ag_code"}
HAS_DOCSTRING = 0x4000000  # co_flags, Python 3.14 and newer; before, the first constant is the docstring or None


class NotSwappable(Exception):
    """The change needs a new import. The message says why."""


class Swapper:
    """Knows the function objects of this process, and what was called so far. Make it once collection is over."""

    def __init__(self, called: set[Key]) -> None:
        self._called = called
        self._functions: dict[Key, list[FunctionType]] = {}
        self._files: set[str] = set()
        for thing in gc.get_objects():
            if type(thing) is FunctionType:
                code = thing.__code__
                self._functions.setdefault(key(code), []).append(thing)
                self._files.add(code.co_filename)
            elif type(thing) in SUSPENDED:
                # A generator that nobody has resumed was never seen to run, yet keeps the code that it was made with.
                self._called.add(key(getattr(thing, SUSPENDED[type(thing)])))

    def swap(self, filename: str, old: str, new: str, hasty: bool = False) -> bool:
        """Make the functions of `filename` behave as `new` says; whether one of them had been called before, which only
        `hasty` permits. Raises NotSwappable, SyntaxError, ValueError."""
        if filename not in self._files:
            raise NotSwappable("no function of this file is known")
        old_part, new_part = reduce(old, new) or (old, new)
        try:
            after = _compile(new_part, filename, old)
        except SyntaxError:
            after = _compile(new, filename, old)
            raise NotSwappable("the change reaches beyond its function") from None
        changed = list(_changed(_compile(old_part, filename, old), after))
        # A function whose inner functions alone differ may have run: what it made is replaced too.
        stale = any(key(before) in self._called and _shape(before) != _shape(after) for before, after in changed)
        if stale and not hasty:
            raise NotSwappable("a function that ran while the tests were collected is changed")
        pairs = [(function, after) for before, after in changed for function in self._targets(before, after)]
        for function, code in pairs:
            function.__code__ = code
        return stale

    def prepare(self, text: str) -> None:
        """Look at a file's text beforehand, in the process that lives on."""
        functions_of(text)

    def _targets(self, before: CodeType, after: CodeType) -> list[FunctionType]:
        name = before.co_name
        functions = self._functions.get(key(before), [])
        if not functions and not _nested(before):
            raise NotSwappable(f"{name} was not found")
        if any(function.__code__.co_code != before.co_code for function in functions):
            raise NotSwappable(f"{name} was changed at run time")
        if functions and before.co_freevars != after.co_freevars:
            raise NotSwappable(f"{name} has other free variables")
        return functions


def _compile(text: str, filename: str, whole: str) -> CodeType:
    # The reduced text has lost its `from __future__ import annotations`; the flag stands for it.
    flags = __future__.annotations.compiler_flag if "from __future__ import annotations" in whole else 0
    return compile(text.lstrip("\ufeff"), filename, "exec", flags=flags, dont_inherit=True)


def _nested(code: CodeType) -> bool:
    """Functions inside functions may have no function object yet: the new code of the outer one makes them."""
    return bool(code.co_flags & 0x10)  # CO_NESTED


def _changed(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Pairs of function codes that differ below two codes that run at import and must be the same."""
    if _shape(old) != _shape(new):
        raise NotSwappable("something outside the functions' bodies differs")
    for before, after in zip(_children(old), _children(new)):
        if before.co_flags & 0x2:  # CO_NEWLOCALS: a function; without it, the body of a class
            yield from _changed_functions(before, after)
        else:
            yield from _changed(before, after)


def _changed_functions(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    if _same(before, after):
        return
    anew = _nested(before) and before.co_name in COMPREHENSIONS  # made by the function around it at each call
    if not anew and _signature(before) != _signature(after):
        raise NotSwappable(f"{before.co_name} has another signature or docstring")
    yield before, after
    # Functions that exist already and were made by this one (wrappers of decorators) follow, pair by pair.
    olds, news = _children(before), _children(after)
    if [child.co_name for child in olds] != [child.co_name for child in news]:
        if any(child.co_name not in COMPREHENSIONS for child in olds):
            raise NotSwappable(f"{before.co_name} has other inner functions")
        return
    for old, new in zip(olds, news):
        yield from _changed_functions(old, new)


COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def _shape(code: CodeType) -> Any:
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, _constants(code, False)


def _same(old: CodeType, new: CodeType) -> bool:
    return _whole(old) == _whole(new)


def _whole(code: CodeType) -> Any:
    return (*_shape(code)[:5], code.co_flags, _signature(code), _constants(code, True))


def _constants(code: CodeType, deep: bool) -> list[Any]:
    """Constants with their types (1, 1.0 and True are equal to Python); code as its name, or whole when `deep`."""
    found: list[Any] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.append(_whole(constant) if deep else constant.co_name)
        else:
            found.append((type(constant).__name__, repr(constant)))
    return found


def _signature(code: CodeType) -> Any:
    arguments = code.co_argcount + code.co_kwonlyargcount
    arguments += bool(code.co_flags & 0x4) + bool(code.co_flags & 0x8)
    return (
        code.co_name,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & 0xC,
        code.co_varnames[:arguments],
        _docstring(code),
    )


def _docstring(code: CodeType) -> str | None:
    if sys.version_info >= (3, 14) and not code.co_flags & HAS_DOCSTRING:
        return None
    first = code.co_consts[0] if code.co_consts else None
    return first if isinstance(first, str) else None


def _children(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]
