"""`coder undo` and `coder redo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coder.cli.display import print_diff
from coder.cli.options import HERE, Project, open_journal
from coder.environment import Environment
from coder.failure import Conflict

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the diff, change nothing.")]


def undo(context: typer.Context, path: Project = HERE, dry_run: DryRun = False) -> None:
    """Take the latest change back. Repeat it to go further.

    Refuses when a file was edited since, and then changes nothing. Works without git, and leaves git alone.

    In a folder that has no changes of its own, those of the nearest folder above that has some, in the
    same git repository, are meant.

    Examples: `coder undo --dry-run` shows what would happen; `coder redo` makes the change again.
    """
    _step(context.obj, path, dry_run, forward=False)


def redo(context: typer.Context, path: Project = HERE, dry_run: DryRun = False) -> None:
    """Make the change that was undone last again."""
    _step(context.obj, path, dry_run, forward=True)


def _step(environment: Environment, path: Path, dry_run: bool, forward: bool) -> None:
    from coder.patch import unified_diff

    journal = open_journal(environment, path)
    if dry_run:
        entries = [entry for entry in journal.entries() if (entry.state == "undone") == forward]
        if not entries:
            raise Conflict(f"nothing to {'redo' if forward else 'undo'} here", "See `coder log`.")
        changes = journal.changes((entries[0] if forward else entries[-1]).id)
        print_diff(environment, unified_diff(changes if forward else [change.reversed for change in changes]))
        return
    entry = journal.redo() if forward else journal.undo()
    environment.tell(f"{'redone' if forward else 'undone'}: {entry.note} ({', '.join(entry.paths)})")
