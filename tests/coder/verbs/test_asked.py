from __future__ import annotations

import pytest

from coder.verbs.asked import FORMS, Wish, understand


@pytest.mark.parametrize(
    ("request_", "wish"),
    [
        ("complete the function parse_date in src/dates.py", Wish("complete", "parse_date", "src/dates.py")),
        ("finish foo()", Wish("complete", "foo")),
        ("Please implement the body of slugify.", Wish("complete", "slugify")),
        ("implement the slugify function", Wish("complete", "slugify")),
        ("complete the method bar of class Foo", Wish("complete", "bar", "Foo")),
        ("finish foo so that it returns 3", Wish("complete", "foo", goal="so that it returns 3")),
        ("rewrite the function foo in bar.py to use sum", Wish("rewrite", "foo", "bar.py", "to use sum")),
        ("edit foo() so that it returns 3", Wish("rewrite", "foo", goal="so that it returns 3")),
        ("rewrite foo in order to be quick", Wish("rewrite", "foo", goal="in order to be quick")),
        ("simplify total() in cart.py", Wish("rewrite", "total", "cart.py", "to be simpler")),
        ("add a docstring to Cart.total", Wish("describe", "Cart.total")),
        ('add the docstring "Doubles x." to foo in a.py', Wish("describe", "foo", "a.py", "Doubles x.")),
        ("document the function foo", Wish("describe", "foo")),
        ("rename parameter x to y in foo", Wish("rename in", "foo", old="x", new="y")),
        ("rename x to y in Foo.bar of a.py", Wish("rename in", "Foo.bar", "a.py", old="x", new="y")),
        ("rename the class Cart to Basket everywhere", Wish("rename", "Cart", old="Cart", new="Basket")),
        ("rename parameter x of f to y", Wish("rename in", "f", old="x", new="y")),
        ("rename the variable x in f of a.py to y", Wish("rename in", "f", "a.py", old="x", new="y")),
        ("rename clamp() in calc.py to limit", Wish("rename", "clamp", "calc.py", old="clamp", new="limit")),
        ("rename Cart to Basket across the project", Wish("rename", "Cart", old="Cart", new="Basket")),
        ("rename the class A to B", Wish("rename", "A", old="A", new="B")),
        ("write the function slugify in text.py", Wish("complete", "slugify", "text.py")),
        ("update foo() to use sum", Wish("rewrite", "foo", goal="to use sum")),
        ("complete the function list in a.py", Wish("complete", "list", "a.py")),
        ("complete Cart.html()", Wish("complete", "Cart.html")),
        ("rename clamp to limit in src/calc.py", Wish("rename", "clamp", "src/calc.py", old="clamp", new="limit")),
    ],
)
def test_edits_of_functions(request_, wish) -> None:
    assert understand(request_) == wish


@pytest.mark.parametrize(
    "request_",
    [
        "rename a.txt to b.txt",
        "rename a.txt to b",
        "rename all files to lower case",
        "implement the parser",
        "finish it",
        "rewrite it in Rust",
        "rewrite main.py to use asyncio",
        "refactor the code",
        "change the permissions of a.sh to 755",
        "write a parser for dates",
        "write a function that parses dates",
        "add a --quiet flag",
        "rename all .txt files to .md",
        "rename files to lowercase",
        "rename the directory to backup",
        "rename x to y in data.csv",
        "complete list of files",
        "rewrite history",
        "rewrite README.md",
        "add a line to a file",
        "add a docstring to every function",
        "implement a function",
    ],
)
def test_everything_else(request_) -> None:
    assert understand(request_) is None


def test_what_is_offered_is_understood() -> None:
    for form in FORMS:
        assert understand(form.partition('"')[2].rstrip('"').replace("…", "use sum")) is not None, form


@pytest.mark.parametrize(
    "request_", ["complete foo", "rewrite foo to use sum", "document foo(x)", "rename foo to g", "rename x to y in foo"]
)
def test_what_to_type_next_is_the_same_wish(request_) -> None:
    wish = understand(request_)
    assert wish is not None
    again = understand(wish.retold("A.foo", "src/a.py"))
    assert again is not None and (again.verb, again.name, again.path) == (wish.verb, "A.foo", "src/a.py")
    assert (again.goal, again.new) == (wish.goal, wish.new)
