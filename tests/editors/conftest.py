"""A real Neovim with the plugin, joined to the scripted server."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pynvim
import pytest

HERE = Path(__file__).resolve().parent
PLUGIN = HERE.parent.parent / "lsp" / "editors" / "neovim"
SCRIPTED = [sys.executable, str(HERE / "scripted_server.py"), str(HERE / "script.json")]


class Editor:
    """One Neovim: what is typed into it, and what can be read back. `options`: of the plugin, as Lua."""

    def __init__(self, folder: Path, options: str = "{}", server: list[str] = SCRIPTED, patience: float = 30) -> None:
        executable = Path(sys.executable).with_name("nvim")
        path = str(executable) if executable.exists() else shutil.which("nvim")
        assert path, "no nvim: install the development dependencies"
        self.folder = folder
        self.patience = patience
        own = ["env", f"XDG_STATE_HOME={folder / 'state'}"]  # the logs of tests are not the user's
        flags = ["--embed", "--headless", "--clean", "-n", "--cmd", f"cd {folder}"]
        self.nvim = pynvim.attach("child", argv=[*own, path, *flags])
        self.lua("vim.opt.runtimepath:prepend(...)", str(PLUGIN))
        self.lua(
            f"require('coder').setup(vim.tbl_extend('force', {{ cmd = ..., debounce_ms = 5 }}, {options}))",
            server,
        )

    def lua(self, code: str, *args: Any) -> Any:
        return self.nvim.exec_lua(code, *args)

    def open(self, name: str, text: str = "") -> None:
        """A file of its own in normal mode, with the server attached."""
        path = self.folder / name
        path.write_bytes(text.encode())
        self.nvim.input("<C-\\><C-n>")
        self.nvim.command(f"edit! {path}")
        self.until(lambda: self.lua("local c = require('coder').client(); return c ~= nil and c.initialized"))

    def type(self, keys: str) -> None:
        """Keys as a user presses them, one after the other."""
        self.nvim.input(keys)

    @property
    def lines(self) -> list[str]:
        return self.nvim.current.buffer[:]

    @property
    def ghost(self) -> str | None:
        return self.lua("return require('coder.ghost').text()")

    @property
    def screen(self) -> list[str]:
        """The lines of the screen as they are drawn, ghost text included."""
        return self.lua(
            "vim.cmd.redraw(); local all = {} for row = 1, vim.o.lines do local line = {}"
            " for col = 1, vim.o.columns do line[col] = vim.fn.screenstring(row, col) end"
            " all[row] = (table.concat(line):gsub('%s+$', '')) end return all"
        )

    @property
    def log(self) -> list[list[Any]]:
        return self.ask("scripted/log", {})

    def ask(self, method: str, params: Any) -> Any:
        code = "local c = require('coder').client(); return c:request_sync(...).result"
        return self.lua(code, method, params, 10000)

    @property
    def servers_text(self) -> str:
        return self.ask("scripted/text", {"uri": self.lua("return vim.uri_from_bufnr(0)")})

    def until(self, holds: Callable[[], Any]) -> Any:
        """What `holds` answers as soon as it is true."""
        end = time.monotonic() + self.patience
        while not (found := holds()):
            assert time.monotonic() < end, f"waited in vain; lines {self.lines}, ghost {self.ghost!r}"
            time.sleep(0.01)
        return found

    def close(self) -> None:
        with contextlib.suppress(EOFError, OSError):  # it leaves without an answer
            self.nvim.command("qall!")
        self.nvim.close()


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    started = Editor(tmp_path_factory.mktemp("project"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def editor_utf16(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor that counts columns in UTF-16 units, as most do."""
    started = Editor(
        tmp_path_factory.mktemp("project16"),
        "{ capabilities = { general = { positionEncodings = { 'utf-16' } } } }",
    )
    yield started
    started.close()
