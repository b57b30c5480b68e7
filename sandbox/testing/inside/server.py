"""The server inside the jail: reads requests, runs each in a forked child, reports its events.

In mode "fresh" this process has imported pytest and nothing of the project, and each child is a whole pytest run. In
mode "collected" this process is a pytest session that has collected the tests; each child swaps code and runs some.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import wire
from .confine import Confinement, Temporary
from .failures import Repository
from .root_package import make_importable
from .supervise import TimeLimits, adopt_orphans, supervise

TAIL = 6000
OPTIONAL = ("pytest_cov", "pytest_timeout", "xdist")
"""Plugins whose options projects often use: where pytest does not know one, it matters whether the plugin is there."""
Request = dict[str, Any]


def main(request_fd: int, reply_fd: int) -> None:
    os.set_inheritable(request_fd, False)
    os.set_inheritable(reply_fd, False)
    incoming = wire.requests(request_fd)
    settings = next(incoming)
    console = os.memfd_create("console")
    for fd in (1, 2):
        os.dup2(console, fd)
    try:
        server = Server(settings, incoming, reply_fd, console)
        server.serve()
    except BaseException as error:
        wire.send(reply_fd, {"e": "fatal", "error": type(error).__name__, "message": str(error), "tail": tail(console)})
        raise


def tail(console: int) -> str:
    """The end of what this process and its children wrote to stdout and stderr since it was last asked for."""
    size = os.fstat(console).st_size
    text = os.pread(console, TAIL, max(0, size - TAIL)).decode("utf-8", "replace")
    os.ftruncate(console, 0)
    os.lseek(console, 0, os.SEEK_SET)
    return text


class Server:
    def __init__(self, settings: Request, incoming: Iterator[Request], reply_fd: int, console: int) -> None:
        self.settings = settings
        self.incoming = incoming
        self.reply_fd = reply_fd
        self.console = console
        self.root = os.getcwd()
        self.repository = Repository(self.root)
        adopt_orphans()
        self.confinement = Confinement(settings["landlock"], [self.root] if settings["writable"] else [])
        try:
            import pytest
        except ImportError:
            raise NoPytest(sys.executable) from None
        if tuple(int(part) for part in pytest.__version__.split(".")[:1]) < (7,):
            raise NoPytest(f"{sys.executable} has pytest {pytest.__version__}")

    def serve(self) -> None:
        if self.settings["mode"] == "collected":
            from .collected import run_collected

            run_collected(self)
            return
        for name in self.settings["preload"]:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        self.reply({"e": "ready"})
        for request in self.incoming:
            self.answer(request, self.run_pytest)

    def reply(self, message: dict[str, Any]) -> None:
        wire.send(self.reply_fd, message)

    def answer(self, request: Request, work: Callable[[Request, int], None]) -> None:
        """Run one request in a child and reply with its events and, last, {"e": "done", …}."""
        began = time.monotonic()
        guarded = self.settings["protected"] if request.get("canary") else ()
        before = [_identity(os.path.join(self.root, path)) for path in guarded]
        with Temporary() as temporary, self._changed_files(request.get("files", {})):

            def child(fd: int) -> None:
                os.close(self.reply_fd)
                self.confinement.enter(temporary)
                work(request, fd)

            result = supervise(child, TimeLimits(request["limits"]), self.reply, self.settings["alone"])
            # A write to a file that no candidate may touch, even one undone, shows in the time of its last change.
            after = [_identity(os.path.join(self.root, path)) for path in guarded]
        tampered = [path for path, old, new in zip(guarded, before, after) if old != new]
        seconds = time.monotonic() - began
        self.reply({"e": "done", **result, "tampered": tampered, "seconds": seconds, "tail": tail(self.console)})

    def run_pytest(self, request: Request, fd: int) -> None:
        """In a child: import, collect and run as `request` says."""
        import pytest

        from . import plugin
        from .canary import Canary
        from .lines import collector

        settle_paths(self.root, self.settings["origin"])

        send = wire.send  # as it is before any code of the project runs

        def emit(event: dict[str, Any]) -> None:
            send(fd, event)

        lines = collector(self.repository) if request.get("lines") else None
        reporter = plugin.Events(self.repository)
        reporter.begin(emit, lines, request.get("alarm", 0.0))
        plugins: list[Any] = [plugin.InProcess(), reporter]
        if request.get("nodes"):
            plugins.append(plugin.Selection(self.root, request["nodes"]))
        if request.get("skip"):
            plugins.append(plugin.Skip(request["skip"]))
        if request.get("stop"):
            plugins.append(plugin.StopAtFailure())
        if request.get("canary"):
            plugins.append(Canary())
        installed = [name for name in OPTIONAL if importlib.util.find_spec(name)]
        code = pytest.main(arguments(self.root, self.settings["arguments"]), plugins=plugins)
        modules = self._foreign_modules() if request.get("modules") else []
        emit({"e": "exit", "code": int(code), "modules": modules, "installed": installed})

    def _foreign_modules(self) -> list[str]:
        """What is loaded by now and does not belong to the repository, in the order of its loading."""
        return [
            name
            for name, module in list(sys.modules.items())
            if not self.repository.has_module(name)
            and not self.repository.relative(getattr(module, "__file__", None) or "<none>")
        ]

    @contextlib.contextmanager
    def _changed_files(self, files: dict[str, str]) -> Iterator[None]:
        """The tree with `files` in place, for as long as the child runs."""
        kept: dict[str, Any] = {}
        try:
            for path, text in files.items():
                place = os.path.join(self.root, path)
                kept[place] = read(place)
                os.makedirs(os.path.dirname(place), exist_ok=True)
                _write(place, text.encode("utf-8", "surrogateescape"))
            yield
        finally:
            for place, data in kept.items():
                if data is None:
                    os.unlink(place)
                else:
                    _write(place, data)


class NoPytest(Exception):
    """The project's interpreter has no pytest that can be used."""


def arguments(root: str, given: list[str]) -> list[str]:
    """pytest's arguments: the project's own options stay, bar what would hide events or leave this process."""
    forced = ["--rootdir", root, "--capture=sys", "--tb=native", "--maxfail=0", "--color=no"]
    forced += ["--continue-on-collection-errors", "-o", "cache_dir=" + os.path.join(os.environ["TMPDIR"], "cache")]
    return [*given, *forced]


def settle_paths(root: str, origin: str) -> None:
    """Import the project from `root`, as `python -m pytest` there would, and not from where it was installed from."""
    sys.path[:] = [root + entry[len(origin) :] if origin and _below(entry, origin) else entry for entry in sys.path]
    for name, module in list(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None)
        if origin and name.startswith("__editable__") and isinstance(mapping, dict):
            for package, path in mapping.items():
                if _below(path, origin):
                    mapping[package] = root + path[len(origin) :]
    for folder in ("src", ""):
        place = os.path.join(root, folder) if folder else root
        if os.path.isdir(place) and place not in sys.path and not os.path.exists(os.path.join(place, "__init__.py")):
            sys.path.insert(0, place)
    make_importable(root, origin)
    sys.dont_write_bytecode = True


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _identity(path: str) -> Any:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def read(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path: str, data: bytes) -> None:
    # In place: directories stay as they are, and the file keeps its mode.
    with open(path, "wb") as file:
        file.write(data)
