from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from benchmarks.node import Node
from sandbox.contract import Limits
from sandbox.jail import Sandbox
from sandbox.testing import command
from sandbox.testing.command import CommandSession
from sandbox.testing.report import Frame, Oracle, TestsNotRun
from sandbox.working_copy import WorkingCopy

FILES = {"lib/sum.sh": "echo $(($1 - $2))\n", "check.sh": 'test "$(sh lib/sum.sh 2 1)" = 3\n', "keep.txt": "x\n"}
RIGHT = {"lib/sum.sh": "echo $(($1 + $2))\n"}


@pytest.fixture
def session(sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy]) -> CommandSession:
    return CommandSession(sandbox, tree_of(FILES), "sh check.sh", Limits(wall_s=20))


def test_repair_by_exit_code(session: CommandSession) -> None:
    baseline = session.baseline()
    assert baseline.oracle is Oracle.EXIT_CODE
    assert baseline.failing == ("$ sh check.sh",)
    assert not session.trial({"lib/sum.sh": "echo 4\n"}, baseline.failing).passed
    assert session.trial(RIGHT, baseline.failing).passed
    verdict = session.confirm(RIGHT, repeats=2)
    assert verdict.passed
    assert verdict.oracle is Oracle.EXIT_CODE
    assert "weaker proof" in verdict.summary()
    assert "twice" in verdict.summary()
    assert not session.confirm({"lib/sum.sh": "echo 4\n"}).passed


def test_tests_are_off_limits(session: CommandSession) -> None:
    session.baseline()
    verdict = session.confirm({"tests/check.test.js": "", **RIGHT})
    assert verdict.dishonest
    assert not verdict.passed


def test_cases_of_unittest_are_off_limits_whatever_their_names(
    sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy]
) -> None:
    check = "import unittest\n\nfrom cart import total\n\n\nclass Cart(unittest.TestCase):\n"
    check += "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
    tree = tree_of({"cart.py": "def total(prices):\n    return sum(prices) + 1\n", "checks/check_cart.py": check})
    command = "python3 -m unittest discover -s checks -p 'check_*.py'"
    session = CommandSession(sandbox, tree, command, Limits(wall_s=60))
    assert session.baseline().test_files == ("checks/check_cart.py",)
    weaker = {"checks/check_cart.py": check.replace("3)", "4)")}
    assert session.confirm(weaker).dishonest == ("checks/check_cart.py is run as a test",)
    assert session.confirm({"cart.py": "def total(prices):\n    return sum(prices)\n"}).passed


def test_flaky_command(sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy]) -> None:
    baseline = CommandSession(sandbox, tree_of(FILES), "exit 1").baseline()
    assert baseline.flaky == ()


def test_frames_of_the_repository(sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy]) -> None:
    files = {"src/app.js": "\n", "main.py": "def run():\n    raise ValueError\nrun()\n"}
    shown = "echo '  at add (/somewhere/src/app.js:7:3)'; echo ' at x (node:internal/a.js:1:1)'; python3 main.py"
    baseline = CommandSession(sandbox, tree_of(files), shown).baseline()
    frames = baseline.tests[f"$ {shown}"].frames
    assert Frame("src/app.js", 7, "add") in frames
    assert Frame("main.py", 2, "run") in frames
    assert {frame.path for frame in frames} == {"src/app.js", "main.py"}


def test_command_that_does_not_exist(sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy]) -> None:
    with pytest.raises(TestsNotRun, match="no-such-program"):
        CommandSession(sandbox, tree_of(FILES), "no-such-program").baseline()


def test_time_limit(sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy]) -> None:
    baseline = CommandSession(sandbox, tree_of(FILES), "sleep 60", Limits(wall_s=0.5)).baseline()
    assert baseline.tests["$ sleep 60"].timed_out


def test_a_trial_that_never_ends_is_cut_off_soon(
    sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "PATIENT_RUNS", 0)
    session = CommandSession(sandbox, tree_of(FILES), "sh check.sh", Limits(wall_s=600))
    nodes = session.baseline().failing
    trial = session.trial({"lib/sum.sh": "sleep 300\n"}, nodes)
    assert trial.timed_out
    assert trial.seconds < 60
    assert session.trial(RIGHT, nodes).passed


def test_lines_that_node_executed(
    node: Node, sandbox: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy]
) -> None:
    code = (
        "exports.f = (x) => {\n  if (x) {\n    return 1;\n  }\n  return 2;\n};\nexports.g = () => {\n  return 3;\n};\n"
    )
    check = "if (require('./lib/a.js').f(1) !== 2) {\n  throw new Error('no');\n}\n"
    tree = tree_of({"lib/a.js": code, "check.js": check})
    session = CommandSession(sandbox, tree, f"{node.program} check.js", Limits(wall_s=60), node.folders)
    baseline = session.baseline()
    (report,) = baseline.tests.values()
    assert {2, 3} <= report.lines["lib/a.js"]
    assert not {5, 8} & report.lines["lib/a.js"]
    assert baseline.test_files == ("check.js",)
    assert not report.flaky


def test_installed_packages_are_found_and_not_copied(
    node: Node, any_jail: Sandbox, tree_of: Callable[[Mapping[str, str]], WorkingCopy], tmp_path: Path
) -> None:
    package = tmp_path / "node_modules" / "three"
    package.mkdir(parents=True)
    (package / "index.js").write_text("module.exports = 3;\n")
    tree = tree_of(
        {"lib.js": "exports.f = () => 2;\n", "check.js": "process.exit(require('./lib').f() - require('three'));\n"}
    )
    with CommandSession(
        any_jail,
        tree,
        f"{node.program} check.js",
        Limits(wall_s=60),
        node.folders,
        linked={"node_modules": tmp_path / "node_modules"},
    ) as session:
        nodes = session.baseline().failing
        assert session.trial({"lib.js": "exports.f = () => 3;\n"}, nodes).passed
        assert session.confirm({"lib.js": "exports.f = () => 3;\n"}).passed
    assert not (tree.root / "node_modules").exists()
