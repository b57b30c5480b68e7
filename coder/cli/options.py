"""Arguments that several commands share, and the settings and the engine that they start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coder import events
from coder.config import COMMAND_LINE, Settings, load
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.trust import Trust, covered_files

if TYPE_CHECKING:
    from coder.engine import Engine

HERE = Path(".")
Project = Annotated[
    Path, typer.Argument(help="The project: the folder that its tests are run from.", show_default="here")
]


def settings_for(environment: Environment, root: Path) -> Settings:
    """The settings for a project. Asks a user who is there whether to trust its files, else raises UNTRUSTED."""
    trust = Trust(environment.state_dir)
    try:
        return load(environment.config_dir, trust, root, environment.tell)
    except Failure as failure:
        if failure.status is not ExitStatus.UNTRUSTED or not environment.interactive:
            raise
        environment.report(failure)
        for name in covered_files(root):
            environment.tell(f"--- {name}\n{(root / name).read_text('utf-8', 'replace').rstrip()}")
        if environment.ask("Trust these files?", {"y": "yes", "n": "no"}) != "y":
            raise
        trust.grant(root)
        return load(environment.config_dir, trust, root, environment.tell)


def open_engine(
    environment: Environment, path: Path, listener: events.Listener = events.ignore, **typed: Any
) -> Engine:
    """The engine for the project at `path`; `typed` are settings from the command line. Raises Failure."""
    from coder.engine import Engine
    from coder.repository import Repository

    repository = Repository.open(path)
    settings = settings_for(environment, repository.root).updated(typed, COMMAND_LINE)
    return Engine.of(repository, settings, environment, listener, environment.cwd if typed.get("python") else None)
