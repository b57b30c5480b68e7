from __future__ import annotations

from coder.completion import functions


def test_the_test_around_a_line():
    text = "class TestA:\n    def test_b(self):\n        pass\n\n\ndef helper():\n    pass\n"
    assert functions.test_at("tests/test_x.py", text, 2) == "tests/test_x.py::TestA::test_b"
    assert functions.test_at("tests/test_x.py", text, 6) is None
    assert functions.test_at("x.py", text, 2) is None
    decorated = "@mark\ndef test_a():\n    def helper():\n        pass\n\n    return helper\n"
    for line in range(6):
        assert functions.test_at("test_x.py", decorated, line) == "test_x.py::test_a", line
    assert functions.test_at("test_x.py", decorated, 99) is None


def test_stubs():
    text = 'def f():\n    """Doc."""\n    ...\n\ndef g():\n    return 1\n'
    stub = functions.stub_at(text, 4)
    assert stub is not None and text[stub.start : stub.end] == "..." and stub.indentation == "    "
    assert functions.stub_at(text, text.index("g()")) is None
    assert functions.stub_at("x = 1\n", 0) is None


def test_a_docstring_alone_is_a_stub_whose_body_begins_on_a_new_line():
    text = 'class A:\n    def f(self):\n        """Doc."""\n\nx = 1\n'
    stub = functions.stub_at(text, text.index("def f"))
    assert stub is not None and (stub.start, stub.end) == (text.index('"""\n') + 3,) * 2
    assert (stub.indentation, stub.opening) == (" " * 8, "\n" + " " * 8)
    assert functions.stub_at('def f(): "Doc."\n', 4) is None
