"""Which modules the repository has or already imports: a change may import those, and no others."""

from __future__ import annotations

import functools
import re

from sandbox.working_copy import WorkingCopy

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)|import[ \t]+([\w., \t]+))", re.MULTILINE)


@functools.lru_cache(maxsize=4)
def importable(tree: WorkingCopy) -> frozenset[str]:
    """Top-level names: of the packages and modules in `tree`, and of what its Python files import."""
    found: set[str] = set()
    for place in tree.root.rglob("*.py"):
        found.update(part for part in place.relative_to(tree.root).with_suffix("").parts if part != "__init__")
        if place.is_symlink() or not place.is_file():
            continue
        for single, several in _IMPORT.findall(place.read_text(errors="replace")):
            found.update(name.split()[0].partition(".")[0] for name in (single or several).split(",") if name.strip())
    return frozenset(found)
