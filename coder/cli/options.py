"""Arguments that several commands share, and the settings and the engine that they start from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coder import events
from coder.config import COMMAND_LINE, Settings, load
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.trust import Trust, covered_files
from sandbox.text import visible

if TYPE_CHECKING:
    from coder.engine import Engine
    from coder.journal import Journal

HERE = Path(".")
Project = Annotated[
    Path, typer.Argument(help="The project: the folder that its tests are run from.", show_default="here")
]


def settings_for(environment: Environment, root: Path, may_ask: bool = True) -> Settings:
    """The settings for a project. A user who is there is asked whether to trust its files, if `may_ask`; else
    raises UNTRUSTED."""
    trust = Trust(environment.state_dir)
    try:
        return load(environment.config_dir, trust, root, environment.tell)
    except Failure as failure:
        if failure.status is not ExitStatus.UNTRUSTED or not (may_ask and environment.interactive):
            raise
        environment.report(failure)
        files = covered_files(root)
        for name, version in files.items():
            environment.tell(f"--- {name}\n{visible(version.data).rstrip()}")
        if environment.ask("Trust these files?", {"y": "yes", "n": "no"}) != "y":
            raise
        trust.grant(root, files)  # what was shown, whatever the files hold by now
        return load(environment.config_dir, trust, root, environment.tell)


def open_engine(
    environment: Environment,
    path: Path,
    listener: events.Listener = events.ignore,
    may_ask: bool = True,
    **typed: Any,
) -> Engine:
    """The engine for the project at `path`; `typed` are settings from the command line. `may_ask`: see `settings_for`.
    Raises Failure."""
    from coder.engine import Engine
    from coder.repository import Repository

    repository = Repository.open(path)
    settings = settings_for(environment, repository.root, may_ask).updated(typed, COMMAND_LINE)
    return Engine.of(repository, settings, environment, listener, environment.cwd if typed.get("python") else None)


def open_journal(environment: Environment, path: Path, quiet: bool = False) -> Journal:
    """The journal of the project that `path` is in. Where that is a folder above, it is named, unless `quiet`."""
    from coder.journal import journal_of

    journal = journal_of(environment.cwd / path, environment.state_dir)
    if not quiet and journal.root != Path(os.path.realpath(environment.cwd / path)):
        environment.tell(f"in {journal.root}:")
    return journal
