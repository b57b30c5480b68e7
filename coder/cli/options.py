"""Arguments that several commands share, and the settings that they all start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coder.config import Settings, load
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.trust import Trust, covered_files

HERE = Path(".")
Project = Annotated[
    Path, typer.Argument(help="The project: the folder that its tests are run from.", show_default="here")
]


def settings_for(environment: Environment, root: Path) -> Settings:
    """The settings for a project. Asks a user who is there whether to trust its files, else raises UNTRUSTED."""
    trust = Trust(environment.state_dir)
    try:
        return load(environment.config_dir, trust, root)
    except Failure as failure:
        if failure.status is not ExitStatus.UNTRUSTED or not environment.interactive:
            raise
        environment.report(failure)
        for name in covered_files(root):
            environment.tell(f"--- {name}\n{(root / name).read_text('utf-8', 'replace').rstrip()}")
        if environment.ask("Trust these files?", {"y": "yes", "n": "no"}) != "y":
            raise
        trust.grant(root)
        return load(environment.config_dir, trust, root)
