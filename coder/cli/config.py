"""`coder config`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from coder.cli.display import plain
from coder.cli.options import HERE, Project


def config(
    context: typer.Context,
    path: Project = HERE,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show all settings, their values, and where each comes from.

    Your own settings are in config.toml in your configuration folder (its path is shown). A project's coder.toml counts
    once you ran `coder trust`. Example of either: `timeout = 60`.
    """
    from rich.table import Table
    from rich.text import Text

    from coder.config import USER_FILE, help_of, load, names
    from coder.failure import Failure
    from coder.trust import Trust

    environment = context.obj
    root = environment.cwd / path
    trust = Trust(environment.state_dir)
    try:
        settings = load(environment.config_dir, trust, root, environment.tell)
    except Failure as failure:
        environment.report(failure)
        settings = load(environment.config_dir, trust, None)
    if as_json:
        values = {name: {"value": getattr(settings, name), "source": settings.source(name)} for name in names()}
        environment.stdout.write(json.dumps(values) + "\n")
        return
    table = Table(box=None, pad_edge=False)
    for heading in "setting", "value", "from", "meaning":
        table.add_column(heading)
    for name in names():
        row = name, json.dumps(getattr(settings, name)), settings.source(name), help_of(name)
        table.add_row(*(Text(plain(cell)) for cell in row))
    environment.output.print(table)
    environment.tell(f"your settings: {environment.config_dir / USER_FILE}")
