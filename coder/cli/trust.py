"""`coder trust`."""

from __future__ import annotations

from typing import Annotated

import typer

from coder.cli.options import HERE, Project
from coder.exit_status import ExitStatus


def trust(
    context: typer.Context,
    path: Project = HERE,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take the trust back.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Only say how things stand; exit 7 when not trusted.")] = False,
) -> None:
    """Let this project's own files (coder.toml, AGENTS.md) set commands, models and the like.

    Look at them first. Trust holds for this folder and these versions of the files: when one changes, say it again.
    Tests need no trust: they run in the sandbox.
    """
    from coder.repository.repository import Repository
    from coder.trust import Standing, Trust

    environment = context.obj
    root = Repository.open(environment.cwd / path).root
    store = Trust(environment.state_dir)
    if revoke:
        environment.tell(f"no longer trusted: {root}" if store.revoke(root) else f"was not trusted: {root}")
        return
    standing = store.standing(root)
    if check or standing is Standing.EMPTY:
        environment.tell(f"{root}: {standing.value}")
        if check and standing in (Standing.UNKNOWN, Standing.CHANGED):
            raise typer.Exit(ExitStatus.UNTRUSTED)
        return
    for name in store.grant(root):
        environment.tell(f"trusted: {root / name}")
