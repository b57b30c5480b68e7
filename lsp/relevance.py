"""Which files of the workspace are read first: what is near to the work, over all folders of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from coder.reading_plan import readable
from coder.repository import Repository
from coder.repository.reading_order import imported, modules_of
from coder.repository.symbols import outline

Place = tuple[Repository, str]
"""A file: one of the workspace's folders, and a path in it."""
_CODE = (".py", ".js", ".ts", ".go", ".rs", ".java", ".cpp")


def name_of(place: Place) -> str:
    """One name for a file in the whole workspace: its real path."""
    return f"{place[0].root}/{place[1]}"


def relevant_first(places: Sequence[Place], near: Sequence[Place]) -> list[Place]:
    """The open files, which are `near`; those that they import; those next to them in the tree; then the rest. Code
    comes before other text."""
    opened = {name_of(place) for place in near}
    wanted = _imported(places, near)
    folders = [_folder(place) for place in near]

    def rank(place: Place) -> tuple[int, int, bool, str]:
        name, folder = name_of(place), _folder(place)
        steps = min((_steps(folder, other) for other in folders), default=place[1].count("/"))
        nearness = 0 if name in opened else 1 if name in wanted else 2
        return nearness, steps, not name.endswith(_CODE), name

    return sorted(places, key=rank)


def _imported(places: Sequence[Place], near: Sequence[Place]) -> set[str]:
    """The names of the files that open ones import, each from its own folder of the workspace."""
    names: set[str] = set()
    for repository in dict.fromkeys(one for one, _ in near):
        modules = modules_of(path for one, path in places if one is repository)
        for path in (path for one, path in near if one is repository):
            text = readable(repository, path)
            if text is not None:
                imports = outline(path, text).imports
                names |= {name_of((repository, other)) for other in imported(path, imports, modules)}
    return names


def _folder(place: Place) -> tuple[str, ...]:
    return PurePosixPath(name_of(place)).parent.parts


def _steps(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many folders lie between two."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return len(one) + len(other) - 2 * shared
