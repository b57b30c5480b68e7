"""The baseline of one project that holds every kind of test there is, and of projects that cannot be tested."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox.contract import MIB, Limits
from sandbox.testing import baseline as baseline_module
from sandbox.testing.report import Baseline, Outcome, TestsNotRun, Way
from sandbox.testing.session import TestSession

LIB = """
def divide(a, b):
    if b == 1:
        return a
    return a / b


def spin(n):
    while n:
        n += 1


def average(values):
    return divide(sum(values), len(values))
"""
ZOO = r"""
import os, signal, socket, sys
from pathlib import Path

import pytest
from pkg import lib

collected = "_coder_inside.collected" in sys.modules


def test_passes(): assert lib.divide(4, 2) == 2
def test_one(): assert lib.divide(4, 1) == 4
def test_deep():
    print("before\x1b[31mred")
    lib.average([])
def test_chained():
    try:
        lib.divide(1, 0)
    except ZeroDivisionError as error:
        raise ValueError("chained") from error
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_xfails(): assert False
@pytest.mark.xfail
def test_xpasses(): pass
@pytest.mark.xfail(strict=True)
def test_xpasses_strictly(): pass
@pytest.fixture
def broken(): raise OSError("no fixture")
def test_error(broken): pass
@pytest.fixture
def leaves(): yield; raise OSError("no end")
def test_teardown(leaves): pass
def test_shared(shared): assert shared == 1
def test_shared_again(shared): assert shared == 1
@pytest.mark.parametrize("text", ["a::b[c]", "x/y z", "ü\n\x00", "[]", ""])
def test_odd(text): assert "q" not in text
def test_network(): socket.create_connection(("192.0.2.1", 80), timeout=2)
def test_name(): socket.getaddrinfo("no-such-host.example", 80)
def test_lacks(): import surely_not_installed.part
def test_mistaken(): __import__("__name__")
def test_spins(): lib.spin(1)
def test_dies(): os.kill(os.getpid(), signal.SIGSEGV)
def test_after(): pass
def test_writes():
    Path("written.txt").write_text("here")
    assert Path("written.txt").read_text() == "here"
def test_shy(): assert not collected
def test_flaky():
    place = Path(os.environ["TMPDIR"]).parent / "seen"
    seen = place.exists()
    place.write_text("")
    assert seen or collected
"""
CONFTEST = """
import pytest
made = []

@pytest.fixture(scope="session")
def shared():
    made.append(1)
    return len(made)
"""
FILES = {
    "pkg/__init__.py": "",
    "pkg/lib.py": LIB,
    "conftest.py": CONFTEST,
    "tests/test_zoo.py": ZOO,
    "tests/test_import.py": "from pkg.lib import absent\n\ndef test_absent():\n    assert absent() == 1\n",
    "tests/test_missing.py": "import surely_not_installed\n\ndef test_it():\n    pass\n",
    "tests/test_syntax.py": "def test_it(:\n    pass\n",
}


@pytest.fixture(scope="module")
def session(open_session: Callable[..., TestSession]) -> TestSession:
    return open_session(FILES, test_limit_s=1.5)


@pytest.fixture(scope="module")
def seen() -> list[tuple[int, int, str, Outcome]]:
    return []


@pytest.fixture(scope="module")
def baseline(session: TestSession, seen: list[tuple[int, int, str, Outcome]]) -> Iterator[Baseline]:
    yield session.baseline(progress=lambda *told: seen.append(told))


def zoo(name: str) -> str:
    return f"tests/test_zoo.py::test_{name}"


def test_outcomes(baseline: Baseline) -> None:
    outcomes = {test.node.partition("::test_")[2]: test.outcome.value for test in baseline.tests.values()}
    odd = {name: outcomes.pop(name) for name in list(outcomes) if name.startswith("odd")}
    outcomes.pop("")
    assert outcomes == {
        "passes": "passed", "one": "passed", "deep": "failed", "chained": "failed", "skipped": "skipped",
        "xfails": "xfailed", "xpasses": "xpassed", "xpasses_strictly": "failed", "error": "error",
        "teardown": "error", "shared": "passed", "shared_again": "passed", "network": "failed", "name": "failed",
        "lacks": "failed", "mistaken": "failed", "spins": "failed", "dies": "failed", "after": "passed",
        "writes": "passed", "shy": "passed", "flaky": "failed",
    }  # fmt: skip
    assert len(odd) == 5
    assert set(odd.values()) == {"passed"}


def test_progress_counts_each_test(baseline: Baseline, seen: list[tuple[int, int, str, Outcome]]) -> None:
    told = [node for _, _, node, _ in seen]
    assert len(told) == len(set(told))
    assert [done for done, *_ in seen] == sorted({done for done, *_ in seen})
    assert max(done for done, *_ in seen) <= {total for _, total, *_ in seen}.pop()


def test_failure_tells_where(baseline: Baseline) -> None:
    deep = baseline.tests[zoo("deep")]
    assert (deep.error, deep.message) == ("ZeroDivisionError", "division by zero")
    assert [(frame.path, frame.function) for frame in deep.frames] == [
        ("tests/test_zoo.py", "test_deep"),
        ("pkg/lib.py", "average"),
        ("pkg/lib.py", "divide"),
    ]
    assert deep.frames[-1].line == 4
    assert deep.output == "beforered\n"
    chained = baseline.tests[zoo("chained")]
    assert chained.error == "ValueError"
    assert chained.frames[-1].function == "divide"


def test_lines_of_each_test(baseline: Baseline) -> None:
    assert baseline.tests[zoo("passes")].lines["pkg/lib.py"] == {2, 4}
    assert baseline.tests[zoo("one")].lines["pkg/lib.py"] == {2, 3}
    assert baseline.tests[zoo("spins")].lines["pkg/lib.py"] >= {8, 9}
    assert zoo("one") in baseline.covering("pkg/lib.py", [3])
    assert zoo("passes") not in baseline.covering("pkg/lib.py", [3])


def test_loops_and_deaths_do_not_end_the_run(baseline: Baseline) -> None:
    spins = baseline.tests[zoo("spins")]
    assert spins.timed_out
    assert spins.frames[-1].function == "spin"
    assert baseline.tests[zoo("dies")].error == "ProcessDied"
    assert "signal 11" in baseline.tests[zoo("dies")].message


def test_uncollected_files(baseline: Baseline) -> None:
    errors = {test.node: test for test in baseline.collection_errors}
    assert set(errors) == {"tests/test_import.py", "tests/test_missing.py", "tests/test_syntax.py"}
    assert errors["tests/test_import.py"].error == "ImportError"
    assert errors["tests/test_syntax.py"].error == "SyntaxError"
    assert errors["tests/test_syntax.py"].frames[-1].line == 1
    assert set(baseline.missing_modules) == {"surely_not_installed", "surely_not_installed.part"} or (
        baseline.missing_modules == ("surely_not_installed",)
    )
    assert set(errors) <= set(baseline.failing)


def test_what_no_module_is_named_is_not_missing(baseline: Baseline) -> None:
    mistaken = baseline.tests[zoo("mistaken")]
    assert (mistaken.error, mistaken.missing_module) == ("ModuleNotFoundError", "")
    assert baseline.tests[zoo("lacks")].missing_module.startswith("surely_not_installed")


def test_network_is_told_apart(baseline: Baseline) -> None:
    needing = {node for node, test in baseline.tests.items() if test.needs_network}
    assert needing == {zoo("network"), zoo("name")}


def test_flaky_is_told_apart(baseline: Baseline) -> None:
    assert baseline.flaky == (zoo("flaky"),)
    assert zoo("flaky") not in baseline.failing


def test_trials_take_the_fast_way_where_they_may(session: TestSession, baseline: Baseline) -> None:
    writes = session.trial({}, [zoo("writes"), zoo("passes")])
    assert (writes.passed, writes.way) == (True, Way.SWAP)
    shy = session.trial({}, [zoo("shy")])
    assert (shy.passed, shy.way) == (True, Way.RECOLLECT)
    mixed = session.trial({}, [zoo("passes"), zoo("shy")])
    assert (mixed.passed, mixed.way) == (True, Way.RECOLLECT)
    rejected = session.trial({}, [zoo("deep"), zoo("shy")])
    assert (rejected.passed, rejected.way, rejected.failed_at) == (False, Way.SWAP, zoo("deep"))


def test_import_error_can_be_repaired(session: TestSession, baseline: Baseline) -> None:
    node = "tests/test_import.py"
    wrong = {"pkg/lib.py": LIB.lstrip("\n") + "\n\ndef absent():\n    return 2\n"}
    right = {"pkg/lib.py": LIB.lstrip("\n") + "\n\ndef absent():\n    return 1\n"}
    assert not session.trial({}, [node]).passed
    assert not session.trial(wrong, [node]).passed
    assert session.trial(right, [node]).passed


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"lib.py": "", "pytest.ini": "[pytest]\naddopts = --cov=lib -q\n", "test_a.py": "def test_a(): pass\n"},
         ["--cov", "pytest-cov", "addopts="]),
        ({"pytest.ini": "[pytest]\naddopts = -n 4\n", "test_a.py": "def test_a(): pass\n"},
         ["-n", "pytest-xdist"]),
        ({"lib.py": "x = 1\n"}, ["no tests", "--test"]),
        ({"conftest.py": "import surely_not_installed\n", "test_a.py": "def test_a(): pass\n"},
         ["surely_not_installed", "--python"]),
    ],
    ids=["coverage options", "xdist options", "no tests", "conftest"],
)  # fmt: skip
def test_what_cannot_be_run_says_why(
    open_session: Callable[..., TestSession], files: dict[str, str], words: list[str]
) -> None:
    with pytest.raises(TestsNotRun) as caught:
        open_session(files).baseline()
    for word in words:
        assert word in str(caught.value)


# Stand-ins for plugins that take the tests to other processes and measure their lines: found as installed ones are.
PLUGINS = {
    "xdist/__init__.py": "",
    "xdist/plugin.py": """
        def pytest_addoption(parser):
            parser.getgroup("xdist")._addoption("-n", dest="numprocesses")
    """,
    "pytest_xdist-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: pytest-xdist\nVersion: 1.0\n",
    "pytest_xdist-1.0.dist-info/entry_points.txt": "[pytest11]\nxdist = xdist.plugin\n",
    "pytest_cov/__init__.py": "",
    "pytest_cov/plugin.py": """
        import pytest

        def pytest_addoption(parser):
            group = parser.getgroup("cov")
            group.addoption("--cov", action="append")
            group.addoption("--no-cov", action="store_true")

        @pytest.hookimpl(tryfirst=True)
        def pytest_load_initial_conftests(early_config):
            assert early_config.known_args_namespace.no_cov, "lines would be measured"
    """,
    "pytest_cov-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: pytest-cov\nVersion: 1.0\n",
    "pytest_cov-1.0.dist-info/entry_points.txt": "[pytest11]\npytest_cov = pytest_cov.plugin\n",
}


@pytest.mark.parametrize(
    ("options", "expected"),
    [("-n 4 --cov=lib", "0"), ("-p no:xdist -p no:cov", None), ("-p no:cov -n 2", "0")],
    ids=["both in use", "both switched off", "one switched off"],
)
def test_tests_stay_in_their_process_and_unmeasured(
    open_session: Callable[..., TestSession], options: str, expected: str | None
) -> None:
    test = f"def test_it(pytestconfig): assert getattr(pytestconfig.option, 'numprocesses', None) == {expected!r}\n"
    files = {**PLUGINS, "pytest.ini": f"[pytest]\naddopts = {options}\n", "test_a.py": test}
    session = open_session(files)
    assert session.baseline().passing == ("test_a.py::test_it",)
    trial = session.trial({}, ["test_a.py::test_it"])
    assert (trial.passed, trial.way) == (True, Way.SWAP)


def test_a_plugin_that_is_there_need_not_be_installed(open_session: Callable[..., TestSession]) -> None:
    files = {**PLUGINS, "pytest.ini": "[pytest]\naddopts = -p no:cov --cov=lib\n", "test_a.py": "def test_a(): pass\n"}
    with pytest.raises(TestsNotRun, match="pytest-cov, which is installed but switched off") as caught:
        open_session(files).baseline()
    assert "pip install" not in str(caught.value)


def test_a_suite_that_needs_more_memory_says_where_to_give_it(open_session: Callable[..., TestSession]) -> None:
    # Two processes, each within its own limit, which together are beyond it.
    hungry = """
        import os, time

        def test_hungry():
            if not (child := os.fork()):
                block = b"x" * (150 << 20)
                time.sleep(30)
                os._exit(0)
            block = b"x" * (150 << 20)
            os.waitpid(child, 0)
    """
    with pytest.raises(TestsNotRun, match="memory limit: raise memory_mb"):
        open_session({"test_a.py": hungry}, limits=Limits(memory=256 * MIB)).baseline()


def test_interpreter_without_pytest(open_session: Callable[..., TestSession], tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["python3", "-m", "venv", "--without-pip", str(bare)], check=True)
    with pytest.raises(TestsNotRun, match=r"pip install pytest.*--python"):
        open_session({"test_a.py": "def test_a(): pass\n"}, python=bare / "bin" / "python").baseline()


def test_part_of_the_suite(open_session: Callable[..., TestSession]) -> None:
    session = open_session(
        {"test_a.py": "def test_a(): pass\ndef test_b(): assert 0\n", "test_c.py": "def test_c(): pass\n"}
    )
    baseline = session.baseline(["test_a.py::test_b"])
    assert list(baseline.tests) == ["test_a.py::test_b"]


def test_test_that_ignores_the_alarm_is_killed(
    open_session: Callable[..., TestSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline_module, "GRACE_S", 0.5)
    deaf = "import signal\ndef test_deaf():\n    signal.signal(14, signal.SIG_IGN)\n    while True: pass\n"
    deaf += "def test_b(): pass\n"
    baseline = open_session({"test_a.py": deaf}, test_limit_s=0.5).baseline()
    assert baseline.tests["test_a.py::test_deaf"].timed_out
    assert baseline.passing == ("test_a.py::test_b",)
