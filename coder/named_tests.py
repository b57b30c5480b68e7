"""What `--test` names: in the form of node ids, and run beside the suite where pytest would not find it by itself."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from sandbox.testing.report import Baseline, TestReport

_HINT = "Name it as pytest does, from the project's folder: tests/test_cart.py::test_total, a file, or a folder."


def plain_names(tests: Sequence[str], root: Path, command: str) -> tuple[str, ...]:
    """`tests` with their paths as in node ids: relative to the project's `root`, and plain. Empty, which stands for
    all, where the whole project is named. `command` is the test command, "" for pytest.

    Raises Failure with USAGE for a path outside of the project, and for any name where a command decides.
    """
    if tests and command:
        message = f"tests can be named for pytest only, and here `{command}` decides"
        raise Failure(ExitStatus.USAGE, message, "Leave out --test, or the test command.")
    names = tuple(_plain(test, root) for test in tests)
    return () if "." in names else names


def selected(report: TestReport, names: Sequence[str]) -> bool:
    """Whether one of `names` is the test, its file, its class, or a folder that it is in. A file that could not be
    collected is selected by what is named in it, too."""
    node = report.node
    within = () if report.collected else (node + "::", node + "/")
    return any(
        node == name or node.startswith((name + "::", name + "[", name + "/")) or name.startswith(within)
        for name in names
    )


def unknown(baseline: Baseline, names: Sequence[str]) -> Failure | None:
    """The failure that it is to name tests that are not there; None where each of `names` selects one."""
    absent = [name for name in names if not any(selected(report, [name]) for report in baseline.tests.values())]
    return Failure(ExitStatus.USAGE, f"no test is named {' or '.join(absent)}", _HINT) if absent else None


def first_run(
    run: Callable[[Sequence[str]], Baseline], tree: Path, names: Sequence[str], notice: Callable[[str], None]
) -> Baseline:
    """The suite as pytest finds it; where that has nothing of a file or folder that `names` name, once more, with that
    beside it. `run` takes what pytest is to collect, nothing for what it finds by itself; `tree` is where it does.

    Raises Failure with TESTS_NOT_RUN.
    """
    from sandbox.testing.report import TestsNotRun

    try:
        suite = _run(run, (), names)
        beside = _beside(suite, tree, names)
        if not beside:
            return suite
        notice(f"pytest does not collect {', '.join(beside)} by itself: the tests run once more, with that")
        found = dict.fromkeys(test.path for test in suite.tests.values() if (tree / test.path).exists())
        # As paths that can be taken for nothing else: "-x" is an option, "@x" a file of arguments.
        return _run(run, [f"./{path}" for path in (*found, *beside)], names)
    except TestsNotRun as error:
        raise Failure(ExitStatus.TESTS_NOT_RUN, str(error)) from error


def _run(run: Callable[[Sequence[str]], Baseline], given: Sequence[str], names: Sequence[str]) -> Baseline:
    """`run`; where tests are named and there are none, an empty baseline: `unknown` then says what is not there."""
    from sandbox.testing.report import Baseline, NoTests

    try:
        return run(given)
    except NoTests:
        if not names:
            raise
        return Baseline({}, 0.0)


def _beside(suite: Baseline, tree: Path, names: Sequence[str]) -> list[str]:
    """The folders and Python files that are named and there, and of which the suite has nothing."""
    paths = dict.fromkeys(name.partition("::")[0] for name in names)
    return [
        path
        for path in paths
        if not any(selected(report, [path]) for report in suite.tests.values())
        and ((tree / path).is_dir() or (path.endswith(".py") and (tree / path).is_file()))
    ]


def _plain(name: str, root: Path) -> str:
    path, divider, rest = name.partition("::")
    if os.path.isabs(path):
        place = Path(os.path.normpath(path))
        if not place.is_relative_to(root):
            place = Path(os.path.realpath(path))  # the project may be reached through a link
        path = os.path.relpath(place, root)
    path = posixpath.normpath(path)
    if path == ".." or path.startswith("../"):
        raise Failure(ExitStatus.USAGE, f"{name} is not in {root}", _HINT)
    return path + divider + rest
