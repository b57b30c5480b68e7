from __future__ import annotations

import pytest

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.repair.source import Source
from coder.verbs.asked import Wish
from coder.verbs.rename import left, rename
from coder.verbs.renaming import renamed
from coder.verbs.scopes import Unclear

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


def test_a_call_that_may_be_of_another_is_not_guessed(project, after) -> None:
    files = project({"a.py": CODE, "b.py": "class B:\n    def scale(self, by):\n        pass\n\n\nb.scale(by=4)\n"})
    with pytest.raises(Failure, match=r"b\.py:6 may pass by by its name, perhaps to a\.py:6") as failed:
        rename(files, inside("B.scale", "by", "factor"))
    assert failed.value.status is ExitStatus.NOT_FINISHED
    assert after(files, rename(files, inside("scale", "by", "factor", "a.py")))["b.py"] == files.files["b.py"]


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
        ("class A:\n    from pkg.calc import clamp\n", "more.py imports clamp into a class"),
        ("from pkg.calc import clamp\n\n\nclass A:\n    clamp = clamp\n", "class A in line 4 has and reads a clamp"),
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


@pytest.mark.parametrize(
    ("files", "wish", "message"),
    [
        ({"pkg/__init__.py": "from .calc import *\n", "pkg/calc.py": "def clamp(x):\n    pass\n",
          "use.py": "from pkg import clamp\n"}, symbol("clamp", "limit"),
         "pkg/__init__.py imports everything of pkg/calc.py"),
        ({"backend/app/calc.py": "def clamp(x):\n    pass\n", "use.py": "from app.calc import clamp\n"},
         symbol("clamp", "limit"), "use.py imports app.calc, which may be backend/app/calc.py"),
        ({"a.py": "@app.route('/')\ndef clamp():\n    pass\n"}, symbol("clamp", "limit"), "@app.route('/') may go by"),
        ({"a.py": "def clamp():\n    pass\n"}, symbol("clamp", "__limit"), "begins with __"),
        ({"a.py": "class A:\n    class B:\n        pass\n"}, symbol("B", "C"), "A.B is a class in a class"),
        ({"a.py": "@told('by')\ndef f(by):\n    pass\n"}, inside("f", "by", "to"), "@told('by') may go by the name by"),
        ({"a.py": "@click.command()\ndef f(by):\n    pass\n"}, inside("f", "by", "to"), "@click.command() may go by"),
        ({"a.py": "def f(x):\n    return '{x}'.format(**locals())\n"}, inside("f", "x", "y"), "f looks names up"),
        ({"a.py": "def f(x, **more):\n    pass\n\n\nf(1, y=2)\n"}, inside("f", "x", "y"), "a.py:5 passes y to f"),
    ],
)  # fmt: skip
def test_what_may_be_reached_in_other_ways_keeps_its_name(project, files, wish, message) -> None:
    with pytest.raises(Failure) as failed:
        rename(project(files), wish)
    assert failed.value.status is ExitStatus.NOT_FINISHED and message in failed.value.message


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("from functools import partial\nfrom a import scale\n\npartial(scale, by=2)\n", "b.py:4 may pass by"),
        ("from threading import Thread\nfrom a import scale\n\nThread(target=scale, kwargs={'by': 2})\n", "b.py:4 may"),
        ("from a import scale\n\nscale.delay(by=2)\n", "b.py:3 may pass by"),
        ("from a import scale as s\n\ns(1, by=2)\n", "b.py:3 may pass by"),
        ("import a\n\nf = a.scale\nf(1, by=2)\n", "b.py:4 may pass by"),
        ("from a import scale\n\n\ndef g(**more):\n    scale(1, **more)\n", "b.py:5 may pass by in what stands behind"),
        ("from a import *\n\nscale(1, by=2)\n", "b.py imports everything of a.py"),
    ],
)
def test_a_parameter_that_may_be_passed_unseen_keeps_its_name(project, use, message) -> None:
    with pytest.raises(Failure) as failed:
        rename(project({"a.py": "def scale(x, by=2):\n    return x * by\n", "b.py": use}), inside("scale", "by", "to"))
    assert failed.value.status is ExitStatus.NOT_FINISHED and message in failed.value.message


def test_calls_of_other_functions_of_the_name_are_left(project, after) -> None:
    use = "import subprocess\nfrom a import run\n\nrun(1, timeout=1)\nsubprocess.run(1, timeout=2)\nxs.run(timeout=3)\n"
    files = project({"a.py": "@lru_cache(maxsize=None)\ndef run(x, timeout):\n    pass\n", "b.py": use})
    texts = after(files, rename(files, inside("run", "timeout", "seconds")))
    assert texts["b.py"] == use.replace("timeout=1", "seconds=1")
    client = "import lib\n\n\nclass A:\n    def get(self, timeout):\n        return lib.get(timeout=timeout)\n"
    files = project({"a.py": client})
    texts = after(files, rename(files, inside("get", "timeout", "seconds")))
    assert texts["a.py"] == client.replace("self, timeout", "self, seconds").replace("=timeout", "=seconds")


CART = """class Cart:
    def __init__(self, tax):
        self.tax = tax

    @classmethod
    def made(cls):
        return cls(tax=1)

    def total(self, tax):
        return tax

    def half(self):
        return self.total(tax=1) / 2


Cart(tax=2).total(tax=2)
"""


def test_calls_through_a_class_follow(project, after) -> None:
    files = project({"a.py": CART})
    text = after(files, rename(files, inside("Cart.total", "tax", "rate")))["a.py"]
    assert text == (
        CART.replace("total(self, tax):\n        return tax", "total(self, rate):\n        return rate")
        .replace("total(tax=", "total(rate=")
    )  # fmt: skip
    text = after(files, rename(files, inside("Cart.__init__", "tax", "rate")))["a.py"]
    assert text == (
        CART.replace("__init__(self, tax)", "__init__(self, rate)").replace("self.tax = tax", "self.tax = rate")
        .replace("cls(tax=1)", "cls(rate=1)").replace("Cart(tax=2)", "Cart(rate=2)")
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("Cart.total", "def f(cart):\n    return cart.total(tax=3)\n"),
        ("Cart.__init__", "from a import Cart\n\n\nclass More(Cart):\n    pass\n\n\nMore(tax=3)\n"),
        ("Cart.__init__", "import a\n\n\nclass B(a.Cart):\n    def __init__(self):\n        super().__init__(tax=3)\n"),
        ("Cart.__init__", "from a import Cart\n\nCart.__init__(None, tax=3)\n"),
    ],
)
def test_calls_of_objects_of_no_known_class_are_not_guessed(project, name, use) -> None:
    files = project({"a.py": CART.replace("cls(tax=1)", "cls(1)"), "b.py": use})
    with pytest.raises(Failure, match=r"b\.py:\d may pass tax by its name"):
        rename(files, inside(name, "tax", "rate"))


def test_calls_in_files_that_are_far_away_are_not_missed(project) -> None:
    again = {"pkg/__init__.py": "from .a import scale as scale\n", "pkg/a.py": "def scale(by):\n    pass\n"}
    with pytest.raises(Failure, match=r"b\.py:3 may pass by by its name, perhaps to scale"):
        rename(project({**again, "b.py": "from pkg import scale\n\nscale(by=2)\n"}), inside("scale", "by", "to"))
    base, heir = "class A:\n    def __init__(self, by):\n        pass\n", "import a\n\n\nclass B(a.A):\n    pass\n"
    heirs = {"a.py": base, "b.py": heir}
    with pytest.raises(Failure, match=r"c\.py:3 may pass by by its name, perhaps to A\.__init__"):
        rename(project({**heirs, "c.py": "from b import B\n\nB(by=3)\n"}), inside("A.__init__", "by", "to"))


def test_a_function_is_found_through_packages_and_beside_scripts(project, after) -> None:
    clamp = "def clamp(x):\n    pass\n\n\n__all__ = []\n__all__.extend(['clamp'])\n"
    files = project({"pkg/__init__.py": "", "pkg/calc.py": clamp, "use.py": "import pkg as p\n\np.calc.clamp(1)\n"})
    texts = after(files, rename(files, symbol("clamp", "limit")))
    assert texts["pkg/calc.py"] == clamp.replace("clamp", "limit")
    assert texts["use.py"] == "import pkg as p\n\np.calc.limit(1)\n"
    files = project({"tools/b.py": clamp, "tools/a.py": "import b\nfrom b import clamp\n\nclamp(b.clamp(1))\n"})
    texts = after(files, rename(files, symbol("clamp", "limit")))
    assert texts["tools/a.py"] == "import b\nfrom b import limit\n\nlimit(b.limit(1))\n"
    files = project({"pkg/json.py": "def dumps(x):\n    pass\n", "pkg/a.py": "from json import dumps\n\ndumps(1)\n"})
    assert rename(files, symbol("dumps", "written")).paths == ("pkg/json.py",)


def test_dotted_texts_by_which_it_may_be_looked_up_are_told(project) -> None:
    mock = "def test_it(monkeypatch):\n    monkeypatch.setattr('pkg.calc.clamp', int)\n"
    files = project({**PACKAGE, "tests/test_mock.py": mock})
    proposal = rename(files, symbol("clamp", "limit", "pkg/calc.py"))
    assert "tests/test_mock.py:2" in left(files, proposal, "clamp", everywhere=True)


def test_a_place_that_is_not_where_the_tree_says_is_not_edited() -> None:
    source = Source("a.py", "x = x\n")
    read = source.tree.body[0].value
    read.col_offset, read.end_col_offset = 0, 1
    with pytest.raises(Unclear, match=r"x is not where the tree of a\.py says"):
        renamed(source, [read], "x", "y")
