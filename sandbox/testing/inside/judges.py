"""Which files hold the tests that were collected: those judge, so they are not to be repaired.

Doctests and checks of style are collected from the very code that they judge. Its files do not count.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

from .failures import Repository


def files_of(items: Iterable[Any], repository: Repository) -> list[str]:
    """Paths as node ids have them: the file of each test, and that of the class that a test is inherited from."""
    found: dict[str, None] = {}
    for item in items:
        path = item.nodeid.partition("::")[0]
        if isinstance(item, pytest.Function):
            found[path] = None
            with contextlib.suppress(Exception):  # classes may answer for their attributes in ways of their own
                found[_origin(item, repository) or path] = None
        elif not item.path.suffix.startswith(".py"):
            found[path] = None
    return list(found)


def holds_tests(node: Any) -> bool:
    """Whether a collector that failed stands for a file of tests, or for a part of one, as far as its text tells."""
    module = node.getparent(pytest.Module)
    if module is None or isinstance(module, DoctestModule):
        return False
    try:
        text = module.path.read_text("utf-8", "replace")
    except OSError:
        return True
    patterns = [*module.config.getini("python_functions"), *module.config.getini("python_classes")]
    starts = (re.escape(pattern.partition("*")[0]) for pattern in patterns)
    return "TestCase" in text or any(re.search(rf"\b(?:def|class)\s+{start}", text) for start in starts)


def _origin(item: Any, repository: Repository) -> str:
    """The file of the method that a test of a class runs; "" for other tests, and where it is not known."""
    name = getattr(item, "originalname", item.name)
    method = getattr(item.cls, name, None) if item.cls is not None else None
    if getattr(method, "__name__", "") != name:
        return ""  # what a decorator put in its place may be of the code
    module = sys.modules.get(method.__module__)
    return repository.relative(getattr(module, "__file__", None) or "<none>")
