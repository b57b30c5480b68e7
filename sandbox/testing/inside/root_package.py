"""A root that is itself a package: tests import it by the name of the folder that the tree was copied from."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any


def make_importable(root: str, origin: str) -> None:
    """Let `import NAME` find the package at `root`, NAME being the last part of `origin`. Nothing where it is none."""
    name = os.path.basename(origin)
    if name.isidentifier() and os.path.exists(os.path.join(root, "__init__.py")):
        sys.meta_path.append(_RootPackage(name, root))  # last: whatever else has that name comes first


class _RootPackage:
    """A finder and no link: the files keep their paths, by which frames, lines and swaps know them."""

    def __init__(self, name: str, root: str) -> None:
        self._name = name
        self._root = root

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        place = os.path.join(self._root, "__init__.py")
        return importlib.util.spec_from_file_location(name, place, submodule_search_locations=[self._root])
