"""Any other test command, judged by its exit code. That is the weaker proof, and each verdict says so."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, TracebackType

from sandbox import policy
from sandbox.contract import Completed, Ending, Limits
from sandbox.jail import Sandbox
from sandbox.job import interpreter
from sandbox.testing import honesty, texts, toolchains, traces, v8_coverage
from sandbox.testing.entry import judges
from sandbox.testing.pace import FACTOR
from sandbox.testing.protected import is_protected
from sandbox.testing.report import (
    Baseline,
    Oracle,
    Outcome,
    Progress,
    TestReport,
    TestsNotRun,
    Trial,
    Verdict,
    Way,
    relative,
)
from sandbox.working_copy import WorkingCopy

NOT_FOUND, NOT_EXECUTABLE = 127, 126
# A trial may take FACTOR times what the command took as the code is, or a run that came further; always this long.
MIN_LIMIT_S = 1.0
# A run that passes may take far longer than one that fails at once: the first few that are cut off get that many times
# as long.
PATIENCE, PATIENT_RUNS = 3.0, 3
UNKNOWN_S = 0.3
"""What a run is taken to last while none has come to an end."""
# Runs a command, then hands on what Node wrote about the lines that it executed. The exit status is the command's.
_COVERED = """
import glob, os, subprocess, sys
status = subprocess.call(["/bin/sh", "-c", sys.argv[1]])
with os.fdopen(int(sys.argv[2]), "wb") as out:
    for path in glob.glob(os.environ["NODE_V8_COVERAGE"] + "/*.json"):
        with open(path, "rb") as report:
            out.write(report.read())
sys.exit(status if status >= 0 else 128 - status)
"""


class CommandSession:
    """Runs `command` with a shell, cold each time. The same methods as a TestSession; its one test is the command.

    `read_only` are further paths that the command may read; `python` is the interpreter that it finds as `python`.
    `linked` maps paths of the tree to folders that stand there, to be read only, without being copied.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        tree: WorkingCopy,
        command: str,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        read_only: Sequence[Path] = (),
        allow_tests: bool = False,
        python: Path | None = None,
        linked: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        self._sandbox = sandbox
        self._command = command
        self._limits = limits
        tools = toolchains.installed(command)
        self._tree = tree.fork() if linked else tree
        self._close = self._tree.close if linked else lambda: None
        for link, place in linked.items():
            (self._tree.root / link).symlink_to(place)
        self._read_only = (*read_only, *tools, *linked.values(), *(policy.interpreter_paths(python) if python else ()))
        programs = [*([python.parent] if python else []), *(tool / "bin" for tool in tools)]
        self._environment = {"CI": "1", "PATH": policy.environment(programs, "/tmp", {})["PATH"]}
        self._allow_tests = allow_tests
        self._expected_s = UNKNOWN_S
        self._reached = 0
        self._cut_off = 0
        files = tuple(path.relative_to(tree.root).as_posix() for path in tree.root.rglob("*") if path.is_file())
        self._by_tail = _tails(files)
        self._judges = judges(command, files, lambda path: texts.read(tree, path))

    @property
    def node(self) -> str:
        return f"$ {self._command}"

    def __enter__(self) -> CommandSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing outlives a run but the copy that has links."""
        self._close()

    def baseline(self, nodes: Sequence[str] = (), progress: Progress | None = None) -> Baseline:
        """Run the command as it is, and once more where it fails: does it do so each time? Raises TestsNotRun."""
        done = self._run(self._tree, self._limits)
        if done.returncode in (NOT_FOUND, NOT_EXECUTABLE) and done.seconds < 1.0:
            raise TestsNotRun(f"the test command cannot be started in the sandbox: {done.stderr.strip()[-500:]}")
        report = self._report(done)
        if report.outcome.failing and not report.timed_out:
            again, lines = self._covered()
            passed = again.returncode == 0 and self._run(self._tree, self._limits).returncode == 0
            report = replace(report, flaky=passed, lines=lines)
            self._expected_s = min(done.seconds, again.seconds)
        if progress:
            progress(1, 1, self.node, report.outcome)
        seen = [frame.path for frame in report.frames if is_protected(frame.path)]
        test_files = tuple(dict.fromkeys((*self._judges, *seen)))
        self._judges = test_files
        self._reached = self._reach(report)
        return Baseline({self.node: report}, done.seconds, Oracle.EXIT_CODE, test_files)

    def trial(self, files: Mapping[str, str], nodes: Sequence[str], hasty: bool = False, probes: int = 0) -> Trial:
        done = self._changed(files, self._pace())
        report = self._report(done)
        self._cut_off += report.timed_out
        if done.ending is Ending.EXITED and self._reach(report) > self._reached:
            self._expected_s = max(self._expected_s, done.seconds)
        return Trial(
            outcomes={self.node: report.outcome},
            passed=report.outcome is Outcome.PASSED,
            way=Way.COLD,
            seconds=done.seconds,
            failed_at="" if report.outcome is Outcome.PASSED else self.node,
            error=report.error,
            message=report.message,
            timed_out=report.timed_out,
            frames=report.frames,
        )

    def confirm(self, files: Mapping[str, str], repeats: int = 1, targets: Sequence[str] = ()) -> Verdict:
        """The command on the changed tree, `repeats` times, each in a fresh sandbox."""
        dishonest = honesty.inspect_files(self._tree, files, self._allow_tests, self._judges)
        verdict = Verdict(oracle=Oracle.EXIT_CODE, level=self._sandbox.level, unfixed=(self.node,))
        if dishonest:
            return replace(verdict, dishonest=tuple(dishonest))
        began = time.monotonic()
        runs = [self._changed(files, self._limits) for _ in range(repeats)]
        verdict = replace(verdict, repeats=repeats, seconds=time.monotonic() - began)
        if all(self._report(done).outcome is Outcome.PASSED for done in runs):
            return replace(verdict, fixed=(self.node,), unfixed=())
        return verdict

    def _changed(self, files: Mapping[str, str], limits: Limits) -> Completed:
        with self._tree.fork() as tree:
            for path, text in files.items():
                tree.write(relative(path), texts.encode(self._tree, path, text))
            return self._run(tree, limits)

    def _run(self, tree: WorkingCopy, limits: Limits) -> Completed:
        return self._sandbox.run(["/bin/sh", "-c", self._command], tree, limits, self._environment, self._read_only)

    def _covered(self) -> tuple[Completed, dict[str, frozenset[int]]]:
        """Run the command with Node's coverage on: what came of it, and the lines that it executed, by file."""
        read, write = os.pipe()
        chunks: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(read, chunks), daemon=True)
        reader.start()
        try:
            words = [interpreter(), "-I", "-S", "-c", _COVERED, self._command, str(write)]
            environment = {**self._environment, "NODE_V8_COVERAGE": "/tmp/v8-coverage"}
            jailed = self._sandbox.spawn(words, self._tree, self._limits, environment, self._read_only, [write])
        finally:
            os.close(write)
        done = jailed.wait()
        reader.join()
        return done, v8_coverage.executed(b"".join(chunks), self._script)

    def _script(self, name: str) -> tuple[str, str] | None:
        path = self._known(name)
        return (path, texts.read(self._tree, path)) if path else None

    def _reach(self, report: TestReport) -> int:
        """The line of the tests that a failing run came to; 0 where that is not known."""
        return next((frame.line for frame in reversed(report.frames) if frame.path in self._judges), 0)

    def _pace(self) -> Limits:
        limit = max(MIN_LIMIT_S, FACTOR * self._expected_s) * (PATIENCE if self._cut_off < PATIENT_RUNS else 1.0)
        return replace(self._limits, wall_s=min(self._limits.wall_s, limit))

    def _report(self, done: Completed) -> TestReport:
        output = f"{done.stdout}\n{done.stderr}".strip()
        if done.returncode == 0 and done.ending is Ending.EXITED:
            return TestReport(self.node, Outcome.PASSED, done.seconds)
        reason = f"exit code {done.returncode}" if done.ending is Ending.EXITED else done.ending.value
        return TestReport(
            node=self.node,
            outcome=Outcome.FAILED,
            seconds=done.seconds,
            error=reason,
            message=output[-2000:],
            frames=tuple(traces.frames(output, self._known)),
            output=output[-4000:],
            timed_out=done.ending is Ending.TIMEOUT,
        )

    def _known(self, name: str) -> str:
        """The path below the root that `name`, seen from inside the jail, stands for; "" for files of others."""
        parts = [part for part in Path(name).parts if part not in ("/", ".")]
        if not parts or ".." in parts or "node_modules" in parts:
            return ""
        for start in range(len(parts)):
            path = "/".join(parts[start:])
            if path in self._by_tail:
                return self._by_tail[path]
        return ""


def _tails(files: Sequence[str]) -> dict[str, str]:
    """Each file by its path, and by its bare name where only one file has that: Java's traces tell no more."""
    bare = Counter(path.rpartition("/")[2] for path in files)
    return {path.rpartition("/")[2]: path for path in files if bare[path.rpartition("/")[2]] == 1} | {
        path: path for path in files
    }


def _drain(descriptor: int, chunks: list[bytes]) -> None:
    """Read a pipe to its end, and keep no more than a bounded part."""
    with os.fdopen(descriptor, "rb") as pipe:
        size = 0
        while chunk := pipe.read1(1 << 16):
            size += len(chunk)
            if size <= v8_coverage.LARGEST:
                chunks.append(chunk)
