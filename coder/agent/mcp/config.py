"""The user's MCP servers: `mcp.toml` in the user's own configuration folder. No project can name one.

[servers.notes]
command = ["notes-server", "--stdio"]
env = { NOTES_FOLDER = "/srv/notes" }
allow = ["search"]            # tools that need no asking

[servers.issues]
url = "https://issues.example.org/mcp"
token_variable = "ISSUES_TOKEN"
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coder.agent.approvals import Request
from coder.exit_status import ExitStatus
from coder.failure import Failure

FILE = "mcp.toml"
_NAME = re.compile(r"[A-Za-z0-9-]{1,32}")
_FIELDS = {"command": list, "env": dict, "url": str, "token_variable": str, "allow": list}


@dataclass(frozen=True)
class Server:
    """A command to start and talk to over its stdin and stdout, or a URL. `token_variable` names the variable of the
    user's environment that holds the bearer token; `allow` the tools that may be called without asking."""

    name: str
    command: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str = ""
    token_variable: str = ""
    allow: tuple[str, ...] = ()

    def request(self) -> Request:
        """What has to be approved before it is started: everything that is written about it."""
        shown = " ".join(self.command) or self.url
        return Request("server", f"{self.name} ({shown})", asdict(self))


def load_servers(config: Path) -> list[Server]:
    """Raises Failure with USAGE for a file that says something else than servers."""
    path = config / FILE
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(ExitStatus.USAGE, f"{path} is not valid TOML: {error}") from None
    servers = data.get("servers", {})
    if set(data) - {"servers"} or not isinstance(servers, dict):
        raise Failure(ExitStatus.USAGE, f"{path} may hold tables [servers.NAME] and nothing else")
    return [_server(name, fields, path) for name, fields in servers.items()]


def _server(name: str, fields: Any, path: Path) -> Server:
    def wrong(what: str) -> Failure:
        return Failure(ExitStatus.USAGE, f"server {name!r} in {path}: {what}")

    if not _NAME.fullmatch(name):
        raise wrong("a name has letters, digits and hyphens")
    if not isinstance(fields, dict) or set(fields) - set(_FIELDS):
        raise wrong(f"it may hold {', '.join(_FIELDS)}")
    for key, value in fields.items():
        texts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else [value]
        if not isinstance(value, _FIELDS[key]) or not all(isinstance(text, str) for text in texts):
            raise wrong(f"{key} is of the wrong kind")
    if bool(fields.get("command")) == bool(fields.get("url")):
        raise wrong("it needs a command or a url, and not both")
    program = next(iter(fields.get("command", ())), "")
    if "/" in program and not program.startswith("/"):
        raise wrong(f"{program!r} depends on where it is started: write its whole path, or its bare name")
    return Server(
        name,
        tuple(fields.get("command", ())),
        tuple(sorted(fields.get("env", {}).items())),
        fields.get("url", ""),
        fields.get("token_variable", ""),
        tuple(fields.get("allow", ())),
    )
