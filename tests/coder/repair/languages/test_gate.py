from __future__ import annotations

import pytest

from coder.repair.languages.gate import viable
from coder.repair.languages.grammar import grammar_of

JS, GO = grammar_of("a.js"), grammar_of("a.go")
HEAD = "const f = (list) => {\n"


@pytest.mark.parametrize(
    "text",
    [
        "  let sum = 0;\n",
        "  for (const x of list) {\n    sum += x;\n",
        "  if (list.length) {\n",
        "  return list.map((x) => {\n",
        "  const a =\n",
        "  g(1,\n",
        "  const s = '(';\n",
        "  // } not code\n",
        "  return list;\n};\n",
        "  const t = `a (\n",
    ],
)
def test_what_may_still_come_right(text: str) -> None:
    assert JS
    assert viable(JS, HEAD + text)


@pytest.mark.parametrize(
    "text",
    [
        "  let sum 0;\n",
        "  return list);\n",
        "  if list.length {\n",
        "  }\n}\n}\n",
        "  const const = 1;\n",
        "  x ++ y;\n",
    ],
)
def test_what_cannot(text: str) -> None:
    assert JS
    assert not viable(JS, HEAD + text)


def test_lifetimes_are_no_strings() -> None:
    rust = grammar_of("a.rs")
    assert rust
    assert viable(rust, "fn f<'a>(x: &'a [i64]) -> &'a i64 {\n    let c = '(';\n")


def test_go() -> None:
    assert GO
    assert viable(GO, "package p\nfunc f(a int) int {\n\tif a > 0 {\n")
    assert not viable(GO, "package p\nfunc f(a int) int {\n\tif (a > 0 {\n")
