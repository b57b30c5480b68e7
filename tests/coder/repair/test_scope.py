from __future__ import annotations

import ast

from coder.repair.library import Library
from coder.repair.module import read_module
from coder.repair.scope import Scope
from coder.repair.source import Source

TEXT = """\
import json
from pack.util import helper as assist, load

LIMIT = 3


class Box:
    size: int = 0

    def __init__(self, width, *, depth=1):
        self.width = width

    def area(self):
        return self.width * self.size


def use(box, rows):
    total = 0
    squares = [row * row for row in rows]
    for index, row in enumerate(rows):
        total += box.area() + row
    return json.dumps(total)
"""


def scope(name: str, text: str = TEXT, library: Library | None = None) -> Scope:
    source = Source("app.py", text)
    return Scope(source, next(f for f in source.functions() if f.name == name), library)


def test_variables_are_parameters_and_what_is_bound() -> None:
    found = scope("use")
    last = found.function.body[-1]  # type: ignore[union-attr]
    assert found.variables(last) == ["box", "rows", "total", "squares", "index", "row"]
    assert found.names(last)[-1] == "LIMIT"


def test_names_of_a_comprehension_live_only_there() -> None:
    text = "def f(rows):\n    out = [cell for cell in rows]\n    return out\n"
    found = scope("f", text)
    comprehension, result = found.function.body[0].value, found.function.body[1]  # type: ignore[union-attr,attr-defined]
    assert "cell" in found.variables(comprehension.elt)
    assert "cell" not in found.variables(result)


def test_functions_are_those_of_the_file_then_imported_ones_then_builtins() -> None:
    functions = scope("use").functions
    assert functions[:4] == ["Box", "use", "assist", "load"]
    assert "len" in functions


def test_attributes_of_a_receiver_come_from_its_uses_and_of_self_from_its_class() -> None:
    found = scope("use")
    assert found.attributes(ast.parse("box", mode="eval").body, called=True)[0] == "area"
    inside = scope("area")
    assert set(inside.attributes(ast.parse("self", mode="eval").body, called=False)) >= {"width", "size", "area"}


def test_signatures_of_functions_classes_and_methods() -> None:
    found = scope("use")
    call = ast.parse("Box(1)", mode="eval").body
    assert isinstance(call, ast.Call)
    known = found.signature(call)
    assert known is not None and (known.positional, known.keywords, known.required) == (("width",), ("depth",), 1)
    method = ast.parse("box.area()", mode="eval").body
    assert isinstance(method, ast.Call)
    assert (known := found.signature(method)) is not None and known.positional == ()


def test_the_library_finds_modules_and_follows_reexports() -> None:
    files = {
        "src/pack/__init__.py": "from pack.util import load\n",
        "src/pack/util.py": "def load(path, mode='r'):\n    return path\n\n\ndef helper(x):\n    return x\n",
        "src/pack/deep/part.py": "from ..util import load\n",
    }
    library = Library(files)
    package = library.module("app.py", "pack:util")
    assert package is not None and package.names == ["load", "helper"]
    owner = library.owner("app.py", "pack:load")
    assert owner is not None and owner.path == "src/pack/util.py"
    relative = library.owner("src/pack/deep/part.py", "..util:load")
    assert relative is not None and relative.callables["load"].positional == ("path", "mode")
    assert library.module("app.py", "numpy") is None
    call = ast.parse("assist(1)", mode="eval").body
    assert isinstance(call, ast.Call)
    assert (known := scope("use", library=library).signature(call)) is not None and known.positional == ("x",)


def test_conditional_and_guarded_bindings_of_a_module_count() -> None:
    module = read_module(ast.parse("try:\n    import a\nexcept ImportError:\n    a = None\nif a:\n    def f(): pass\n"))
    assert module.names == ["a", "a", "f"]
