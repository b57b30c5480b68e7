from __future__ import annotations

import pytest

from sandbox.testing.report import Frame
from sandbox.testing.traces import MOST, frames

FILES = {
    "test.js",
    "src/a.js",
    "shop.go",
    "shop_test.go",
    "src/lib.rs",
    "Shop.java",
    "ShopTest.java",
    "main.py",
    "lib.c",
}


def known(name: str) -> str:
    return next((path for path in FILES if name == path or name.endswith("/" + path)), "")


NODE = """/jail/tree/src/a.js:3
TypeError: x is not a function
    at inner (/jail/tree/src/a.js:3:5)
    at new Thing (/jail/tree/src/a.js:9:5)
    at async Object.run (file:///jail/tree/test.js:12:1)
    at Module._compile (node:internal/modules/cjs/loader:1521:14)
"""
GO = """--- FAIL: TestCheapest (0.00s)
panic: runtime error: index out of range
goroutine 1 [running]:
shop.Cheapest(...)
\t/jail/tree/shop.go:7
shop.TestCheapest(0xc0000)
\t/jail/tree/shop_test.go:11 +0x2b
"""
JAVA = """Exception in thread "main" java.lang.AssertionError
\tat shop.Shop.cheapest(Shop.java:5)
\tat shop.ShopTest.main(ShopTest.java:9)
\tat java.base/java.lang.Thread.run(Thread.java:833)
"""
RUST = "thread 'main' panicked at src/lib.rs:4:9:\nassertion failed\n"
PYTHON = '  File "/jail/tree/main.py", line 9, in <module>\n  File "main.py", line 3, in f\n'
C = "t: lib.c:12: main: Assertion `x' failed.\n"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (NODE, [("src/a.js", 3, ""), ("test.js", 12, "run"), ("src/a.js", 9, "Thing"), ("src/a.js", 3, "inner")]),
        (GO, [("shop_test.go", 11, "TestCheapest"), ("shop.go", 7, "Cheapest")]),
        (JAVA, [("ShopTest.java", 9, "main"), ("Shop.java", 5, "cheapest")]),
        (RUST, [("src/lib.rs", 4, "")]),
        (PYTHON, [("main.py", 9, "<module>"), ("main.py", 3, "f")]),
        (C, [("lib.c", 12, "")]),
        ("nothing.js:3\nall is well\n", []),
    ],
)
def test_frames_go_from_the_outermost_to_the_innermost(output: str, expected: list[tuple[str, int, str]]) -> None:
    assert frames(output, known) == [Frame(*frame) for frame in expected]


def test_a_deep_recursion_is_bounded() -> None:
    assert len(frames("    at f (/jail/tree/src/a.js:3:5)\n" * 2000, known)) == MOST
