"""The extension in a real VS Code: code-server in Chromium, driven as a user would.

Run by `make test-vscode`, which sets up the tools and names their folder in CODER_EDITOR_TOOLS.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.editor

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VSIX = ROOT / "lsp" / "editors" / "vscode" / "coder.vsix"
PICTURE = ROOT / "docs" / "pictures" / "vscode.png"
PREVIEW = PICTURE.with_name("vscode_fix.png")
DRIVER = HERE / "vscode" / "drive.mjs"
EXAMPLE = HERE / "vscode" / "example"
QUIET = {
    "editor.wordBasedSuggestions": "off",
    "editor.minimap.enabled": False,
    "editor.autoClosingBrackets": "never",
    "editor.autoIndent": "none",
    "editor.fontSize": 15,
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
}


def tools() -> Path:
    folder = os.environ.get("CODER_EDITOR_TOOLS")
    assert folder, "run this by `make test-vscode`"
    return Path(folder)


def environment() -> dict[str, str]:
    quiet = {"EXTENSIONS_GALLERY": "{}"}  # no look into the market place
    return {**os.environ, **quiet, "PATH": f"{tools() / 'python' / 'bin'}{os.pathsep}{os.environ['PATH']}"}


@contextmanager
def code_server(folder: Path, server: list[str]) -> Iterator[str]:
    """The address of a VS Code with the packaged extension, which starts `server`."""
    settings = folder / "user" / "User" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({**QUIET, "coder.server": server}))
    # What is set for the machine is read from a file of its own where the editor runs apart from its window.
    machine = folder / "user" / "Machine" / "settings.json"
    machine.parent.mkdir(parents=True)
    machine.write_text(json.dumps({"coder.server": server}))
    program = str(tools() / "node" / "bin" / "code-server")
    places = [
        "--config",
        str(folder / "config.yaml"),
        "--user-data-dir",
        str(folder / "user"),
        "--extensions-dir",
        str(folder / "extensions"),
    ]
    subprocess.run([program, *places, "--install-extension", str(VSIX)], check=True, env=environment())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    options = ["--auth", "none", "--bind-addr", address, "--disable-telemetry", "--disable-update-check"]
    command = [program, *places, *options, "--disable-workspace-trust"]
    process = subprocess.Popen(command, env=environment(), start_new_session=True)
    try:
        end = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://{address}/healthz", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < end, "code-server did not start"
                time.sleep(0.3)
        yield f"http://{address}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def drive(
    address: str, project: Path, file: str, text: str = "", picture: Path | None = None, *, fix: bool = False
) -> dict[str, Any]:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert browser, "no chromium: install it from your distribution"
    order = {
        "library": str(tools() / "node" / "lib" / "node_modules" / "playwright-core"),
        "browser": browser,
        "url": f"{address}/?folder={project}",
        "file": file,
        "text": text,
        "picture": str(picture) if picture else None,
        "fix": fix,
    }
    command = ["node", str(DRIVER), json.dumps(order)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=500, cwd=project.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_ghost_text_is_shown_and_inserted_exactly(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "shop.py").write_text("# ß 😀\n")
    scripted = [sys.executable, str(HERE / "scripted_server.py"), str(HERE / "script.json")]
    with code_server(tmp_path, scripted) as address:
        seen = drive(address, project, "shop.py", "é😀 = 1; total = ")
    assert seen["ghost"] == "price * count"
    assert seen["after"] == ["# ß 😀", "é😀 = 1; total = price * count"]


def test_a_fix_is_previewed_before_anything_changes(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    text = "def add(a, b):\n    return a - b\n\n\ndef test_add():\n    assert add(1, 2) == 3"
    (project / "test_add.py").write_text(text)
    scripted = [sys.executable, str(HERE / "scripted_server.py"), str(HERE / "script.json")]
    with code_server(tmp_path, scripted) as address:
        seen = drive(address, project, "test_add.py", picture=PREVIEW, fix=True)
    assert seen["preview"] == ["test_add.py", "    return a - ba + b"]  # the old text, struck out, and the new one
    assert "    return a - b" in seen["before"]
    assert "    return a + b" in seen["after"]


def test_the_real_server_completes_and_a_picture_is_taken(tmp_path: Path) -> None:
    project = tmp_path / "shapes"
    shutil.copytree(EXAMPLE, project)
    coder = str(Path(sys.executable).with_name("coder"))
    with code_server(tmp_path, [coder, "lsp"]) as address:
        seen = drive(address, project, "shapes.py", (EXAMPLE / "typed.txt").read_text().rstrip("\n"), PICTURE)
    first, *_ = seen["ghost"].split("\n")
    assert first.strip()
    assert any(first.strip() in line for line in seen["after"])
    assert PICTURE.stat().st_size > 10_000
