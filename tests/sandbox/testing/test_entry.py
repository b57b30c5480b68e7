from __future__ import annotations

import pytest

from sandbox.testing.entry import judges

FILES = ("test.js", "check.js", "src/a.js", "src/a_test.go", "lib.c", "main.c", "test_lib.c", "run.sh", "sub/check.js",
         "spec/b.spec.ts")  # fmt: skip


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("node check.js src/a.js", ("check.js",)),
        ("node --enable-source-maps ./check.js", ("check.js",)),
        ("NODE_ENV=test node check.js && node test.js", ("check.js", "test.js")),
        ("cd sub && node check.js", ("sub/check.js",)),
        ("cc lib.c test_lib.c -o t && ./t", ("test_lib.c",)),
        ("cc lib.c main.c -o t && ./t", ()),
        ("./run.sh", ("run.sh",)),
        ("sh run.sh", ("run.sh",)),
        ("go test ./...", ()),
        ("npx mocha spec/b.spec.ts", ("spec/b.spec.ts",)),
        ("node missing.js", ()),
        ("node 'unclosed", ()),
        ('test "$(sh run.sh 1)" = 3', ()),
        ("node src/a.js < in | diff - out", ()),
        ("node check.js | tee log", ("check.js",)),
        ("node check.js || exit 1", ("check.js",)),
    ],
)
def test_what_a_command_runs_as_tests(command: str, expected: tuple[str, ...]) -> None:
    assert judges(command, FILES) == expected


def test_a_program_that_asserts_is_a_test_and_one_that_does_not_is_none() -> None:
    texts = {"main.c": "int main(void) { assert(f() == 1); }", "lib.c": "int f(void) { assert(1); return 1; }"}
    assert judges("cc main.c lib.c -o t && ./t", texts, texts.__getitem__) == ("main.c",)
    assert judges("cc main.c lib.c", {"main.c": "", "lib.c": ""}, lambda path: "int main() { puts(f()); }") == ()


@pytest.mark.parametrize("command", ["npm test", "npm run check", "yarn check", "make", "sh run.sh", "cd . && npm t"])
def test_what_a_command_stands_for(command: str) -> None:
    texts = {
        "package.json": '{"scripts": {"test": "npm run check", "check": "node check.js"}}',
        "Makefile": "all: lib.js\n\t@node check.js\n",
        "run.sh": "set -e\nnode check.js\n",
        "check.js": "",
        "lib.js": "",
    }
    found = judges(command, texts, lambda path: texts.get(path, ""))
    assert "check.js" in found
    assert "lib.js" not in found


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scripts": 3}', '{"scripts": {"test": "npm test"}}'])
def test_a_package_that_says_nothing(text: str) -> None:
    assert judges("npm test", ["package.json"], lambda path: text) == ()


@pytest.mark.parametrize(
    "command", ["pytest -q checks.py::test_a", "python -m pytest checks.py", "python3 -m unittest checks.py"]
)
def test_runners_of_tests_run_whatever_they_are_given(command: str) -> None:
    assert judges(command, ["cart.py", "checks.py"]) == ("checks.py",)


def test_cases_of_unittest_are_found_whatever_the_command() -> None:
    texts = {
        "cart.py": "class Cart(Base):\n    cases = TestCase\n",
        "checks/check_cart.py": "class CheckCart(Mixin,\n                unittest.TestCase):\n    pass\n",
        "tests/test_cart.py": "class TestCart(TestCase):\n    pass\n",
        "later.js": "class A(TestCase)",
    }
    assert judges("tox", texts, texts.__getitem__) == ("checks/check_cart.py",)
