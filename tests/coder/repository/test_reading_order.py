from __future__ import annotations

from coder.repository.reading_order import imported, modules_of, reading_order
from coder.repository.symbols import outline

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "from .price import total\nfrom shop import tax\n\n\n"
    "def checkout(cart):\n    return total(cart) + tax.rate\n",
    "src/shop/price.py": "def total(cart):\n    return sum(cart)\n",
    "src/shop/tax.py": "rate = 2\n",
    "src/shop/mail.py": "def send(text):\n    pass\n",
    "tests/test_cart.py": "from shop.cart import checkout\n\n\ndef test_checkout():\n    assert checkout([1]) == 3\n",
    "web/main.js": "import { draw } from './draw.js'\nfunction main() { draw() }\n",
    "web/draw.js": "export function draw() {}\nclass Pen { lift() {} }\n",
}
OUTLINES = {path: outline(path, text) for path, text in FILES.items()}


def test_outline_of_python():
    text = "import os.path as p, sys\nfrom a import b as c\n\n\n"
    text += "@d\nclass É:\n    async def f(self):\n        return os\n\n\ndef g(: pass\n"
    found = outline("x.py", text)
    assert [(s.qualified, s.kind) for s in found.symbols][:2] == [("É", "class"), ("É.f", "function")]
    assert found.imports == ("os.path", "sys", "a", "a.b")
    first = found.symbols[0]
    assert (first.first_line, first.last_line) == (5, 8)
    assert found.mentions["os"] >= 1


def test_outline_of_javascript():
    found = OUTLINES["web/draw.js"]
    assert [symbol.qualified for symbol in found.symbols] == ["draw", "Pen", "Pen.lift"]
    assert OUTLINES["web/main.js"].imports == ("./draw.js",)


def test_unknown_languages_have_an_empty_outline():
    assert outline("a.txt", "def f(): pass").symbols == ()


def test_what_the_task_needs_is_read_last():
    order = reading_order(OUTLINES, {"tests/test_cart.py": 1.0}, near=4)
    assert sorted(order) == sorted(FILES)
    assert order[-1] == "tests/test_cart.py"
    assert set(order[-4:]) >= {"src/shop/cart.py", "src/shop/price.py"}
    assert order.index("src/shop/price.py") < order.index("src/shop/cart.py")


def test_the_base_does_not_depend_on_the_task():
    one = reading_order(OUTLINES, {"tests/test_cart.py": 1.0}, near=2)
    other = reading_order(OUTLINES, {"web/main.js": 1.0}, near=2)
    assert [path for path in one if path not in other[-2:]][:4] == [path for path in other if path not in one[-2:]][:4]
    assert reading_order(OUTLINES, {}) == reading_order(OUTLINES, {"gone.py": 1.0})


def test_relative_javascript_imports_count():
    assert set(reading_order(OUTLINES, {"web/main.js": 1.0}, near=2)[-2:]) == {"web/main.js", "web/draw.js"}


def test_which_files_a_file_imports():
    modules = modules_of(FILES)

    def of(path):
        return set(imported(path, OUTLINES[path].imports, modules))

    assert of("src/shop/cart.py") == {"src/shop/price.py", "src/shop/__init__.py", "src/shop/tax.py"}
    assert of("tests/test_cart.py") == {"src/shop/cart.py"}
    assert of("web/main.js") == {"web/draw.js"}
    assert of("src/shop/tax.py") == set()
