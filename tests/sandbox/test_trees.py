"""Trees built in several threads at once, with finalizers that let them take turns in the midst of it."""

from __future__ import annotations

import ast
import sys
import threading
import time

import pytest

from sandbox.trees import expression, parse

TEXT = "\n".join(f"def f{number}(a):\n    return [a + b for b in a if b > {number}]" for number in range(40))


class Slow:
    """Garbage in a circle that takes its time to go."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        for _ in range(300):
            pass


@pytest.fixture
def quick_turns():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_threads_that_build_trees_do_not_disturb_each_other(quick_turns) -> None:
    failures: list[BaseException] = []
    end = time.monotonic() + 1.5

    def build() -> None:
        while time.monotonic() < end and not failures:
            garbage = [Slow() for _ in range(20)]
            del garbage
            try:
                parse(TEXT)
                expression("[a + b for b in a if b > 1]")
            except SystemError as error:
                failures.append(error)

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_what_is_no_python_is_refused() -> None:
    assert ast.dump(parse("a = 1")) == ast.dump(ast.parse("a = 1"))
    assert ast.unparse(expression("(a + b)")) == "a + b"
    for build in (parse, expression):
        with pytest.raises(SyntaxError):
            build("a = = 1")
