"""Which files a glob names, as the `search` tool means it; the same on every version of Python."""

from __future__ import annotations

from fnmatch import fnmatchcase

_WILD = frozenset("*?[")


def names(glob: str, path: str) -> bool:
    """Whether `glob` names the file at `path` (posix, relative).

    `**` stands for any number of folders, none among them. A glob without a slash is looked for at any depth, one with
    a slash from the root on. One that ends in a plain name also names all that is below a folder of that name; an empty
    one, or ".", names all files.
    """
    wanted = [part for part in glob.split("/") if part not in ("", ".")]
    if not wanted:
        return True
    if len(wanted) == 1:
        wanted.insert(0, "**")
    if _WILD.isdisjoint(wanted[-1]):
        wanted.append("**")
    # How many parts of the glob may be behind us, after each component: no way through `**` is gone twice.
    reached = _past(wanted, {0})
    for component in path.split("/"):
        stays = {at for at in reached if at < len(wanted) and wanted[at] == "**"}
        goes = {at + 1 for at in reached - stays if at < len(wanted) and fnmatchcase(component, wanted[at])}
        reached = _past(wanted, stays | goes)
    return len(wanted) in reached


def _past(wanted: list[str], reached: set[int]) -> set[int]:
    """`reached`, and what lies behind each `**` there: it may stand for nothing."""
    found = set(reached)
    for at in range(len(wanted)):
        if at in found and wanted[at] == "**":
            found.add(at + 1)
    return found
