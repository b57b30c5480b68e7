"""Our client and approvals against a small server over stdio and HTTP."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coder.agent.mcp.config import load_servers
from coder.exit_status import ExitStatus
from coder.failure import Failure
from tests.coder.agent.scripted import call, calls, finish

TINY = str(Path(__file__).parent / "tiny_server.py")


def configure(coder, **fields) -> None:
    fields |= {"env.A": fields.pop("env")["A"]} if "env" in fields else {}
    lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
    folder = coder.home / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mcp.toml").write_text("[servers.tiny]\n" + "\n".join(lines) + "\n")


def test_tools_over_stdio(coder, monkeypatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "hunter2-hunter2")
    configure(coder, command=[sys.executable, TINY], allow=["variables", "fail"])
    script = [
        calls(
            ("tiny__add", {"a": 2, "b": 40}),
            ("tiny__variables", {}),
            ("tiny__fail", {}),
        ),
        finish("added"),
    ]
    done = coder.do("add", script=script, answers="y\ny\n")
    assert done.status == 0, done.stderr
    added, variables, failed = coder.server.results()
    assert added.startswith("done") and "42" in added
    assert "PATH" in variables and "SERVICE_TOKEN" not in variables
    assert failed.startswith("failed") and "no luck" in failed and "\x1b" not in failed


def test_tools_over_http(coder) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, TINY, str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        configure(coder, url=f"http://127.0.0.1:{port}/mcp", allow=["add"])
        done = coder.do("add", script=[call("tiny__add", a=1, b=2), finish("added")], answers="y\n")
    finally:
        process.kill()
        process.wait()
    assert done.status == 0 and "3" in coder.server.results()[0], done.stderr


def test_a_server_is_approved_once_and_again_when_anything_about_it_changes(coder, tmp_path) -> None:
    def asked(**fields) -> bool:
        configure(coder, command=[sys.executable, TINY, *fields.pop("more", [])], **fields)
        done = coder.do("go", script=[finish()], answers="a\n")
        return "Start the MCP server tiny" in done.stderr

    assert asked()
    assert not asked()
    assert asked(more=["9"])
    assert asked(env={"A": "1"})
    coder.project = tmp_path / "other"
    coder.project.mkdir()
    assert asked()


def test_each_call_is_approved_for_exactly_its_arguments(coder) -> None:
    configure(coder, command=[sys.executable, TINY])
    script = [call("tiny__add", a=1, b=1), call("tiny__add", a=1, b=1), call("tiny__add", a=1, b=2), finish()]
    coder.do("add", script=script, answers="a\na\nn\nenough\n")
    first, second, third = coder.server.results()
    assert first.startswith("done") and second.startswith("done")
    assert third.startswith("refused") and "enough" in third


def test_without_a_user_no_server_is_started(coder) -> None:
    marker = coder.home / "started"
    configure(coder, command=["touch", str(marker)])
    done = coder.do("go", "--json", script=[finish()])
    assert done.status == 0 and not marker.exists()
    assert any(event["type"] == "notice" and "tiny is left out" in event["message"] for event in done.events)


def test_a_server_that_cannot_be_started_is_left_out(coder) -> None:
    configure(coder, command=["no-such-program"])
    done = coder.do("go", script=[finish("went")], answers="y\n")
    assert done.status == 0 and "tiny is left out: it does not answer" in done.stderr


def test_a_project_cannot_name_a_server(coder) -> None:
    for name in ("mcp.toml", ".mcp.json"):
        (coder.project / name).write_text('[servers.evil]\ncommand = ["touch", "/tmp/owned"]\n')
    done = coder.do("go", script=[finish("went")], answers="y\n")
    assert done.status == 0 and "evil" not in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "[servers.a]",
        "[servers.a]\ncommand = 'ls'",
        "[servers.a]\ncommand = ['a']\nurl = 'b'",
        "[servers.a_b]\nurl='c'",
        "[",
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text) -> None:
    (tmp_path / "mcp.toml").write_text(text)
    with pytest.raises(Failure) as failure:
        load_servers(tmp_path)
    assert failure.value.status is ExitStatus.USAGE
