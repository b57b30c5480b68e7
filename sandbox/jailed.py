"""A running jail and its warden: the thread that starts it, reads its output, watches its limits and ends it.

The warden lives exactly as long as the jail: the kernel ends the jail when the thread that started it is gone, so an
abrupt end of this program leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from sandbox import text, watch
from sandbox.contract import MIB, Completed, Ending, Limits, SandboxUnavailable
from sandbox.job import Command, Job, Rung

_TICK_S = 0.05
_SETUP_S = 120.0
_SWEEP_S = 10.0
_FEWER = "name folders that no test needs in .coderignore"


class JailBroken(SandboxUnavailable):
    """The jail could not be set up; nothing was run. The message says why, and what to do where that is known."""


class Jailed:
    """One command in its jail. A context manager that kills it. Methods may be called from any thread."""

    @classmethod
    def start(cls, rung: Rung, make_job: Callable[[int], Job]) -> Jailed:
        """Returns once the command runs. Raises JailBroken, or FileNotFoundError when it cannot be started."""
        jailed = cls(rung, make_job)
        jailed._thread.start()
        try:
            jailed._stands.wait()
        except BaseException:
            jailed.kill()
            raise
        if jailed._failure is not None:
            jailed._thread.join()
            raise jailed._failure
        return jailed

    def __init__(self, rung: Rung, make_job: Callable[[int], Job]) -> None:
        self.pid = 0
        """The process at the head of the jail, as seen outside."""
        self.tree = Path()
        """Where the tree is for the command: `INSIDE`, or a directory of this run's own where there are no mounts."""
        self._rung, self._make_job = rung, make_job
        self._stands, self._ended = threading.Event(), threading.Event()
        self._failure: Exception | None = None
        self._ending: Ending | None = None
        self._completed: Completed | None = None
        self._wake_read, self._wake_write = os.pipe()
        self._waking = threading.Lock()
        self._thread = threading.Thread(target=self._guard, name="jail warden", daemon=True)

    def kill(self) -> None:
        """End the command and everything it started. Returns at once; `wait` tells when it is done."""
        self._end(Ending.CANCELLED)

    def poll(self) -> Completed | None:
        return self._completed

    def wait(self, timeout: float | None = None) -> Completed:
        """The result, once the command and everything it started has ended. Raises TimeoutError."""
        try:
            finished = self._ended.wait(timeout)
        except BaseException:
            self.kill()
            raise
        if not finished:
            raise TimeoutError("the command is still running")
        if self._failure is not None:
            raise self._failure
        assert self._completed is not None
        return self._completed

    def __enter__(self) -> Jailed:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()
        self._thread.join()

    def _guard(self) -> None:
        try:
            self._completed = self._run()
        except Exception as failure:
            self._failure = failure
        finally:
            with self._waking:
                os.close(self._wake_read)
                os.close(self._wake_write)
                self._ended.set()
            self._stands.set()

    def _run(self) -> Completed:
        report_read, report_write = os.pipe()
        try:
            job = self._make_job(report_write)
            command = self._rung.command(job)
            try:
                process = subprocess.Popen(
                    command.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd="/",
                    env={},
                    pass_fds=command.descriptors,
                    start_new_session=True,
                )
            finally:
                for descriptor in command.owned:
                    os.close(descriptor)
        finally:
            os.close(report_write)
        self.pid, self.tree = process.pid, command.tree
        try:
            with process, open(report_read, "rb", buffering=0) as report:
                try:
                    return self._watch(job, command, process, report.fileno())
                except BaseException:
                    self._strike(process.pid, force=True)
                    raise
        finally:
            if command.watched:
                shutil.rmtree(command.watched, ignore_errors=True)

    def _watch(self, job: Job, command: Command, process: subprocess.Popen[bytes], report: int) -> Completed:
        assert process.stdout and process.stderr
        with contextlib.suppress(PermissionError):  # a bwrap that is set-user-id
            # 1 and not 0: then no core goes to a program outside either. The filter keeps the command from changing it.
            resource.prlimit(process.pid, resource.RLIMIT_CORE, (1, 1))
        gauge = watch.Gauge(process.pid, job.limits, command)
        out, err, message = bytearray(), bytearray(), bytearray()
        streams = {process.stdout.fileno(): out, process.stderr.fileno(): err, report: message}
        ended = os.pidfd_open(process.pid)
        begun = time.monotonic()
        deadline, give_up = begun + _SETUP_S, math.inf
        running = True
        with selectors.DefaultSelector() as selector:
            for source in (*streams, ended, self._wake_read):
                selector.register(source, selectors.EVENT_READ)
            while running:
                for key, _ in selector.select(_TICK_S):
                    if key.fd in streams:
                        piece = os.read(key.fd, 1 << 16)
                        streams[key.fd].extend(piece)
                        if not piece:
                            selector.unregister(key.fd)
                        if key.fd == report and not piece and message == b"+":
                            begun, deadline = time.monotonic(), time.monotonic() + job.limits.wall_s
                            self._stands.set()
                    elif key.fd == ended:
                        running = False
                    else:
                        os.read(self._wake_read, 1)
                if running and self._ending is None:
                    excess = _excess(gauge, len(out) + len(err), job.limits, deadline)
                    if excess is not None:  # else `kill` may have come while it was measured, and stands
                        self._end(excess)
                if running and self._ending is not None:
                    give_up = min(give_up, time.monotonic() + _SWEEP_S)
                    self._strike(process.pid, force=time.monotonic() > give_up)
        seconds = time.monotonic() - begun
        process.wait()
        os.close(ended)
        for source, buffer in streams.items():
            _drain(source, buffer, job.limits.output)
        if self._ending is None and len(out) + len(err) > job.limits.output:
            self._ending = Ending.OUTPUT
        stdout, stderr = (text.clean(bytes(buffer[: job.limits.output])) for buffer in (out, err))
        if message != b"+":
            raise _refusal(message.decode("utf-8", "replace"), stderr, self._ending, job.limits, bool(command.watched))
        ending = self._ending or Ending.EXITED
        code = process.returncode if ending is Ending.EXITED else None
        return Completed(job.argv, code, stdout, stderr, seconds, ending, self._rung.level)

    def _end(self, ending: Ending) -> None:
        with self._waking:
            if self._ending is None and not self._ended.is_set():
                self._ending = ending
                os.write(self._wake_write, b"!")

    def _strike(self, head: int, force: bool) -> None:
        """With namespaces: kill the first process of the pid namespace, and with it all. Else: tell the supervisor."""
        if self._rung.namespaces or force:
            victims = watch.children(head) if self._rung.namespaces else watch.processes(head)
            for pid in (*victims, head):
                _signal(pid, signal.SIGKILL)
        else:
            _signal(head, signal.SIGTERM)


def _excess(gauge: watch.Gauge, written: int, limits: Limits, deadline: float) -> Ending | None:
    if written > limits.output:
        return Ending.OUTPUT
    if time.monotonic() > deadline:
        return Ending.TIMEOUT
    return gauge.excess()


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _drain(descriptor: int, into: bytearray, bound: int) -> None:
    """Read what is left, without waiting for whoever may still hold the other end."""
    os.set_blocking(descriptor, False)
    try:
        while len(into) <= bound and (piece := os.read(descriptor, 1 << 16)):
            into.extend(piece)
    except BlockingIOError:
        pass


def _refusal(message: str, errors: str, ending: Ending | None, limits: Limits, on_disk: bool) -> Exception:
    """Why the command did not start. `on_disk`: the tree is on the machine's own disk, not on a bounded tmpfs."""
    if message.startswith("+command: "):
        return FileNotFoundError(f"cannot start in the sandbox: {message.removeprefix('+command: ')}")
    full = message.startswith("full: ")
    if full and on_disk:
        return JailBroken("the disk filled up while the files were copied into the sandbox: free some space")
    if full or ending is Ending.DISK:
        room = f"{limits.tree // MIB:,} MiB and {limits.inodes:,} files and folders"
        return JailBroken(f"the files do not fit in the sandbox, which has room for {room}: {_FEWER}")
    if ending is Ending.TIMEOUT:
        return JailBroken(f"copying the files into the sandbox took longer than {_SETUP_S:.0f} s: {_FEWER}")
    if ending is Ending.MEMORY:
        return JailBroken(f"memory ran out while the files were copied into the sandbox: {_FEWER}")
    if ending is not None:
        return JailBroken(f"ended before the command ran: {ending.value}")
    return JailBroken(message.removeprefix("jail: ") or errors.strip()[-2000:] or "the jail did not start")
