"""Our server, driven by the official client: in-process, and once as a program of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from types import SimpleNamespace

import pytest
from mcp import Client, StdioServerParameters

from coder.agent.mcp.server import build
from coder.cli.mcp import offers
from coder.environment import Environment
from model.chat import Text
from tests.coder.agent.scripted import call, finish

CHECK = "test_command = \"python3 -c 'from pkg.a import one; assert one() == 1'\"\n"


@pytest.fixture
def environment(coder, project):
    (coder.home / "config").mkdir(parents=True)
    (coder.home / "config" / "config.toml").write_text(CHECK)
    variables = {"CODER_ENDPOINT": coder.server.url, "CODER_ENDPOINT_MODEL": "scripted"}
    return Environment(
        variables=variables,
        cwd=project,
        config=coder.home / "config",
        state=coder.home / "state",
        parts=coder.parts,
    )


def ask(server, name, **arguments):
    async def asked():
        async with Client(server) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(asked())


def test_do_returns_a_diff_and_writes_nothing(coder, environment) -> None:
    before = coder.tree()
    coder.server.script = [call("write", path="new.txt", text="1\n"), finish("wrote")]
    result = ask(build(offers(environment, coder.project)), "do", request="write").structured_content
    assert result["status"] == "finished" and "+++ b/new.txt" in result["diff"] and "passes 1 test" in result["tests"]
    assert coder.tree() == before


def test_prove_says_what_the_tests_say(coder, environment) -> None:
    (coder.project / "pkg" / "a.py").write_text("def one():\n    return 3\n")
    server = build(offers(environment, coder.project))
    good = ask(server, "prove", files={"pkg/a.py": "def one():\n    return 1\n"}).structured_content
    assert good["status"] == "proved" and good["failing_before"]
    bad = ask(server, "prove", files={"pkg/a.py": "def one():\n    return 2\n"}).structured_content
    assert bad["status"] == "not_proved"
    outside = ask(server, "prove", files={"../a.py": "x"}).structured_content
    assert outside["status"] in ("usage", "conflict")


def test_fix_and_complete(coder, environment) -> None:
    tools = offers(environment, coder.project)
    assert ask(build(tools), "fix", use_model=False).structured_content["status"] == "nothing_failing"
    tools.open_chat = lambda engine: SimpleNamespace(
        complete=lambda prefix, suffix, options: [Text(prefix[::-1]), Text(suffix)]
    )
    result = ask(build(tools), "complete", prefix="ab", suffix="c")
    assert result.content[0].text == "bac"


def test_as_a_program(coder, environment) -> None:
    program = "from coder.cli.main import run; run()"
    variables = {"XDG_CONFIG_HOME": str(coder.home), "XDG_STATE_HOME": str(coder.home), **environment.variables}
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", program, "mcp", str(coder.project)], env=variables, cwd=os.getcwd()
    )

    async def listed():
        async with Client(parameters) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    assert set(tools) == {"fix", "prove", "complete", "do"}
    assert tools["prove"].input_schema["required"] == ["files"]
