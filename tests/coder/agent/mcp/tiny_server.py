"""A small MCP server, written with the official SDK: over stdio, or over HTTP on the port that is given."""

from __future__ import annotations

import os
import sys

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


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
