"""The pytest session that has collected once and lives on: a candidate is a fork with some functions' code replaced."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from . import plugin, swap, wire
from .calls import Calls
from .lines import collector
from .server import Request, Server, arguments, read, settle_paths


def run_collected(server: Server) -> None:
    """Collect, then answer requests until the pipe closes. Ends with {"e": "fatal"} where nothing can be collected."""
    settle_paths(server.root, server.settings["origin"])
    calls = Calls(server.repository)
    calls.start()
    plugins = [plugin.InProcess(), Resident(server, calls)]
    code = pytest.main(arguments(server.root, server.settings["arguments"]), plugins=plugins)
    server.reply({"e": "fatal", "error": "NotCollected", "message": f"pytest ended with {int(code)}", "tail": ""})


class Resident:
    """Takes the place of pytest's own loop over the tests."""

    def __init__(self, server: Server, calls: Calls) -> None:
        self._server = server
        self._calls = calls
        self._sources: dict[str, str] = {}
        self._swapper: swap.Swapper | None = None
        self._items: dict[str, Any] = {}
        self._events = plugin.Events(server.repository)

    def pytest_runtestloop(self, session: Any) -> bool:
        self._calls.stop()
        self._items = {item.nodeid: item for item in session.items}
        for item in session.items:
            item.repr_failure = _brief
        session.config.pluginmanager.register(self._events)
        self._swapper = swap.Swapper(self._calls.called)
        swap.gc.freeze()
        self._server.reply({"e": "ready", "nodes": list(self._items)})
        for request in self._server.incoming:
            self._prepare(request)
            self._server.answer(request, self._work)
        return True

    def _prepare(self, request: Request) -> None:
        """Read the old text of each changed file before it is overwritten."""
        assert self._swapper is not None
        for path in request.get("files", {}):
            if path not in self._sources:
                data = read(os.path.join(self._server.root, path)) or b""
                self._sources[path] = data.decode("utf-8", "surrogateescape")
                self._swapper.prepare(self._sources[path])

    def _work(self, request: Request, fd: int) -> None:
        def emit(event: dict[str, Any]) -> None:
            wire.send(fd, event)

        assert self._swapper is not None
        stale = False
        for path, text in request.get("files", {}).items():
            place = os.path.join(self._server.root, path)
            try:
                stale |= self._swapper.swap(place, self._sources[path], text, bool(request.get("hasty")))
            except SyntaxError as error:
                emit({"e": "broken", "error": "SyntaxError", "message": str(error)})
                return
            except (swap.NotSwappable, ValueError) as error:
                emit({"e": "unswappable", "message": str(error)})
                return
        if stale:
            emit({"e": "stale"})
        missing = [node for node in request["nodes"] if node not in self._items]
        if missing:
            emit({"e": "unswappable", "message": f"not collected: {missing[0]}"})
            return
        self._run([self._items[node] for node in request["nodes"]], request, emit)

    def _run(self, items: list[Any], request: Request, emit: plugin.Emit) -> None:
        lines = collector(self._server.repository) if request.get("lines") else None
        self._events.begin(emit, lines, request.get("alarm", 0.0))
        session = items[0].session
        # A failure ends the run once so many tests ran; 0 for all of them.
        failed, stop = False, request.get("stop", 0)
        for number, (item, following) in enumerate(zip(items, [*items[1:], None]), 1):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            failed |= self._events.failed
            if stop and failed and number >= stop:
                return
            if session.shouldstop or session.shouldfail:
                return
        sys.stdout.flush()


def _brief(excinfo: Any, style: Any = None) -> str:
    """For pytest's own account of a failure, which nobody reads here: to write it out takes longer than most tests."""
    return str(excinfo.typename)
