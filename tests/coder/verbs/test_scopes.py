from __future__ import annotations

import ast
import sys

import pytest

from coder.verbs.scopes import Unclear, binds, bound, uses


def lines(text, name, scope=None):
    tree = ast.parse(text)
    return sorted(node.lineno for node in uses(tree if scope is None else scope(tree), name))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\nprint(a)\n", [1, 2]),
        ("a = 1\ndef f():\n    return a\n", [1, 3]),
        ("a = 1\ndef f():\n    a = 2\n    return a\n", [1]),
        ("a = 1\ndef f(a, b=a):\n    return a\n", [1, 2]),
        ("a = 1\ndef f(b: a) -> a:\n    return lambda a=a: a\n", [1, 2, 2, 3]),
        ("a = 1\n[a for a in a]\n", [1, 2]),
        ("a = 1\n[a for b in a for c in a]\n", [1, 2, 2, 2]),
        ("a = 1\nclass A(a):\n    a = 2\n    def f(self):\n        return a\n", [1, 2, 5]),
        ("def a():\n    a()\n@a\nclass B:\n    x: a\n", [1, 2, 3, 5]),
        ("import a\na.b\n", [1, 2]),
    ],
)
def test_uses(text, expected) -> None:
    assert lines(text, "a") == expected


@pytest.mark.parametrize(
    "text",
    ["a = 1\ndef f():\n    global a\n    a = 2\n", "a = 1\nclass A:\n    a = a\n", "import x as a\n", "import a.b\n",
     "try:\n    pass\nexcept E as a:\n    a\n", "match x:\n    case [*a]:\n        a\n"],
)  # fmt: skip
def test_what_cannot_be_edited_is_said(text) -> None:
    with pytest.raises(Unclear):
        lines(text, "a")


def test_what_a_function_binds() -> None:
    function = ast.parse(
        "def f(a, *b, c=d, **e):\n    import g.h\n    for i, (j, k) in l:\n        m = [n for n in o]\n"
    ).body[0]
    assert sorted(bound(function)) == ["a", "b", "c", "e", "g", "i", "j", "k", "m"]
    assert binds(function, "m") and not binds(function, "n") and not binds(function, "d")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no type parameters")
def test_type_parameters() -> None:
    assert lines("class a: pass\ndef f[T: a](x: T): pass\n", "a") == [1, 2]
    with pytest.raises(Unclear):
        lines("a = 1\ndef f[a](x: a): pass\n", "a")
