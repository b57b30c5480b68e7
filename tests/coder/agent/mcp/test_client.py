"""Our client and approvals against a small server over stdio and HTTP."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coder.agent.mcp.client import Connections, McpTool
from coder.agent.mcp.config import Server, load_servers
from coder.exit_status import ExitStatus
from coder.failure import Failure
from model.chat import Tool
from tests.coder.agent.scripted import call, calls, finish

TINY = str(Path(__file__).parent / "tiny_server.py")


def configure(coder, **fields) -> None:
    fields |= {f"env.{name}": value for name, value in fields.pop("env", {}).items()}
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


@contextmanager
def over_http(*token: str) -> Iterator[str]:
    """The URL of a small server of its own; with a token it wants to be sent that."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, TINY, str(port), *token], stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def test_tools_over_http(coder) -> None:
    with over_http() as url:
        configure(coder, url=url, allow=["add"])
        done = coder.do("add", script=[call("tiny__add", a=1, b=2), finish("added")], answers="y\n")
    assert done.status == 0 and "3" in coder.server.results()[0], done.stderr


def test_a_token_is_sent_and_has_to_be_there(coder) -> None:
    with over_http("sesame") as url:
        configure(coder, url=url, token_variable="TINY_TOKEN", allow=["add"])
        without = coder.do("add", script=[finish()], answers="y\n")
        coder.variables["TINY_TOKEN"] = "open"
        wrong = coder.do("add", script=[finish()], answers="y\n")
        coder.variables["TINY_TOKEN"] = "sesame"
        done = coder.do("add", script=[call("tiny__add", a=1, b=2), finish("added")], answers="y\n")
    assert "tiny is left out: the variable TINY_TOKEN is not set" in without.stderr
    assert "tiny is left out: it does not answer" in wrong.stderr
    assert done.status == 0 and "3" in coder.server.results()[0], done.stderr


def test_a_server_that_wants_a_token_may_be_silent_for_a_while(tmp_path, monkeypatch) -> None:
    import mcp.client.streamable_http

    made = []

    def note(url, http_client) -> None:
        made.append(http_client)

    monkeypatch.setattr(mcp.client.streamable_http, "streamable_http_client", note)
    with Connections(tmp_path, {"T": " sesame\n"}) as connections:
        connections._transport(Server("tiny", url="http://127.0.0.1:9/mcp", token_variable="T"))
        (client,) = made
        assert client.headers["authorization"] == "Bearer sesame" and client.timeout.read > 60
        assert not client.is_closed
    assert client.is_closed


def test_a_server_does_not_start_in_the_project(coder, tmp_path, monkeypatch) -> None:
    """Python looks for the module of `-m` in the current folder first."""
    (coder.project / "tiny_server.py").write_text(f"open({str(tmp_path / 'owned')!r}, 'w')\n")
    monkeypatch.chdir(coder.project)
    command, path = [sys.executable, "-m", "tiny_server"], str(Path(TINY).parent)
    configure(coder, command=command, env={"PYTHONPATH": path}, allow=["add"])
    done = coder.do("add", script=[call("tiny__add", a=1, b=2), finish("added")], answers="y\n")
    assert not (tmp_path / "owned").exists()
    assert done.status == 0 and "3" in coder.server.results()[0], done.stderr


def test_nothing_in_a_call_can_hide_another_part_of_it() -> None:
    tool = McpTool(Tool("tiny__add"), "add", Server("tiny"), None, None)
    shown = tool.request({"a\x1b[2J": 1, "b\u202e": "x\r"}).shown
    assert shown == "tiny__add({'a\\x1b[2J': 1, 'b\\u202e': 'x\\r'})"


def test_a_server_is_approved_once_and_again_when_anything_about_it_changes(coder, tmp_path) -> None:
    def asked(**fields) -> bool:
        configure(coder, command=[sys.executable, TINY, *fields.pop("more", [])], **fields)
        done = coder.do("go", script=[finish()], answers="a\n")
        return "Start the MCP server tiny" in done.stderr

    assert asked()
    assert not asked()
    assert asked(env={"B": "1"})
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
        "[servers.a]\ncommand = ['./server']",
        "[servers.a]\ncommand = ['node_modules/.bin/server', '--stdio']",
        "[",
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text) -> None:
    (tmp_path / "mcp.toml").write_text(text)
    with pytest.raises(Failure) as failure:
        load_servers(tmp_path)
    assert failure.value.status is ExitStatus.USAGE
