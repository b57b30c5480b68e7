"""Tests whose files no name gives away: what was collected may not be changed, whatever it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from sandbox.testing.session import TestSession

WRONG = "def total(prices):\n    return sum(prices) + 1\n"
RIGHT = "def total(prices):\n    return sum(prices)\n"
CHECK = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
WEAKER = CHECK.replace(" == 3", "")
CHECKS = {"pytest.ini": "[pytest]\npython_files = check_*.py\n", "cart.py": WRONG, "checks/check_cart.py": CHECK}
DOCUMENTED = 'def total(prices):\n    """\n    >>> total([1, 2])\n    3\n    """\n    return sum(prices) + 1\n'
STYLE = """
import pytest


class Style(pytest.Item):
    def runtest(self):
        pass


class File(pytest.File):
    def collect(self):
        yield Style.from_parent(self, name="style")


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".py":
        return File.from_parent(parent, path=file_path)
"""
Open = Callable[..., TestSession]


@pytest.mark.parametrize(
    ("files", "path", "arguments"),
    [
        (CHECKS, "checks/check_cart.py", ()),
        ({"pytest.ini": "[pytest]\npython_files = test*.py\n", "testCart.py": CHECK}, "testCart.py", ()),
        ({"checks.py": CHECK}, "checks.py", ("checks.py",)),
    ],
    ids=["a pattern of its own", "camel case", "named on the command line"],
)
def test_what_was_collected_is_off_limits(
    open_session: Open, files: Mapping[str, str], path: str, arguments: tuple[str, ...]
) -> None:
    session = open_session({"cart.py": WRONG, **files}, *arguments)
    assert session.baseline().test_files == (path,)
    assert session.confirm({path: WEAKER}).dishonest == (f"{path} is run as a test",)
    assert session.confirm({path: WEAKER, "cart.py": RIGHT}).dishonest
    assert session.confirm({"cart.py": RIGHT}).passed


def test_permission_is_for_these_too(open_session: Open) -> None:
    session = open_session(CHECKS, allow_tests=True)
    session.baseline()
    assert session.confirm({"checks/check_cart.py": WEAKER}).passed


def test_they_may_not_be_rewritten_by_the_code_either(open_session: Open) -> None:
    session = open_session(CHECKS)
    session.baseline()
    rewriting = "open('checks/check_cart.py', 'a').write('\\n')\n"
    assert "changed during the run" in session.prove({"cart.py": rewriting + RIGHT}).problem


def test_a_change_of_the_code_makes_no_new_tests(open_session: Open) -> None:
    session = open_session({"pytest.ini": "[pytest]\npython_files = *.py\n", "cart.py": WRONG, "checks.py": CHECK})
    assert session.baseline().test_files == ("checks.py",)
    assert "did not exist before" in session.prove({"cart.py": f"{RIGHT}\n\ndef test_more():\n    pass\n"}).problem


@pytest.mark.parametrize(
    ("files", "arguments", "expected"),
    [
        ({"cart.py": DOCUMENTED}, ("--doctest-modules",), ()),
        ({"cart.py": WRONG, "test_cart.py": CHECK, "conftest.py": STYLE}, (), ("test_cart.py",)),
        ({"cart.py": "def total(:\n", "test_cart.py": CHECK}, ("--doctest-modules",), ("test_cart.py",)),
        ({**CHECKS, "cart.py": ""}, (), ("checks/check_cart.py",)),
        (
            {
                "cart.py": WRONG,
                "contract.py": "class Contract:\n    def test_total(self):\n        assert self.total([1, 2]) == 3\n",
                "test_cart.py": "import cart\nfrom contract import Contract\n\n\n"
                "class TestCart(Contract):\n    total = staticmethod(cart.total)\n",
            },
            (),
            ("test_cart.py", "contract.py"),
        ),
    ],
    ids=["doctests", "checks of style", "code that does not parse", "tests that cannot be imported", "inherited"],
)
def test_files_of_tests_are_told_from_the_code(
    open_session: Open, files: Mapping[str, str], arguments: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    session = open_session(files, *arguments)
    assert session.baseline().test_files == expected
    broken = files["cart.py"]
    assert session.inspect({"cart.py": broken.replace(" + 1", "") if broken == DOCUMENTED else RIGHT}) == []


def test_doctests_stay_as_they_are(open_session: Open) -> None:
    session = open_session({"cart.py": DOCUMENTED}, "--doctest-modules")
    session.baseline()
    assert session.inspect({"cart.py": DOCUMENTED.replace(" + 1", "")}) == []
    changed = ("cart.py: the doctest `total([1, 2])` is changed",)
    for old, new in (("    3\n", "    4\n"), ("2])\n", "2])  # doctest: +SKIP\n"), (">>> total([1, 2])\n    3\n", "")):
        assert session.confirm({"cart.py": DOCUMENTED.replace(old, new)}).dishonest == changed
