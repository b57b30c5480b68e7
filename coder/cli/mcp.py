"""`coder mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from coder.cli.do import Endpoint, Model, Python
from coder.cli.options import HERE, Project, open_engine

if TYPE_CHECKING:
    from coder.agent.mcp.server import Offers
    from coder.engine import Engine
    from coder.environment import Environment
    from model.local_chat import LocalChat


def mcp(
    context: typer.Context,
    path: Project = HERE,
    model: Model = None,
    endpoint: Endpoint = None,
    python: Python = None,
) -> None:
    """Offer fix, prove, complete and do to another assistant, over MCP on stdin and stdout.

    For the one project at PATH. No tool changes its files: each returns a diff.

    Example, in an assistant's configuration: command `coder`, arguments `mcp`, `/path/to/project`.
    """
    from coder.agent.mcp.server import build

    build(offers(context.obj, context.obj.cwd / path, model=model, endpoint=endpoint, python=python)).run("stdio")


def offers(environment: Environment, root: Path, **typed: Any) -> Offers:
    """The tools for the project at `root`. Raises Failure where it cannot be opened."""
    from coder.agent.approvals import Approvals, Ask
    from coder.agent.mcp.server import Offers
    from coder.agent.models import choose

    def engine() -> Engine:
        return open_engine(environment, root, **typed)

    def chat(opened: Engine) -> LocalChat:
        from model.local_chat import LocalChat

        return LocalChat(*opened.open_model())

    engine()  # what is wrong with the project is said at once
    return Offers(
        engine,
        lambda opened: choose(opened.settings, environment.variables, 600.0),
        lambda opened: Approvals(opened.state, opened.repository.root, Ask.outside),
        chat,
        dict(environment.variables),
    )
