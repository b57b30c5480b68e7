"""Which Python runs a project's tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from coder.exit_status import ExitStatus
from coder.failure import Failure


def find_python(root: Path, base: Path, wanted: str, variables: Mapping[str, str]) -> Path:
    """What the user named, relative to `base`; else the active environment's; else that of an environment in the
    project's folder; else our own. It only ever runs in the sandbox. Links are kept: an environment is found by the
    path of its link.

    Raises Failure when the named one is not there.
    """
    if wanted:
        python = Path(os.path.abspath(base / os.path.expanduser(wanted)))
        if python.is_dir():
            python = python / "bin" / "python"
        if not os.access(python, os.X_OK):
            raise Failure(
                ExitStatus.USAGE, f"no interpreter at {python}", "Name one, or a virtual environment's folder."
            )
        return python
    folders = [root / ".venv", root / "venv"]
    if active := variables.get("VIRTUAL_ENV"):
        folders.insert(0, Path(active))
    for folder in folders:
        python = folder / "bin" / "python"
        if (folder / "pyvenv.cfg").exists() and os.access(python, os.X_OK):
            return python
    return Path(sys.executable)
