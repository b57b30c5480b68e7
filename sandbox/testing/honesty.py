"""The static gate on a change: what a repair never needs and a faked pass often does.

Tests that run in one process with the code they judge can be fooled by that code; the canary and the events catch most
of it, and this gate the rest: values that equal everything, answers read from the caller's frame. Only what is new
counts: each finding is a short text, and the change is clean when the new file has none more often than the old one.
Answers made to fit the tests' inputs are beyond any gate.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Collection, Mapping

from sandbox.testing import endings, texts
from sandbox.testing.banlist import HARMLESS_MODULES, HIDDEN
from sandbox.testing.findings import Findings, top_modules
from sandbox.testing.imports import importable
from sandbox.testing.protected import is_protected
from sandbox.testing.report import relative
from sandbox.trees import parse
from sandbox.working_copy import WorkingCopy


def inspect_change(
    path: str, before: str, after: str, allow_tests: bool = False, imported: Collection[str] = ()
) -> list[str]:
    """Why the change of the file at `path` from `before` to `after` is refused; empty for a clean one.

    `imported` names top-level modules that the repository has or already imports elsewhere.
    A file that is not Python is only asked whether it is a test or configures tests.
    """
    if is_protected(path):
        return [] if allow_tests else [f"{path} is a test or configures tests"]
    reasons = [f"{path}: {reason}" for reason in _new(_hidden(before), _hidden(after))]
    if not path.endswith((".py", ".pyi", ".pyw")):
        return reasons + [
            f"{path}: {reason}" for reason in _new(endings.found(path, before), endings.found(path, after))
        ]
    new = _tree(after)
    if new is None:
        return [*reasons, f"{path}: not valid Python"]
    old = _tree(before) or ast.Module([], [])
    known = HARMLESS_MODULES | set(imported) | set(top_modules(old))
    try:
        old_findings, new_findings = (list(Findings(tree, known).all()) for tree in (old, new))
    except RecursionError:
        return [*reasons, f"{path}: nested too deeply to be looked through"]
    return reasons + [f"{path}: {reason}" for reason in _new(old_findings, new_findings)]


def inspect_files(
    tree: WorkingCopy, files: Mapping[str, str], allow_tests: bool = False, judges: Collection[str] = ()
) -> list[str]:
    """`inspect_change` for each of `files`, whole new texts by path, against the pristine `tree`.

    `judges` are files that are known to hold tests, whatever their names. Permission to change these does not make them
    exempt from the rest: they may hold the code as well.
    """
    imported = importable(tree)
    reasons: list[str] = []
    for name, after in files.items():
        path = relative(name)
        reasons += inspect_change(path, texts.read(tree, path), after, allow_tests, imported)
        if path in judges and not allow_tests:
            reasons.append(f"{path} is run as a test")
    return reasons


def _new(before: list[str], after: list[str]) -> list[str]:
    return sorted(Counter(after) - Counter(before))


def _tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse(text.lstrip("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _hidden(text: str) -> list[str]:
    return [f"hidden character U+{ord(found):04X}" for found in HIDDEN.findall(text.lstrip("\ufeff"))]
