"""Which Python runs a project's tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.repository.git import work_tree


def find_python(root: Path, base: Path, wanted: str, variables: Mapping[str, str]) -> Path:
    """What the user named, relative to `base`; else the active environment's; else that of an environment in the
    project's folder or above it, up to the top of its git repository; else our own. It only ever runs in the sandbox.
    Links are kept: an environment is found by the path of its link.

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
    folders = list(_environments(root))
    if active := variables.get("VIRTUAL_ENV"):
        # Ours is active wherever coder was installed that way: that says nothing of the project.
        ours = os.path.realpath(active) == os.path.realpath(sys.prefix)
        folders.insert(len(folders) if ours else 0, Path(active))
    for folder in folders:
        python = folder / "bin" / "python"
        if (folder / "pyvenv.cfg").exists() and os.access(python, os.X_OK):
            return python
    return Path(sys.executable)


def _environments(root: Path) -> Iterator[Path]:
    """Where a project keeps its environment, the nearest first: workspaces share one at their top."""
    top = work_tree(root) or root
    for folder in (root, *root.parents):
        yield from (folder / ".venv", folder / "venv")
        if folder == top:
            return
