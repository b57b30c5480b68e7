"""Our client against servers that others wrote, on two SDKs: one from PyPI, two from npm. Installed under build/."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.coder.agent.scripted import call, calls, finish

ROOT = Path(__file__).parents[4]
BUILD = ROOT / "build" / "mcp"
NPM = ("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python_server() -> str:
    """mcp-server-time, in an environment of its own."""
    program = BUILD / "time" / "bin" / "mcp-server-time"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(BUILD / "time")], check=True)
        subprocess.run([str(BUILD / "time/bin/pip"), "install", "-q", "mcp-server-time"], check=True)
    return str(program)


@pytest.fixture(scope="module")
def node_servers() -> Path:
    if shutil.which("npm") is None:
        pytest.skip("these servers need node and npm")
    programs = BUILD / "node" / "node_modules" / ".bin"
    if not (programs / "mcp-server-filesystem").exists():
        (BUILD / "node").mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *NPM], cwd=BUILD / "node", check=True)
    return programs


def configure(coder, name: str, command: list[str], allow: list[str]) -> None:
    folder = coder.home / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mcp.toml").write_text(
        f"[servers.{name}]\ncommand = {json.dumps(command)}\nallow = {json.dumps(allow)}\n"
    )


def test_a_python_server(coder, python_server) -> None:
    configure(coder, "time", [python_server], ["convert_time"])
    wanted = {"source_timezone": "Europe/Berlin", "time": "16:30", "target_timezone": "Asia/Tokyo"}
    script = [calls(("time__convert_time", wanted), ("time__convert_time", wanted | {"time": "never"})), finish()]
    done = coder.do("convert", script=script, answers="y\n")
    assert done.status == 0, done.stderr
    converted, wrong = coder.server.results()
    assert converted.startswith("done") and "Asia/Tokyo" in converted and ":30" in converted
    assert wrong.startswith("failed")


def test_a_node_server_with_all_kinds_of_results(coder, node_servers) -> None:
    configure(coder, "all", [str(node_servers / "mcp-server-everything")], ["echo", "get-sum", "get-tiny-image"])
    script = [
        calls(
            ("all__echo", {"message": "to and fro"}),
            ("all__get-sum", {"a": 2, "b": 40}),
            ("all__get-tiny-image", {}),
            ("all__get-env", {}),
        ),
        finish(),
    ]
    done = coder.do("try them", script=script, answers="y\nn\nnot that\n")
    assert done.status == 0, done.stderr
    echoed, added, image, asked = coder.server.results()
    assert "to and fro" in echoed and "42" in added and "(image)" in image
    assert asked.startswith("refused") and "not that" in asked


def test_a_node_server_of_files_stays_in_its_folder(coder, node_servers, tmp_path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("remember the milk\n")
    command = [str(node_servers / "mcp-server-filesystem"), str(folder)]
    configure(coder, "files", command, ["read_text_file"])
    script = [
        call("files__read_text_file", path=str(folder / "a.txt")),
        call("files__read_text_file", path="/etc/hostname"),
        finish(),
    ]
    done = coder.do("read the note", script=script, answers="y\n")
    assert done.status == 0, done.stderr
    inside, outside = coder.server.results()
    assert inside.startswith("done") and "remember the milk" in inside
    assert outside.startswith("failed") and "denied" in outside.casefold()
