"""`coder do` without a server, for an edit of a function: tried with the tests, and applied when somebody says so."""

from __future__ import annotations

import pytest

from coder.patch import Edit, Proposal, Span, sha256
from sandbox.jail import Sandbox
from tests.coder.cli.harness import FakeTester, report
from tests.lsp.parrot import Parrot
from tests.model.toy import ByteTokenizer

STUB = "def twice(n):\n    pass\n"
WRITTEN = "def twice(n):\n    yield from (n, n)\n"
REQUEST = "complete the function twice in b.py"


@pytest.fixture
def stub(coder, project):
    """The project with a stub, a model that knows its body, and a test that runs it and passes."""
    (project / "b.py").write_text(STUB)
    coder.parts["load_model"] = lambda: (Parrot(WRITTEN + "\n\n"), ByteTokenizer())
    coder.parts["find_sandbox"] = lambda sandboxed: Sandbox.unsafe()
    passing = report("test_a.py::test_two", "passed", lines={"b.py": frozenset({2})})
    coder.tester = FakeTester([report("test_a.py::test_one"), passing])
    return project / "b.py"


@pytest.mark.parametrize(
    ("options", "answers", "status"),
    [
        (("--apply",), None, 0),
        ((), "a\n", 0),
        ((), "d\n", 5),
        ((), None, 5),
        (("--dry-run",), "a\n", 5),
        (("--read-only", "--apply"), None, 5),
    ],
)
def test_a_body_is_applied_when_somebody_says_so(coder, stub, options, answers, status) -> None:
    done = coder("do", REQUEST, *options, answers=answers)
    assert done.status == status, done.stderr
    assert "+    yield from (n, n)" in done.stdout and "only you can tell" in done.stderr
    assert "1 test runs twice" in done.stderr and ("not applied (" in done.stderr) is (status == 5)
    assert stub.read_text() == (WRITTEN if status == 0 else STUB)
    if status == 0:
        assert "do: write the body of twice" in coder("log").stdout
        assert coder("undo").status == 0 and stub.read_text() == STUB


def test_json_ends_with_a_result_and_nothing_is_asked(coder, stub) -> None:
    done = coder("do", REQUEST, "--json", answers="a\n")
    assert [event["type"] for event in done.events] == ["notice", "diff", "rejected", "result"]
    assert done.events[1]["paths"] == ["b.py"] and done.events[-1]["exit_code"] == 5
    done = coder("do", REQUEST, "--json", "--apply")
    assert [event["type"] for event in done.events] == ["notice", "diff", "applied", "result"]


def test_a_body_with_which_its_tests_fail_is_not_applied_unasked(coder, stub) -> None:
    coder.tester = FakeTester([report("test_a.py::test_one", lines={"b.py": frozenset({2})})])
    done = coder("do", REQUEST, "--apply")
    assert done.status == 5 and stub.read_text() == STUB
    assert "not applied (twice is run by tests that fail: test_a.py::test_one)" in done.stderr
    assert coder("do", REQUEST, answers="a\n").status == 0 and stub.read_text() == WRITTEN


def test_the_first_text_that_the_tests_do_not_speak_against_is_taken(coder, stub, monkeypatch) -> None:
    def bodies(*_):
        at = STUB.index("pass")
        for body in ("return 1", "return 2", "return 3"):
            yield Proposal((Edit(Span("b.py", at, at + 4), body),), {"b.py": sha256(STUB.encode())}, note=body)

    def tester(sandbox, tree, request):
        good = "return 2" in (tree.root / "b.py").read_text()
        return FakeTester([report("t", "passed" if good else "failed", lines={"b.py": frozenset({2})})])

    monkeypatch.setattr("coder.agent.verb.write", bodies)
    coder.parts["make_tester"] = tester
    assert coder("do", REQUEST, "--apply").status == 0
    assert stub.read_text() == STUB.replace("pass", "return 2")


def test_without_tests_it_is_said(coder, stub, project) -> None:
    (project / "test_a.py").unlink()
    done = coder("do", REQUEST, "--apply")
    assert done.status == 0 and "tests: there are no tests" in done.stderr


def test_a_model_that_writes_nothing_fit_says_so(coder, stub, project) -> None:
    (project / "a.py").unlink()  # its words would be lent
    coder.parts["load_model"] = lambda: (Parrot(""), ByteTokenizer())
    done = coder("do", REQUEST, "--apply")
    assert done.status == 11 and "found no body for twice" in done.stderr and "--endpoint" in done.stderr
    assert stub.read_text() == STUB


def test_names_that_are_not_there_are_told_with_those_that_are(coder, stub) -> None:
    done = coder("do", "complete twic", "--json")
    assert done.status == 2 and done.events[-1]["message"] == "no function is called twic"
    done = coder("do", "complete twic")
    assert 'Perhaps: coder do "complete the function twice in b.py"' in done.stderr


def test_a_renaming_needs_no_model_and_tells_what_stays(coder, stub, project) -> None:
    coder.parts["load_model"] = None
    (project / "b.py").write_text("# twice\n" + STUB)
    (project / "c.py").write_bytes(b"from b import twice\r\n\r\ntwice(n=1)\r\n")
    done = coder("do", "rename twice to double everywhere", "--apply")
    assert done.status == 0, done.stderr
    assert (project / "b.py").read_text() == "# twice\n" + STUB.replace("twice", "double")
    assert (project / "c.py").read_bytes() == b"from b import double\r\n\r\ndouble(n=1)\r\n"
    assert "twice stays" in done.stderr and "b.py:1" in done.stderr and "the embedded model wrote" not in done.stderr
    assert coder("do", "rename the parameter n to m in double", "--apply").status == 0
    assert (project / "c.py").read_bytes() == b"from b import double\r\n\r\ndouble(m=1)\r\n"


def test_a_name_that_the_file_cannot_hold_is_said(coder, stub) -> None:
    before = b"# -*- coding: latin-1 -*-\n" + STUB.encode()
    stub.write_bytes(before)
    done = coder("do", "rename the parameter n to λ in twice", "--apply")
    assert done.status == 11 and "b.py cannot hold λ" in done.stderr
    assert stub.read_bytes() == before


def test_the_model_writes_no_longer_than_it_may(coder, stub) -> None:
    coder.parts["load_model"] = lambda: (Parrot(WRITTEN + "\n\n", pause=0.2), ByteTokenizer())
    done = coder("do", REQUEST, "--apply", "--timeout", "0.1")
    assert done.status == 11 and "within 0.1 s" in done.stderr and "--timeout" in done.stderr
    assert stub.read_text() == STUB
