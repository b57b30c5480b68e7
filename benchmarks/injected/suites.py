"""Runs a package's own test suite in a child process: outcomes by test and, once, the lines that each test runs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.injected.packages import Package, cache_folder, pristine

PROBE = Path(__file__).with_name("probe")
MEMORY = 4 << 30
# A limit on processor time means the same on a busy machine; the limit on the clock is for what only sleeps.
PATIENCE = 15


@dataclass(frozen=True)
class Outcomes:
    """Outcome by node id; None when the run hit its time limit or pytest could not collect."""

    by_test: dict[str, str] | None
    lines: dict[str, dict[str, list[int]]]

    @property
    def failed(self) -> set[str]:
        return {test for test, outcome in (self.by_test or {}).items() if outcome == "failed"}


def run_suite(
    root: Path, nodes: Sequence[str] = (), cpu_s: int = 60, trace: bool = False, first_only: bool = False
) -> Outcomes:
    """Run `nodes` (all tests when empty) of the tree at `root`, for at most `cpu_s` seconds of processor time.

    `trace` notes the lines of each test; `first_only` stops at the first failure.
    """
    with tempfile.TemporaryDirectory(prefix="suite-") as folder:
        out = Path(folder) / "out.json"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "TMPDIR": folder,
            "PYTHONPATH": str(PROBE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "INJECTED_PROBE_OUT": str(out),
        }
        if trace:
            environment["INJECTED_PROBE_ROOT"] = str(root)
        # Node ids go through a file: thousands of them do not fit on a command line.
        listed = Path(folder) / "nodes.txt"
        listed.write_text("\n".join(nodes))
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "injected_probe", "-p", "no:cacheprovider"]
        argv += ["--tb=no", "--no-header", *(["-x"] if first_only else []), *([f"@{listed}"] if nodes else [])]
        try:
            subprocess.run(
                argv,
                cwd=root,
                env=environment,
                timeout=PATIENCE * cpu_s,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                preexec_fn=lambda: set_limits(cpu_s),
            )
        except subprocess.TimeoutExpired:
            return Outcomes(None, {})
        if not out.exists():
            return Outcomes(None, {})
        result = json.loads(out.read_text())
    # 0: all passed, 1: some failed; anything else means that tests were not collected or pytest itself broke.
    return Outcomes(result["outcomes"] if result["exit"] in (0, 1) else None, result["lines"])


def set_limits(cpu_s: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))


@dataclass(frozen=True)
class Coverage:
    """The tests of the original suite that pass, and which of them run each line of the sources."""

    tests: tuple[str, ...]
    by_line: dict[tuple[str, int], frozenset[str]]


@cache
def coverage(package: Package) -> Coverage:
    """Measured once per package, then kept in the cache. Raises ValueError when the original suite does not pass."""
    kept = cache_folder() / "coverage" / f"{package.name}-{package.version}.json"
    root = pristine(package)
    if not kept.exists():
        plain = run_suite(root, cpu_s=300)
        if not plain.by_test or plain.failed:
            raise ValueError(
                f"the suite of {package.name} {package.version} does not pass here: {sorted(plain.failed)}"
            )
        # A test that looks at reference counts may fail while it is traced; it is left out.
        outcomes = run_suite(root, cpu_s=300, trace=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"outcomes": outcomes.by_test, "lines": outcomes.lines}))
    stored = json.loads(kept.read_text())
    sources = {path.relative_to(root).as_posix() for path in package.source_files(root)}
    tests = tuple(test for test, outcome in stored["outcomes"].items() if outcome == "passed")
    by_line: dict[tuple[str, int], set[str]] = defaultdict(set)
    for test in tests:
        for path, lines in stored["lines"].get(test, {}).items():
            if path in sources:
                for line in lines:
                    by_line[path, line].add(test)
    return Coverage(tests, {key: frozenset(found) for key, found in by_line.items()})
