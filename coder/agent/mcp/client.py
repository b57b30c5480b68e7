"""A client for MCP servers over stdio and HTTP, on the official SDK; its calls block. Their tools stand beside ours.

A server runs outside of the jail, as the user: that is why it is approved by hash, and each call of it too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
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
        words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        return Request("tool", f"{self.tool.name}({words})", [asdict(self.server), self.name, dict(arguments)])

    def call(self, arguments: Mapping[str, Any], seconds: float) -> Observation:
        """Whatever the server does wrong is a failed observation."""
        try:
            result = self.portal.call(self.client.call_tool, self.name, dict(arguments), seconds)
        except Exception as error:
            return Observation(Standing.FAILED, f"the server failed: {error or type(error).__name__}")
        texts = [getattr(part, "text", f"({part.type})") for part in result.content]
        return Observation(Standing.FAILED if result.is_error else Standing.DONE, clean("\n".join(texts)))


class Connections:
    """The servers of one task. A context manager that ends them."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> Connections:
        from anyio.from_thread import start_blocking_portal

        self._portal = self._stack.enter_context(start_blocking_portal())
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def open(self, server: Server) -> list[McpTool]:
        """Starts or reaches the server. Its tools. Raises Failure with MODEL_FAILED when it does not answer."""
        from mcp import Client

        from model.chat import Tool

        client = Client(self._transport(server), read_timeout_seconds=START_S)
        try:
            self._stack.enter_context(self._portal.wrap_async_context_manager(client))
            listed = self._portal.call(client.list_tools).tools[:MOST_TOOLS]
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

        if server.command:
            # Besides what is written here, a server gets HOME, PATH and the like, and none of the user's tokens.
            parameters = StdioServerParameters(
                command=server.command[0], args=list(server.command[1:]), env=dict(server.env)
            )
            return stdio_client(parameters, self._stack.enter_context(open(os.devnull, "w")))
        if not server.token_variable:
            return server.url
        import httpx2

        headers = {"Authorization": f"Bearer {os.environ.get(server.token_variable, '')}"}
        return streamable_http_client(server.url, http_client=httpx2.AsyncClient(headers=headers))


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
