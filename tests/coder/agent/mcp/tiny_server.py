"""A small MCP server, written with the official SDK: over stdio, or over HTTP on the port that is given, there only for
those who send the token if one is given too."""

from __future__ import annotations

import os
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tiny", log_level="ERROR")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def variables() -> str:
    """The names of the variables that the server was given."""
    return " ".join(sorted(os.environ))


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("no luck\x1b[2J")


class Guarded:
    """An application that lets nobody in without the token."""

    def __init__(self, application: Any, token: str) -> None:
        self.application, self.expected = application, f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        from starlette.responses import PlainTextResponse

        if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != self.expected:
            await PlainTextResponse("who are you?", 401)(scope, receive, send)
        else:
            await self.application(scope, receive, send)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        import uvicorn

        uvicorn.run(Guarded(server.streamable_http_app(), sys.argv[2]), port=int(sys.argv[1]), log_level="error")
    elif len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
