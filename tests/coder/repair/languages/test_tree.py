"""What functions a file has, what is in scope, and how tightly code binds."""

from __future__ import annotations

import pytest

from coder.repair.files import parse
from coder.repair.languages.binding import binding, fitted
from coder.repair.languages.localise import hints
from coder.repair.languages.normalise import fingerprint
from coder.repair.languages.scope import Scope
from coder.repair.languages.tree import TreeSource


def source(path: str, text: str) -> TreeSource:
    found = parse(path, text)
    assert isinstance(found, TreeSource)
    return found


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        (
            "a.js",
            "const f = (x) => x;\nfunction g() {\n  function inner() {}\n}\nclass A { m() {} }\n",
            ["f", "g", "m"],
        ),
        ("a.js", "(function () {\n  function f() {}\n  const g = function () {};\n})();\n", ["f", "g"]),
        ("a.js", "module.exports = { f: (x) => x, g() { return 1; } };\nexports.h = () => 1;\n", ["f", "g", "h"]),
        ("a.ts", "export class A { private m(x: number): number { return x; } }\n", ["m"]),
        ("a.go", "package p\nfunc f() {}\nfunc (t T) g() {}\n", ["f", "g"]),
        ("a.rs", "fn f() {}\nimpl T { fn g(&self) {} }\n#[cfg(test)]\nmod tests { fn t() {} }\n", ["f", "g"]),
        ("A.java", "class A { A() {} int f() { return 1; } }\n", ["A", "f"]),
        ("a.c", "static int *f(int x) { return 0; }\nint main(void) { return 0; }\n", ["f", "main"]),
    ],
)
def test_functions(path: str, text: str, names: list[str]) -> None:
    assert [function.name for function in source(path, text).functions()] == names


def test_lines_and_offsets_count_characters() -> None:
    file = source("a.js", "// ä😀\nconst f = (x) => {\n  return 'é' + x;\n};\n")
    (function,) = file.functions()
    assert (function.lineno, function.end_lineno, function.body_line) == (2, 4, 3)
    (string,) = [node for node in file.root.walk() if node.kind == "string"]
    assert string.text == "'é'"


def test_what_does_not_parse_is_no_source() -> None:
    with pytest.raises(SyntaxError):
        parse("a.js", "function (")
    with pytest.raises(ValueError, match="grammar"):
        parse("a.txt", "x")


def test_names_in_scope() -> None:
    text = (
        "const LIMIT = 3;\nfunction other(far) {}\nfunction f(list, { key }) {\n  for (const item of list) {\n"
        "    const inner = item;\n    use(inner);\n  }\n  let later = 1;\n  return key;\n}\n"
    )
    file = source("a.js", text)
    scope = Scope(file, file.functions()[1].node)
    call = next(node for node in file.root.walk() if node.text == "use(inner)")
    end = next(node for node in file.root.walk() if node.text == "return key;")
    assert set(scope.variables(call)) == {"LIMIT", "list", "key", "item", "inner"}
    assert set(scope.variables(end)) == {"LIMIT", "list", "key", "later"}
    assert scope.parameters == {"list", "key"}
    assert set(scope.functions) == {"other", "f", "use"}


@pytest.mark.parametrize(
    ("loose", "tight"),
    [("a || b", "a && b"), ("a + b", "a * b"), ("x => x + 1", "a ? b : c"), ("a ? b : c", "a || b"), ("-a", "f(a + b)"),
     ("a == b", "a + b"), ("!a", "a.b[c]"), ("a - 1", "'a - 1'")],
)  # fmt: skip
def test_how_tightly_code_binds(loose: str, tight: str) -> None:
    assert binding(loose) < binding(tight)


@pytest.mark.parametrize(
    ("code", "at", "text", "expected"),
    [("f(a * b);", "a", "x + 1", "(x + 1)"), ("f(a + b);", "a", "x * 2", "x * 2"), ("f(a);", "a", "x + 1", "x + 1"),
     ("g(a.b);", "a", "x + 1", "(x + 1)"), ("h(c - a);", "a", "x - 1", "(x - 1)"), ("y[a];", "a", "x || z", "x || z")],
)  # fmt: skip
def test_parentheses_only_where_they_are_needed(code: str, at: str, text: str, expected: str) -> None:
    node = next(node for node in source("a.js", code).root.walk() if node.kind == "name" and node.text == at)
    assert fitted(node, text) == expected


def test_layout_and_comments_make_no_new_program() -> None:
    one = fingerprint("a.js", "f( a,b ) // x\n")
    assert one == fingerprint("a.js", "f(a, b)\n") != fingerprint("a.js", "f(a, c)\n")
    assert fingerprint("a.js", "f('a  b')") != fingerprint("a.js", "f('a b')")
    assert fingerprint("a.js", "f(") is None


def test_constants_of_a_test_file_nearest_first() -> None:
    found = hints("t.js", "eq(f(1), 'one');\n\n\neq(f(22), 'two');\neq(f(3.5), '');\n", near=4)
    assert found.numbers == (22, 3.5, 1)
    assert found.strings == ("two", "one")
