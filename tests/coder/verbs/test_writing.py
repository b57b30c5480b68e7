from __future__ import annotations

import ast
import threading

import pytest

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.verbs.asked import Wish
from coder.verbs.writing import DRAFTS, write
from tests.lsp.parrot import Parrot
from tests.model.toy import ByteTokenizer

TOTAL = "def total(xs):\n    result = 0\n    for x in xs:\n        result += x\n    return result\n"


def written(project, wish, knows):
    return list(write(project, wish, lambda: (Parrot(knows), ByteTokenizer()), threading.Event()))


def test_a_body_is_written_in_place_of_a_stub(project, after) -> None:
    files = project({"a.py": "def twice(x):\n    pass\n"})
    body = "doubled = x + x\n    return doubled\n"
    first = written(files, Wish("complete", "twice"), f"def twice(x):\n    {body}\n\n")[0]
    assert after(files, first)["a.py"] == f"def twice(x):\n    {body}" and first.note == "write the body of twice"
    files = project({"a.py": 'def twice(x):\n    """Doc."""\n\n\ny = 1\n'})
    first = written(files, Wish("complete", "twice", goal="to be quick"), f"# to be quick\n    {body}\n\n")[0]
    assert after(files, first)["a.py"] == f'def twice(x):\n    """Doc."""\n    {body}\n\ny = 1\n'


def test_each_text_comes_once_and_none_that_means_nothing(project) -> None:
    same = "def twice(x):\n    return x + x\n\n\n"
    found = written(project({"a.py": "def twice(x):\n    pass\n"}), Wish("complete", "twice"), same)
    assert 1 <= len({one.edits[0].replacement for one in found}) == len(found) <= DRAFTS
    unknown = "def twice(x):\n    return nobody_knows(x)\n\n\n"
    found = written(project({"a.py": "def twice(x):\n    pass\n"}), Wish("complete", "twice"), unknown)
    assert all("nobody_knows" not in one.edits[0].replacement for one in found)


def test_a_stub_is_no_body(project) -> None:
    for body in "pass", "raise NotImplementedError":
        knows = f"def twice(x):\n    {body}\n\n\n"
        found = written(project({"a.py": "def twice(x):\n    ...\n"}), Wish("complete", "twice"), knows)
        assert all(one.edits[0].replacement.strip() != body for one in found)
        knows = f"# The same, rewritten.\ndef total(xs):\n    {body}\n\n\n"
        found = written(project({"a.py": TOTAL}), Wish("rewrite", "total"), knows)
        assert all(one.edits[0].replacement.strip() != body for one in found)


def test_a_body_may_begin_with_a_stub(project) -> None:
    knows = "def twice(x):\n    def f():\n        pass\n    return f\n\n\n"
    found = written(project({"a.py": "def twice(x):\n    ...\n"}), Wish("complete", "twice"), knows)
    assert found and found[0].edits[0].replacement.startswith("def f():\n        pass")


def test_another_body_uses_what_it_was_to_use(project, after) -> None:
    files = project({"a.py": TOTAL})
    knows = "# The same, rewritten to use sum.\ndef total(xs):\n    return sum(xs)\n\n\n"
    first = written(files, Wish("rewrite", "total", goal="to use sum"), knows)[0]
    assert after(files, first)["a.py"] == "def total(xs):\n    return sum(xs)\n"
    assert written(files, Wish("rewrite", "total", goal="to use max"), knows.replace("use sum", "use max")) == []


def test_the_same_body_is_no_other_one(project) -> None:
    knows = "# The same, rewritten to be simpler.\n" + TOTAL + "\n\n"
    found = written(project({"a.py": TOTAL}), Wish("rewrite", "total", goal="to be simpler"), knows)
    assert all(one.edits[0].replacement != TOTAL.partition("    ")[2].rstrip() for one in found)


def test_a_docstring_is_written_or_taken_as_it_is(project, after) -> None:
    files = project({"a.py": TOTAL})
    knows = '# The same, with a docstring.\ndef total(xs):\n    """The sum of all\n    '
    first = written(files, Wish("describe", "total"), knows)[0]
    assert after(files, first)["a.py"].startswith('def total(xs):\n    """The sum of all."""\n    result = 0\n')
    (given,) = written(files, Wish("describe", "total", goal="Adds up."), "")
    assert ast.get_docstring(ast.parse(after(files, given)["a.py"]).body[0]) == "Adds up."
    for goal in 'Says "hi"', r"Matches \d.", '"""', '"One" or more.':
        (given,) = written(files, Wish("describe", "total", goal=goal), "")
        assert ast.get_docstring(ast.parse(after(files, given)["a.py"]).body[0]) == goal
    says_nothing = written(files, Wish("describe", "total"), knows.replace("sum of all", "total function"))
    assert all("total function." not in one.edits[0].replacement for one in says_nothing)


@pytest.mark.parametrize(
    ("text", "wish", "message"),
    [
        (TOTAL, Wish("complete", "total"), "total (a.py:1) has a body already"),
        ("def f(): return 1\n", Wish("rewrite", "f"), "f (a.py:1) stands on one line"),
        ('def f():\n    """Doc."""\n', Wish("describe", "f"), "f (a.py:1) has a docstring already"),
        ('def f():\n    """Doc."""\n', Wish("rewrite", "f"), "f (a.py:1) has no body to rewrite"),
    ],
)
def test_a_function_that_is_not_such(project, text, wish, message) -> None:
    with pytest.raises(Failure) as failed:
        written(project({"a.py": text}), wish, "")
    assert failed.value.status is ExitStatus.USAGE and message in failed.value.message


def test_the_real_model_writes_what_a_small_one_can(project, after, trunk) -> None:
    head = 'def total(prices):\n    """The sum of all prices."""\n'
    loop = "    result = 0\n    for price in prices:\n        result += price\n    return result\n"
    files = project({"a.py": head + loop})
    proposals = write(files, Wish("rewrite", "total", goal="to use sum"), lambda: trunk, threading.Event())
    assert after(files, next(proposals))["a.py"] == head + "    return sum(prices)\n"
