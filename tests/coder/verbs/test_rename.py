from __future__ import annotations

import pytest

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.verbs.asked import Wish
from coder.verbs.rename import left, rename

CODE = '''"""About x."""

from functools import partial


def scale(x, by=2, *, places=0):
    """Scales x."""
    def inner(y, z=x):
        return [x for x in y] + [x * q for q in y]

    shadow = lambda x: x
    if (total := x * by) > 3:
        return f"{x}: {total}" + str(shadow(x=1))
    return inner([x])


def other(x):
    return scale(x, by=3)
'''


def inside(name, old, new, path=""):
    return Wish("rename in", name, path, old=old, new=new)


def symbol(old, new, path=""):
    return Wish("rename", old, path, old=old, new=new)


def test_a_parameter_is_renamed_where_it_is_meant_and_nowhere_else(project, after) -> None:
    files = project({"a.py": CODE})
    proposal = rename(files, inside("scale", "x", "width"))
    text = after(files, proposal)["a.py"]
    assert text == (
        CODE.replace("scale(x, by=2", "scale(width, by=2").replace("z=x", "z=width").replace("x * q", "width * q")
        .replace("x * by", "width * by").replace('f"{x}:', 'f"{width}:').replace("inner([x])", "inner([width])")
    )  # fmt: skip
    assert left(files, proposal, "x")[:3] == ["a.py:1", "a.py:7", "a.py:9"]


def test_calls_that_pass_it_by_name_follow_in_all_files(project, after) -> None:
    files = project({"a.py": CODE, "b.py": "import a\n\nprint(a.scale(1, by=4), dict(by=1))\n"})
    texts = after(files, rename(files, inside("scale", "by", "factor")))
    assert "scale(x, factor=3)" in texts["a.py"] and "x * factor" in texts["a.py"]
    assert texts["b.py"] == "import a\n\nprint(a.scale(1, factor=4), dict(by=1))\n"


def test_a_call_that_may_be_of_another_is_not_guessed(project) -> None:
    files = project({"a.py": CODE, "b.py": "class B:\n    def scale(self, by):\n        pass\n\n\nb.scale(by=4)\n"})
    with pytest.raises(Failure, match=r"a.py, b.py pass by by keyword, perhaps to b.py:2") as failed:
        rename(files, inside("scale", "by", "factor", "a.py"))
    assert failed.value.status is ExitStatus.NOT_FINISHED


@pytest.mark.parametrize(
    ("wish", "status", "message"),
    [
        (inside("scale", "x", "by"), ExitStatus.NOT_FINISHED, "by has a meaning already"),
        (inside("scale", "x", "q"), ExitStatus.NOT_FINISHED, "q has a meaning already"),
        (inside("scale", "x", "inner"), ExitStatus.NOT_FINISHED, "inner has a meaning already"),
        (inside("scale", "x", "str"), ExitStatus.NOT_FINISHED, "str has a meaning already"),
        (inside("scale", "q", "r"), ExitStatus.USAGE, "no parameter or variable called q"),
        (inside("scale", "x", "class"), ExitStatus.USAGE, "class cannot be the new name"),
        (inside("scale", "x", "x"), ExitStatus.USAGE, "x cannot be the new name"),
        (symbol("scale", "other"), ExitStatus.NOT_FINISHED, "other has a meaning already"),
        (symbol("scale", "x"), ExitStatus.NOT_FINISHED, "x has a meaning already"),
    ],
)
def test_names_that_cannot_be_given(project, wish, status, message) -> None:
    with pytest.raises(Failure) as failed:
        rename(project({"a.py": CODE}), wish)
    assert failed.value.status is status and message in failed.value.message


PACKAGE = {
    "pkg/__init__.py": 'from .calc import clamp\n\n__all__ = ["clamp", "other"]\n',
    "pkg/calc.py": "def clamp(x):\n    clamp(x - 1)\n\n\nclass A:\n    def clamp(self):\n        clamp(1)\n",
    "pkg/sh.py": "from pkg import calc as c\nimport pkg.calc\nc.clamp(1), pkg.calc.clamp(2)\ndef f(c):\n    c.clamp\n",
    "use.py": "from pkg import clamp\n\n\ndef g():\n    clamp(1)\n\n\ndef h(clamp):\n    return clamp\n",
    "short.py": "from pkg.calc import clamp as k\n\nk(1)\n",
    "own.py": "def clamp():\n    pass\n\n\nclamp()\n",
    "tests/test_calc.py": "def test_it():\n    from pkg.calc import clamp\n\n    assert clamp(0) == 0\n",
}


def test_a_function_is_renamed_where_imports_lead_to_it(project, after) -> None:
    files = project(PACKAGE)
    texts = after(files, rename(files, symbol("clamp", "limit", "pkg/calc.py")))
    assert texts["pkg/__init__.py"] == 'from .calc import limit\n\n__all__ = ["limit", "other"]\n'
    assert texts["pkg/calc.py"] == PACKAGE["pkg/calc.py"].replace(" clamp(x", " limit(x").replace(
        "clamp(1)", "limit(1)"
    )
    assert texts["pkg/sh.py"] == PACKAGE["pkg/sh.py"].replace("clamp(", "limit(")
    assert texts["use.py"] == PACKAGE["use.py"].replace("clamp", "limit", 2)
    assert texts["short.py"] == "from pkg.calc import limit as k\n\nk(1)\n"
    assert texts["own.py"] == PACKAGE["own.py"]
    assert texts["tests/test_calc.py"] == PACKAGE["tests/test_calc.py"].replace("clamp", "limit")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("from pkg.calc import *\nclamp(1)\n", "more.py imports everything of pkg/calc.py"),
        (
            "try:\n    from pkg.calc import clamp\nexcept ImportError:\n    from fast import clamp\n",
            "from elsewhere too",
        ),
        ("from pkg.calc import clamp\n\nlimit = 3\n", "limit has a meaning already"),
        ("from pkg.calc import clamp\n\n\ndef f(limit):\n    return clamp(limit)\n", "limit has a meaning already"),
        ("from pkg.calc import clamp\n\n\ndef f():\n    global clamp\n    clamp = 1\n", "clamp is declared global"),
        ("from pkg.calc import clamp\n)\n", "more.py mentions clamp and does not parse"),
    ],
)
def test_where_the_tree_does_not_say_it_nothing_is_renamed(project, more, message) -> None:
    with pytest.raises(Failure) as failed:
        rename(project({**PACKAGE, "more.py": more}), symbol("clamp", "limit", "pkg/calc.py"))
    assert failed.value.status is ExitStatus.NOT_FINISHED and message in failed.value.message


def test_a_method_is_left_to_others(project) -> None:
    with pytest.raises(Failure, match=r"A\.clamp is a method"):
        rename(project(PACKAGE), Wish("rename", "A.clamp", old="A.clamp", new="limit"))


def test_line_ends_and_letters_of_all_kinds_stay(project, after) -> None:
    files = project({"a.py": 'def größe(ä):\r\n    print("ä", ä)\r\n'})
    assert after(files, rename(files, inside("größe", "ä", "ö")))["a.py"] == 'def größe(ö):\r\n    print("ä", ö)\r\n'
