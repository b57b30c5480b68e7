from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from sandbox.testing.session import TestSession

PYTEST = {
    "double.py": "def double(n):\n    return n + 2\n",
    "test_double.py": "from double import double\n\n\ndef test_one():\n    assert double(1) == 2\n",
}
UNITTEST = {
    **PYTEST,
    "test_double.py": """
    import unittest

    from double import double


    class TestDouble(unittest.TestCase):
        def test_one(self):
            self.assertEqual(double(1), 2)

        def test_two(self):
            self.assertEqual(double(2), 4)
    """,
}
NOT_OUR_OWN = {
    **PYTEST,
    "test_double.py": """
    import unittest

    from double import double


    class Base(unittest.TestCase):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.asked = []

        def setUp(self):
            self.asked.append(1)


    class TestDouble(Base):
        def test_one(self):
            self.assertEqual(double(1), 2)
    """,
}


@pytest.mark.parametrize("files", [PYTEST, UNITTEST, NOT_OUR_OWN], ids=["pytest", "unittest", "own base class"])
def test_a_right_patch_is_proved_whatever_the_tests_are_made_of(
    open_session: Callable[..., TestSession], files: Mapping[str, str]
) -> None:
    session = open_session(files)
    session.baseline()
    verdict = session.confirm({"double.py": "def double(n):\n    return n * 2\n"})
    assert verdict.passed, verdict.summary()
    assert not session.confirm({"double.py": "def double(n):\n    return n * 3\n"}).passed
