"""Tests that must fail, run last, through the machinery of the project's own: if one passes, it was tampered with."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any

import pytest

NAME = "test_canary_must_fail"


def _fails() -> None:
    raise AssertionError("canary")


class Canary:
    """Appends the canaries after every other plugin has had its say on the collected tests."""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, session: Any, items: list[Any]) -> Iterator[None]:
        yield
        if not items:
            return
        module = items[-1].getparent(pytest.Module) or session
        canaries = [pytest.Function.from_parent(module, name=NAME, callobj=_fails)]
        if any(isinstance(getattr(item, "cls", None), type) and _is_case(item.cls) for item in items):
            canaries += _unittest_canary(module)
        items += canaries


def _is_case(cls: type) -> bool:
    return issubclass(cls, unittest.TestCase)


class CanaryCase(unittest.TestCase):
    def test_canary_must_fail(self) -> None:
        self.fail("canary")


def _unittest_canary(module: Any) -> list[Any]:
    from _pytest.unittest import UnitTestCase

    case = UnitTestCase.from_parent(module, name=CanaryCase.__name__)
    case.obj = CanaryCase  # else it is looked for in the module
    return list(case.collect())
