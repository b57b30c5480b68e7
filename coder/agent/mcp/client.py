"""A client for MCP servers over stdio and HTTP, on the official SDK; its calls block. Their tools stand beside ours.

A server runs outside of the jail, as the user: that is why it is approved by hash, and each call of it too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder.agent.approvals import Request
from coder.agent.mcp.config import Server
from coder.agent.observation import Observation, Standing
from coder.exit_status import ExitStatus
from coder.failure import Failure
from sandbox.text import clean

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import Client

    from model.chat import Tool

START_S = 30.0
MOST_TOOLS = 64
_DESCRIPTION = 1_000


@dataclass(frozen=True)
class McpTool:
    """One tool of one server, under the name `server__tool`."""

    tool: Tool
    name: str
    server: Server
    client: Client
    portal: BlockingPortal

    def request(self, arguments: Mapping[str, Any]) -> Request | None:
        if self.name in self.server.allow:
            return None
        made = dict(arguments)
        return Request("tool", f"{self.tool.name}({made!r})", [asdict(self.server), self.name, made])

    def call(self, arguments: Mapping[str, Any], seconds: float) -> Observation:
        """Whatever the server does wrong is a failed observation."""
        try:
            result = self.portal.call(self.client.call_tool, self.name, dict(arguments), seconds)
        except Exception as error:
            return Observation(Standing.FAILED, f"the server failed: {_reason(error)}")
        texts = [getattr(part, "text", f"({part.type})") for part in result.content]
        return Observation(Standing.FAILED if result.is_error else Standing.DONE, clean("\n".join(texts)))


class Connections:
    """The servers of one task, started in `folder`, with tokens from `variables`. A context manager that ends them."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self._folder, self._variables = folder, variables
        self._stack = ExitStack()

    def __enter__(self) -> Connections:
        from anyio.from_thread import start_blocking_portal

        self._portal = self._stack.enter_context(start_blocking_portal())
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def open(self, server: Server) -> list[McpTool]:
        """Starts or reaches the server. Its tools. Raises Failure with MODEL_FAILED when it does not answer, with USAGE
        when its token is not there."""
        from mcp import Client

        from model.chat import Tool

        try:
            client = Client(self._transport(server), read_timeout_seconds=START_S)
            self._stack.enter_context(self._portal.wrap_async_context_manager(client))
            listed = self._portal.call(client.list_tools).tools[:MOST_TOOLS]
        except Failure:
            raise
        except Exception as error:
            raise Failure(ExitStatus.MODEL_FAILED, f"it does not answer: {_reason(error)}") from error
        return [
            McpTool(
                Tool(
                    f"{server.name}__{re.sub(r'[^A-Za-z0-9_-]', '_', one.name)}"[:64],
                    clean(one.description or "")[:_DESCRIPTION],
                    one.input_schema,
                ),
                one.name,
                server,
                client,
                self._portal,
            )
            for one in listed
        ]

    def _transport(self, server: Server) -> Any:
        from mcp import StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        if server.command:
            # Besides what is written here, a server gets HOME, PATH and the like, and none of the user's tokens. It is
            # not started in the project: `python -m` and `npx` look for modules where they are started, and what the
            # project holds would run outside of the jail.
            parameters = StdioServerParameters(
                command=server.command[0], args=list(server.command[1:]), env=dict(server.env), cwd=self._folder
            )
            return stdio_client(parameters, self._stack.enter_context(open(os.devnull, "w")))
        if not server.token_variable:
            return server.url
        token = self._variables.get(server.token_variable, "").strip()
        if not token:
            raise Failure(ExitStatus.USAGE, f"the variable {server.token_variable} is not set")
        client = create_mcp_http_client({"Authorization": f"Bearer {token}"})
        self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        return streamable_http_client(server.url, http_client=client)


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return clean(str(error)) or type(error).__name__
