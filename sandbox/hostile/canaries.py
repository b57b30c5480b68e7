"""Things outside a jail that hostile code would harm if it could, and a look at them afterwards."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pty
import resource
import secrets
import socket
import subprocess
import sys
import tempfile
import tty
from pathlib import Path
from types import TracebackType
from typing import Any

_CONTENT = "intact\n"
_libc = ctypes.CDLL(None, use_errno=True)


class Canaries:
    """A context manager. `facts` tells the attempts where the canaries are, `harmed` what happened to them."""

    def __enter__(self) -> Canaries:
        self._stack = contextlib.ExitStack()
        self.token = secrets.token_hex(16)
        self.directory = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="canary-")))
        self._tcp = self._socket(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self._udp = self._socket(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self._abstract = self._socket(socket.AF_UNIX, socket.SOCK_STREAM, f"\0canary-{self.token}")
        self._file = self._socket(socket.AF_UNIX, socket.SOCK_STREAM, str(self.directory / "socket"))
        self._datagram = self._socket(socket.AF_UNIX, socket.SOCK_DGRAM, str(self.directory / "datagram"))
        for name in ("victim", "secret"):
            (self.directory / name).write_text(_CONTENT)
        for path in (self.directory, *self.directory.iterdir()):
            path.chmod(0o777 if path.is_dir() else 0o666)  # what guards them shall be the jail, not their modes
        self.repository = self.directory / "repository"
        (self.repository / ".git" / "hooks").mkdir(parents=True)
        (self.repository / "module.py").write_text("x = 1\n")
        (self.repository / ".git" / "config").write_text(_CONTENT)
        # A group of its own, and a secret in its environment.
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"],
            env={self.variable: self.token},
            start_new_session=True,
        )
        self._stack.callback(self._end)
        self._limit = resource.prlimit(self.process.pid, resource.RLIMIT_NPROC)
        self._own_limit = resource.getrlimit(resource.RLIMIT_NPROC)
        self.segment = secrets.randbelow(1 << 30) + 1
        identifier = _libc.shmget(self.segment, 4096, 0o1666)
        self._stack.callback(_libc.shmctl, identifier, 0, None)
        self._keyboard, self.terminal = pty.openpty()
        tty.setraw(self.terminal)
        os.set_blocking(self.terminal, False)
        self._stack.callback(os.close, self._keyboard)
        self._stack.callback(os.close, self.terminal)
        # An inheritable descriptor, as a careless caller would leave it.
        self._careless = os.open(self.directory / "secret", os.O_RDONLY)
        os.set_inheritable(self._careless, True)
        self._stack.callback(os.close, self._careless)
        os.environ[self.variable] = self.token
        self._stack.callback(os.environ.pop, self.variable, None)
        self._before = self._metadata()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    variable = "CODER_CANARY"

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "tcp": self._tcp.getsockname()[1],
            "udp": self._udp.getsockname()[1],
            "abstract": f"canary-{self.token}",
            "socket": str(self.directory / "socket"),
            "datagram": str(self.directory / "datagram"),
            "directory": str(self.directory),
            "victim": str(self.directory / "victim"),
            "secret": str(self.directory / "secret"),
            "repository": str(self.repository),
            "variable": self.variable,
            "token": self.token,
            "pid": self.process.pid,
            "outer": os.getpid(),
            "segment": self.segment,
            "terminal": self.terminal,
            "terminal_path": os.ttyname(self.terminal),
        }

    def harmed(self) -> dict[int, list[str]]:
        """By number of the behaviour, what reached a canary."""
        found: dict[int, list[str]] = {}

        def note(number: int, what: str, harmed: bool) -> None:
            if harmed:
                found.setdefault(number, []).append(what)

        note(1, "connection arrived", _arrived(self._tcp))
        note(2, "datagram arrived", _arrived(self._udp))
        note(4, "connection arrived", _arrived(self._abstract))
        note(5, "connection arrived", _arrived(self._file) or _arrived(self._datagram))
        victim = self.directory / "victim"
        note(6, "victim changed", self._metadata() != self._before or (self.directory / "new").exists())
        note(7, "victim written", victim.exists() and victim.read_text() != _CONTENT)
        note(8, "victim linked", victim.exists() and victim.stat().st_nlink != 1)
        note(14, "process killed", self.process.poll() is not None)
        try:
            note(33, "typed into the terminal", bool(os.read(self.terminal, 100)))
        except BlockingIOError:
            pass
        hooks = list((self.repository / ".git" / "hooks").iterdir())
        note(35, "hook planted", bool(hooks) or (self.repository / ".git" / "config").read_text() != _CONTENT)
        stray = _libc.shmget(self.segment + 1, 0, 0)
        note(38, "segment appeared", stray != -1)
        if stray != -1:
            _libc.shmctl(stray, 0, None)
        own = resource.getrlimit(resource.RLIMIT_NPROC)
        note(40, "limits of the caller changed", own != self._own_limit)
        if self.process.poll() is None:
            now = resource.prlimit(self.process.pid, resource.RLIMIT_NPROC)
            note(40, "limits changed", now != self._limit)
        return found

    def _metadata(self) -> object:
        try:
            status = (self.directory / "victim").stat()
        except FileNotFoundError:
            return None
        names = os.listxattr(self.directory / "victim")
        return status.st_mode, status.st_mtime_ns, status.st_size, names

    def _socket(self, family: int, kind: int, address: Any) -> socket.socket:
        made = self._stack.enter_context(socket.socket(family, kind))
        made.bind(address)
        made.setblocking(False)
        if kind == socket.SOCK_STREAM:
            made.listen(8)
        return made

    def _end(self) -> None:
        self.process.kill()
        self.process.wait()


def _arrived(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(100)
    except BlockingIOError:
        return False
    return True
