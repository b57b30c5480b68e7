from __future__ import annotations

import ast

import pytest

from coder.repair.source import ATOM, Source, binding

TEXT = "def f(ä, b):\n    'ö'; x = (ä + b) * 2\n    if b: return x\n    return f((x), (b))  # ü\n"


def find(source: Source, kind: type, text: str = "") -> ast.AST:
    return next(n for n in ast.walk(source.tree) if isinstance(n, kind) and text in ast.unparse(n))


def test_spans_count_characters_not_bytes() -> None:
    source = Source("m.py", TEXT)
    assert source.segment(find(source, ast.BinOp, "ä + b")).startswith("(ä + b)")
    inner = next(n for n in ast.walk(source.tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add))
    assert source.segment(inner) == "ä + b"
    assert source.text[slice(*source.outer_span(inner))] == "(ä + b)"


def test_the_parentheses_of_a_call_do_not_belong_to_its_argument() -> None:
    source = Source("m.py", TEXT)
    call = find(source, ast.Call)
    assert isinstance(call, ast.Call)
    assert [source.text[slice(*source.outer_span(argument))] for argument in call.args] == ["(x)", "(b)"]
    single = Source("m.py", "f(x)\n")
    call = find(single, ast.Call)
    assert isinstance(call, ast.Call)
    assert single.text[slice(*single.outer_span(call.args[0]))] == "x"


def test_statements_that_share_a_line_have_no_lines_of_their_own() -> None:
    source = Source("m.py", TEXT)
    inline = find(source, ast.Return, "return x")
    assert isinstance(inline, ast.stmt)
    assert source.statement_lines(inline) is None
    last = source.tree.body[0].body[-1]  # type: ignore[attr-defined]
    start, end = source.statement_lines(last) or (0, 0)
    assert source.text[start:end] == "    return f((x), (b))  # ü\n"


@pytest.mark.parametrize("line", [1, 2, 4])
def test_lines_and_offsets_agree(line: int) -> None:
    source = Source("m.py", TEXT)
    assert source.line_of(source.line_start(line)) == line
    assert source.line_of(source.line_start(line) + 3) == line


@pytest.mark.parametrize(
    ("text", "tight"),
    [
        ("a", True),
        ("(a + b)", True),
        ("f(x)", True),
        ("(1, 2)", True),
        ("a + b", False),
        ("(a) + (b)", False),
        ("1, 2", False),
    ],
)
def test_what_keeps_together(text: str, tight: bool) -> None:
    assert (binding(text) == ATOM) is tight


@pytest.mark.parametrize(
    ("place", "text", "written"),
    [
        ("x * y", "a + b", "x * (a + b)"),
        ("x + y", "a * b", "x + a * b"),
        ("x - y", "a - b", "x - (a - b)"),
        ("x and y", "a or b", "x and (a or b)"),
        ("x or y", "a and b", "x or a and b"),
        ("not y", "a == b", "not a == b"),
        ("f(y)", "a + b", "f(a + b)"),
        ("x ** y", "-a", "x ** (-a)"),
    ],
)
def test_parentheses_where_they_are_needed(place: str, text: str, written: str) -> None:
    source = Source("m.py", f"{place}\n")
    node = find(source, ast.Name, "y")
    assert isinstance(node, ast.expr)
    start, end = source.span(node)
    assert source.text[:start] + source.fitted(node, text) + source.text[end:] == f"{written}\n"


def test_methods_are_functions_and_nested_functions_are_not() -> None:
    source = Source("m.py", "class A:\n    def m(self):\n        def inner(): pass\n\nif 1:\n    def g(): pass\n")
    assert [function.name for function in source.functions()] == ["m", "g"]


def test_bad_python_raises() -> None:
    with pytest.raises(SyntaxError):
        Source("m.py", "def (:\n")
