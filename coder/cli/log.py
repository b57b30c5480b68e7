"""`coder log`."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer

from coder.cli.display import plain
from coder.cli.options import HERE, Project, open_journal


def log(
    context: typer.Context,
    path: Project = HERE,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the changes made here, oldest first. The last one that is "done" is what `coder undo` takes back."""
    from rich.table import Table
    from rich.text import Text

    environment = context.obj
    entries = open_journal(environment, path, quiet=as_json).entries()
    if as_json:
        for entry in entries:
            environment.stdout.write(json.dumps(asdict(entry)) + "\n")
        return
    if not entries:
        environment.tell("no changes yet")
        return
    table = Table(box=None, pad_edge=False)
    for heading in "id", "when", "state", "what", "files":
        table.add_column(heading)
    for entry in entries:
        when = datetime.fromtimestamp(entry.time).astimezone().strftime("%Y-%m-%d %H:%M")
        row = entry.id, when, entry.state, entry.note, ", ".join(entry.paths)
        table.add_row(*(Text(plain(cell)) for cell in row))
    environment.output.print(table)
