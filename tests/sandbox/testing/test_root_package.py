"""A project whose root is itself the package that its tests import."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sandbox.testing.report import Way
from sandbox.testing.session import TestSession

FILES = {
    "__init__.py": "",
    "lib.py": "from mypkg import other\n\n\ndef double(x):\n    return other.add(x, 1)\n",
    "other.py": "def add(a, b):\n    return a + b\n",
    "tests/test_lib.py": "import mypkg.lib\n\n\ndef test_double():\n    assert mypkg.lib.double(3) == 6\n",
}
NODE = "tests/test_lib.py::test_double"


def test_it_is_imported_by_the_name_of_its_folder(open_session: Callable[..., TestSession]) -> None:
    session = open_session(FILES, origin=Path("/elsewhere/mypkg"))
    test = session.baseline().tests[NODE]
    assert (test.error, test.missing_module) == ("AssertionError", "")
    assert {"lib.py", "other.py"} <= set(test.lines)
    trial = session.trial({"lib.py": FILES["lib.py"].replace("(x, 1)", "(x, x)")}, [NODE])
    assert (trial.passed, trial.way) == (True, Way.SWAP)


def test_what_is_installed_under_that_name_comes_first(open_session: Callable[..., TestSession]) -> None:
    test = "import colorsys\n\n\ndef test_it():\n    assert colorsys.rgb_to_hsv(0, 0, 1)[2] == 1\n"
    session = open_session({"__init__.py": "", "tests/test_it.py": test}, origin=Path("/elsewhere/colorsys"))
    assert session.baseline().passing == ("tests/test_it.py::test_it",)
