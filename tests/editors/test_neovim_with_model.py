"""The plugin with the real server and the embedded model: typed as a user types, accepted exactly."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from .conftest import HERE, Editor

EXAMPLE = HERE / "vscode" / "example"


@pytest.mark.slow
def test_the_model_completes_and_tab_inserts_what_was_shown(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")  # makes the folder a project: files outside one are not completed
    server = [str(Path(sys.executable).with_name("coder")), "lsp"]
    editor = Editor(tmp_path, "{ debounce_ms = 40 }", server, patience=180)
    try:
        editor.lua(
            "heard = ''; vim.api.nvim_create_autocmd('User', { pattern = 'CoderStatus',"
            " callback = function(event) heard = heard .. ' ' .. event.data.state end })"
        )
        editor.open("shapes.py", (EXAMPLE / "shapes.py").read_text())
        editor.until(lambda: "idle" in editor.lua("return heard"))
        editor.lua("vim.bo.indentexpr = ''; vim.bo.autoindent = false")
        editor.type("Go")
        for key in (EXAMPLE / "typed.txt").read_text():
            editor.type({"\n": "<CR>", " ": "<Space>"}.get(key, key))
            time.sleep(0.06)
        ghost = editor.until(lambda: editor.ghost)
        before = "\n".join(editor.lines)
        editor.type("<Tab>")
        editor.until(lambda: "\n".join(editor.lines) == before + ghost)
    finally:
        editor.close()
