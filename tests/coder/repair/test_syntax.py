from __future__ import annotations

import pytest

from coder.repair.syntax import viable


@pytest.mark.parametrize(
    "text",
    ["", "def f():\n",
     "if x:\n    a\nelse:\n", "def f():\n    try:\n        a\n", "x = (1,\n", 's = """a\n', "d = {\n 'a': 1,\n"],
)  # fmt: skip
def test_a_beginning_may_go_on(text: str) -> None:
    assert viable(text)


@pytest.mark.parametrize(
    "text",
    ["x = \n", "return 1)\n",
     "def f():\n  a\n b\n", "def f(:\n", "for x in y\n", "x = [1\ny = 2\n", "a b\nif x:\n", "x = '\0'\n"],
)  # fmt: skip
def test_what_cannot_come_right_any_more(text: str) -> None:
    assert not viable(text)
