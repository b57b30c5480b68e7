"""Any other test command, judged by its exit code. That is the weaker proof, and each verdict says so."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from sandbox import policy
from sandbox.contract import Completed, Ending, Limits
from sandbox.jail import Sandbox
from sandbox.testing import honesty, texts
from sandbox.testing.pace import FACTOR
from sandbox.testing.report import (
    Baseline,
    Frame,
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
MIN_LIMIT_S = 5.0
_PYTHON_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in (\S+)')
_OTHER_FRAME = re.compile(r"(?:at (\S+) )?\(?([\w./@+-]+\.\w{1,4}):(\d+)(?::\d+)?\)?")


class CommandSession:
    """Runs `command` with a shell, cold each time. The same methods as a TestSession; its one test is the command.

    `read_only` are further paths that the command may read; `python` is the interpreter that it finds as `python`.
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
    ) -> None:
        self._sandbox = sandbox
        self._tree = tree
        self._command = command
        self._limits = limits
        self._read_only = (*read_only, *(policy.interpreter_paths(python) if python else ()))
        programs = [python.parent] if python else []
        self._environment = {"CI": "1", "PATH": policy.environment(programs, "/tmp", {})["PATH"]}
        self._allow_tests = allow_tests
        self._baseline: Baseline | None = None

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
        """Nothing outlives a run."""

    def baseline(self, nodes: Sequence[str] = (), progress: Progress | None = None) -> Baseline:
        """Run the command as it is, and once more where it fails: does it do so each time? Raises TestsNotRun."""
        done = self._run(self._tree, self._limits)
        if done.returncode in (NOT_FOUND, NOT_EXECUTABLE) and done.seconds < 1.0:
            raise TestsNotRun(f"the test command cannot be started in the sandbox: {done.stderr.strip()[-500:]}")
        report = self._report(done)
        if report.outcome.failing and not report.timed_out:
            again = self._run(self._tree, self._limits)
            report = replace(report, flaky=again.returncode == 0)
        if progress:
            progress(1, 1, self.node, report.outcome)
        self._baseline = Baseline({self.node: report}, done.seconds, Oracle.EXIT_CODE)
        return self._baseline

    def trial(self, files: Mapping[str, str], nodes: Sequence[str]) -> Trial:
        done = self._changed(files, self._pace())
        report = self._report(done)
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
        dishonest = honesty.inspect_files(self._tree, files, self._allow_tests)
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

    def _pace(self) -> Limits:
        if self._baseline is None:
            return self._limits
        return replace(self._limits, wall_s=min(self._limits.wall_s, max(MIN_LIMIT_S, FACTOR * self._baseline.seconds)))

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
            frames=tuple(self._frames(output)),
            output=output[-4000:],
            timed_out=done.ending is Ending.TIMEOUT,
        )

    def _frames(self, output: str) -> list[Frame]:
        """Files of the repository that the output names with a line, in the order of the output."""
        found = [(match[1], match[2], match[3]) for match in _PYTHON_FRAME.finditer(output)]
        found += [(match[2], match[3], match[1] or "") for match in _OTHER_FRAME.finditer(output)]
        frames = []
        for name, line, function in found[:500]:
            path = self._known(name)
            if path:
                frames.append(Frame(path, int(line), function))
        return frames

    def _known(self, name: str) -> str:
        """The path below the root that `name`, seen from inside the jail, stands for; "" for files of others."""
        parts = Path(name).parts
        for start in range(len(parts)):
            path = Path(*parts[start:])
            if path.parts and not path.is_absolute() and ".." not in path.parts and (self._tree.root / path).is_file():
                return path.as_posix()
        return ""
