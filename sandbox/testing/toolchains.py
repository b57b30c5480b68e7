"""What a test command needs besides the files of the project: compilers and interpreters that are installed outside of
the system's folders, and packages that are installed in the project's own.

A folder is shown in the sandbox only when it is known to be the installation of such a program and nothing else: what
lies beside programs in people's homes is their own.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

from sandbox.policy import SYSTEM

# Programs, and what the folder above theirs holds when it is an installation of them.
_MARKS = {
    "node npm npx corepack": ("include/node", "lib/node_modules"),
    "go gofmt": ("src/runtime",),
    "java javac jshell": ("lib/modules",),
    "rustc cargo rustdoc": ("lib/rustlib",),
}
_KNOWN = {name: marks for names, marks in _MARKS.items() for name in names.split()}


def installed(command: str, path: str | None = None) -> list[Path]:
    """The installations that `command` needs; the programs of each are in its folder `bin`.

    `path` is where programs are looked for, the caller's PATH by default.
    """
    found: dict[Path, None] = {}
    for word in re.findall(r"[\w./+-]+", command):
        name = word.rpartition("/")[2]
        if name not in _KNOWN or (name != word and not word.startswith("/")):
            continue
        program = shutil.which(word, path=path)
        if program is None:
            continue
        for place in _places(Path(program)):
            prefix = place.parent.parent
            elsewhere = not prefix.is_relative_to("/usr") and str(prefix) not in (*SYSTEM, "/")
            if elsewhere and place.parent.name == "bin" and any((prefix / mark).exists() for mark in _KNOWN[name]):
                found[prefix] = None
                break
    return list(found)


def node_modules(tree: Path, origin: Path) -> dict[str, Path]:
    """Folders with packages for Node that lie in `origin` beside what was copied from there to `tree`: where each would
    be in the tree, and where it is. Links are left out: they may lead anywhere."""
    folders = ["", *(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_dir())]
    found = {}
    for folder in folders:
        place, link = origin / folder / "node_modules", tree / folder / "node_modules"
        if place.is_dir() and not place.is_symlink() and place == place.resolve() and not link.exists():
            found[link.relative_to(tree).as_posix()] = place
    return found


def _places(program: Path) -> Iterator[Path]:
    """Where a program really is: as named, behind links, and behind the proxies of rustup."""
    yield program
    yield program.resolve()
    rustup = Path(os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    try:
        toolchain = tomllib.loads((rustup / "settings.toml").read_text()).get("default_toolchain")
    except (OSError, ValueError):
        return
    if isinstance(toolchain, str) and toolchain not in ("", ".", ".."):
        yield rustup / "toolchains" / toolchain.replace("/", "") / "bin" / program.name
