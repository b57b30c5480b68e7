from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from coder.completion.gates import judge
from coder.completion.names import unresolved
from coder.completion.situation import Lines, Situation, lines_wanted
from coder.completion.stopping import extent_of
from coder.completion.syntax import parses
from coder.completion.writer import Draft, Piece

CASES = tomllib.loads((Path(__file__).parent / "golden" / "filtering.toml").read_text())["case"]
CODE = """import os
from json import loads as parse

LIMIT = 3


def shout(text, *rest, sep=" ", **named):
    parts = [one.upper() for one in rest]
    {}


def other(hidden):
    return hidden
"""


def at(marked: str, language: str = "python") -> Situation:
    before, _, after = marked.partition("|")
    return Situation("file:///a.py", "a.py", language, before, after)


@pytest.mark.parametrize(
    "text",
    ["return text + sep.join(parts)", "return os.path.join(text, LIMIT)", "for x in rest: print(x)",
     "return shout(*rest)",
     "return [y for y in named]", "return parse(text, cls=None)", "with open(text) as file: file.read()",
     "return lambda z: z + 1", "total = len(rest)", "return other(hidden=text)"],
)  # fmt: skip
def test_names_that_resolve(text):
    assert unresolved(at(CODE.format("|")), text) == []


@pytest.mark.parametrize(("text", "names"), [("return hidden", ["hidden"]), ("return one", ["one"]),
                                             ("return json.loads(text)", ["json"])])  # fmt: skip
def test_names_that_do_not(text, names):
    assert unresolved(at(CODE.format("|")), text) == names


def test_modules_are_of_the_library_or_the_repository():
    assert unresolved(at("|\n"), "import re, ours.part", ["ours"]) == []
    assert unresolved(at("|\n"), "from theirs import thing", ["ours"]) == ["theirs"]
    assert unresolved(at("|\n"), "from theirs import thing") == []
    assert unresolved(at("from x import *\n|\n"), "anything") == []


def test_names_of_what_is_not_parsed_count_where_they_stand_there_at_all():
    far = replace(at("def f(x):\n    |\n"), elsewhere=["import numpy as np\n", "df = read()", "self.shape = 3\n"])
    assert unresolved(far, "return np.mean(df, x)") == []
    assert sorted(unresolved(far, "return shape + p + d")) == ["d", "p", "shape"]
    assert unresolved(replace(far, elsewhere=["from numpy import *\n"]), "return mean(x)") == []


@pytest.mark.parametrize(
    ("marked", "text"),
    [("x = f(|", "1, 2)"), ("if x|", " > 3:"), ("def f(|", "a, b):"), ("x = [\n    1,\n    |\n]", "2,"),
     ("def f(x):\n    |\n", "if x:\n        return 1"), ("x = foo(|)", "1, 2"), ("x = {|", '"a": 1,')],
)  # fmt: skip
def test_what_parses(marked, text):
    assert parses(at(marked), text)


@pytest.mark.parametrize(("marked", "text"), [("x = |", "1 +* 2"), ("return |\n", "foo)"), ("def |", "1f():"),
                                              ("x = foo(|)", "1, = 3")])  # fmt: skip
def test_what_does_not_parse(marked, text):
    assert not parses(at(marked), text)


def test_other_languages_parse_too_and_unknown_ones_are_let_through():
    assert parses(at("function f(a) {\n  return |\n}\n", "javascript"), "a + 1;")
    assert not parses(at("function f(a) {\n  return |\n}\n", "javascript"), "a + ;)")
    assert parses(at("|", "cobol"), "((((")


@pytest.mark.parametrize(
    ("language", "marked", "good", "bad"),
    [
        ("typescript", "const x: number = |\n", "a + 1;", "a + ;"),
        ("go", "package a\nfunc f() int {\n\treturn |\n}\n", "1 + 2", "1 +)"),
        ("rust", "fn f() -> i32 {\n    |\n}\n", "let x = 1;", "let = 1;;)"),
        ("java", "class A {\n  int f() {\n    |\n  }\n}\n", "return 1;", "return 1;)"),
        ("cpp", "int f() {\n  |\n}\n", "return 1;", "return 1);"),
        ("shellscript", "for x in *; do\n  |\ndone\n", "echo $x", "echo $(x)) ;;"),
        ("sh", "for x in *; do\n  |\ndone\n", "echo $x", "echo $(x)) ;;"),
        ("css", "p {\n  |\n}\n", "color: red;", "color red } }"),
        ("html", "<p>|</p>\n", "<b>x</b>", "<b>x</i></b"),
    ],
)
def test_languages_with_a_grammar_of_their_own(language, marked, good, bad):
    module = "tree_sitter_bash" if language in ("sh", "shellscript") else f"tree_sitter_{language}"
    pytest.importorskip(module)
    assert parses(at(marked, language), good)
    assert not parses(at(marked, language), bad)


def draft(text: str, *probabilities: float) -> Draft:
    size = -(-len(text) // len(probabilities))
    pieces = [Piece(n * size, (n + 1) * size, p) for n, p in enumerate(probabilities)]
    return Draft(text, tuple(pieces), True)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_golden(case):
    before, _, rest = case["text"].partition("├")
    text, _, after = rest.partition("┤")
    language, elsewhere = case.get("language", "python"), [case.get("elsewhere", "")]
    situation = Situation("u", "a.py", language, before, after, elsewhere=elsewhere)
    assert judge(draft(text, 1.0), situation, 0.5).text == case["shown"]


def test_unsure_lines_are_left_out():
    situation = at("def f(x):\n    |\n")
    text = "y = x + 1\n    z = y + 2"
    assert judge(draft(text, 0.9, 0.9), situation, 0.5).text == text
    assert judge(draft(text, 0.9, 0.01), situation, 0.5).text == "y = x + 1"
    assert judge(draft(text, 0.1, 0.9), situation, 0.5).reason == "not sure enough"


def test_the_sure_beginning_of_a_line_is_shown_up_to_a_words_end():
    situation = at("def f(x):\n    |\n")
    pieces = (Piece(0, 6, 0.9), Piece(6, 9, 0.9), Piece(9, 12, 0.9), Piece(12, 13, 0.01))
    assert judge(Draft("return x.forma(", pieces, False), situation, 0.5).text == "return x."
    sure = (Piece(0, 6, 0.9), Piece(6, 8, 0.9), Piece(8, 9, 0.9), Piece(9, 15, 0.9), Piece(15, 16, 0.01))
    assert judge(Draft("return x.format(1", sure, False), situation, 0.5).text == "return x.format"


def test_a_line_with_an_unknown_name_is_left_out():
    situation = at("def f(x):\n    |\n")
    assert judge(draft("y = x + 1\n    z = w", 1.0), situation, 0.5).text == "y = x + 1"
    assert judge(draft("return w", 1.0), situation, 0.5).reason == "unknown names"


def test_where_lines_are_wanted():
    assert lines_wanted(at("def f():\n    |\n"), "auto") is Lines.BLOCK
    assert lines_wanted(at("def f():\n    x = |\n"), "auto") is Lines.SURE
    assert lines_wanted(at("def f():\n    |\n"), "never") is Lines.ONE
    assert lines_wanted(at("x = |\n"), "always") is Lines.BLOCK
    assert lines_wanted(at("x = | + 1\n"), "always") is Lines.ONE
    assert lines_wanted(at("# a comment|\n"), "always") is Lines.ONE


@pytest.mark.parametrize(
    ("marked", "language", "unit"),
    [("def f():\n  if x:\n    y\n|", "python", "  "), ("func f() {\n\tif x {\n\t\ty()\n|", "go", "\t"),
     ("if x:\n    y\nif z:|\n  w\n", "python", "    "), ("if z:|\nif x:\n  y\n", "python", "  "),
     ("f(a,\n  b)\n|", "python", "    "), ("package a|", "go", "\t")],
)  # fmt: skip
def test_the_text_says_what_it_is_indented_by(marked, language, unit):
    assert at(marked, language).indent_unit == unit


@pytest.mark.parametrize(
    ("text", "sureness", "kept"),
    [("a = 1\nb = 2\nc", (0.9, 0.9), "a = 1\nb = 2\nc"), ("a = 1\nb = 2\nc", (0.9, 0.5), "a = 1"),
     ("a = 1\nb = 2\nc", (0.5, 0.9), "a = 1"), ("a = 1\nb", (0.9, 0.9), "a = 1\nb")],
)  # fmt: skip
def test_further_lines_only_while_the_model_is_sure(text, sureness, kept):
    assert replace(draft(text, *sureness, 0.9), whole=False).sure_lines().text == kept


def test_an_open_line_behind_others_is_not_shown():
    assert Draft("a = 1\nb =", (), False).whole_lines() == Draft("a = 1", (), True)
    assert Draft("a =", (), False).whole_lines().text == "a ="
    assert Draft("a = 1\nb = 2", (), True).whole_lines().text == "a = 1\nb = 2"


def test_sure_lines_are_no_deeper_block_and_three_at_most():
    extent = extent_of(at("if a:\n    x = |"), Lines.SURE)
    assert extent.cut("1\n    y = 2\nz") == ("1\n    y = 2", True)
    assert extent.cut("1\n    y = 2\n    z = 3\n    w") == ("1\n    y = 2\n    z = 3", True)
    assert extent.cut("1\n\n    y") == ("1", True)


@pytest.mark.parametrize(
    ("marked", "written", "kept"),
    [("def f():\n    |", "a = 1\n    b = 2\ndef g(", "a = 1\n    b = 2"),
     ("def f():\n    |", "a = 1\n\n    b", "a = 1"),
     ("def f():\n    |", "for x in y:\n        z()\n    w()\n\n", "for x in y:\n        z()\n    w()"),
     ("call(\n    |", "a,\n    b,\n)\nnext", "a,\n    b,\n)"), ("def f():\n|", "    return 1\nx = 2", "    return 1")],
)  # fmt: skip
def test_a_block_ends_where_it_is_indented_less(marked, written, kept):
    assert extent_of(at(marked), Lines.BLOCK).cut(written) == (kept, True)


def test_a_line_ends_with_it():
    assert extent_of(at("x = |"), Lines.ONE).cut("1\ny") == ("1", True)
    assert extent_of(at("x = |"), Lines.ONE).cut("12") == ("12", False)
    assert extent_of(at("def f():\n    |"), Lines.BLOCK).cut("a\n  ") == ("a\n  ", False)
