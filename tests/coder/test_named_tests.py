"""What `--test` may name, and what is run for it."""

from __future__ import annotations

import pytest

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.named_tests import first_run, plain_names, selected, unknown
from sandbox.testing.report import Baseline, NoTests, Outcome, TestReport


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    for name in "tests/test_a.py", "checks.py", "notes.txt":
        (folder / name).write_text("")
    (tmp_path / "link").symlink_to(folder)
    return folder


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("tests/test_a.py", "tests/test_a.py"),
        ("./tests/test_a.py::test_x[a/../b::c]", "tests/test_a.py::test_x[a/../b::c]"),
        ("tests//sub/../test_a.py", "tests/test_a.py"),
        ("tests/", "tests"),
        ("{root}/tests/test_a.py::C::test_y", "tests/test_a.py::C::test_y"),
        ("{root}/../link/checks.py", "checks.py"),
    ],
)
def test_names_become_what_node_ids_begin_with(root, typed, plain):
    assert plain_names([typed.format(root=root)], root, "") == (plain,)


def test_naming_the_project_names_all(root):
    for typed in ".", "./", str(root):
        assert plain_names([typed, "checks.py"], root, "") == ()


@pytest.mark.parametrize("typed", ["../other/test_a.py", "/etc/passwd", "tests/../../x.py"])
def test_what_is_outside_of_the_project_is_wrong_usage(root, typed):
    with pytest.raises(Failure, match="is not in") as caught:
        plain_names([typed], root, "")
    assert caught.value.status is ExitStatus.USAGE


def test_a_command_has_no_tests_that_could_be_named(root):
    assert plain_names([], root, "make check") == ()
    with pytest.raises(Failure, match="`make check` decides") as caught:
        plain_names(["tests"], root, "make check")
    assert caught.value.status is ExitStatus.USAGE


@pytest.mark.parametrize(
    ("node", "collected", "name", "is_selected"),
    [
        ("t.py::C::test[1]", True, "t.py::C::test", True),
        ("t.py::C::test[1]", True, "t.py::C", True),
        ("sub/t.py::test", True, "sub", True),
        ("tt.py::test", True, "t.py", False),
        ("t.py::test_more", True, "t.py::test", False),
        ("t.py", False, "t.py::test", True),
        ("tt.py", False, "t.py::test", False),
    ],
)
def test_what_a_name_selects(node, collected, name, is_selected):
    assert selected(TestReport(node, Outcome.FAILED, collected=collected), ["other.py", name]) is is_selected


def baseline(*nodes):
    return Baseline({node: TestReport(node, Outcome.FAILED) for node in nodes}, 1.0)


class Runs:
    """Finds the tests `alone` by itself, and `told` where it is told what to collect. `asked`: what it was told."""

    def __init__(self, alone=(), told=()):
        self.alone, self.told = alone, told
        self.asked = []

    def __call__(self, given):
        self.asked.append(tuple(given))
        nodes = self.told if given else self.alone
        if not nodes:
            raise NoTests("none here")
        return baseline(*nodes)


def test_what_pytest_finds_by_itself_is_run_once(root):
    runs = Runs(["tests/test_a.py::a"])
    for names in [], ["tests"], ["tests/test_a.py::nothing"], ["nowhere.py"], ["notes.txt"]:
        runs.asked.clear()
        assert first_run(runs, root, names, pytest.fail).test_files == ()
        assert runs.asked == [()]


def test_a_file_that_it_does_not_find_is_run_beside_the_suite(root):
    told = []
    runs = Runs(["tests/test_a.py::a"], ["tests/test_a.py::a", "checks.py::b"])
    both = first_run(runs, root, ["checks.py::b"], told.append)
    assert runs.asked == [(), ("./tests/test_a.py", "./checks.py")]
    assert set(both.tests) == {"tests/test_a.py::a", "checks.py::b"}
    assert "checks.py" in told[0]


def test_where_it_finds_nothing_the_named_file_is_the_suite(root):
    runs = Runs([], ["checks.py::b"])
    assert set(first_run(runs, root, ["checks.py"], [].append).tests) == {"checks.py::b"}
    assert runs.asked == [(), ("./checks.py",)]


def test_a_named_file_without_tests_is_wrong_usage(root):
    empty = first_run(Runs(), root, ["checks.py"], [].append)
    failure = unknown(empty, ["checks.py"])
    assert failure is not None and failure.status is ExitStatus.USAGE and "no test is named checks.py" in str(failure)


def test_no_tests_and_none_named(root):
    with pytest.raises(Failure, match="none here") as caught:
        first_run(Runs(), root, [], [].append)
    assert caught.value.status is ExitStatus.TESTS_NOT_RUN
