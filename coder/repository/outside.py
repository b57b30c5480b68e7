"""What a project takes from outside its root: it is not in the copy that the tests run on."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from coder.repository.git import work_tree

_CONFIGURATION = {
    "pytest.toml": "",
    ".pytest.toml": "",
    "pytest.ini": "",
    ".pytest.ini": "",
    "pyproject.toml": r"^\s*\[tool\.pytest[.\]]",
    "tox.ini": r"^\[pytest\]",
    "setup.cfg": r"^\[tool:pytest\]",
}
"""Where pytest looks for its configuration, in its order, and what a file must hold to be one."""
_SITE = "lib*/python3*/site-packages"
_FINDER = re.compile(r"^MAPPING\b[^=]*= (\{.*\})$", re.MULTILINE)


def configuration_advice(root: Path) -> str:
    """What to do where pytest, run in `root`, is configured above it, within its git repository; "" where it is not."""
    file = _pytest_configuration(root)
    if file is None:
        return ""
    part = root.relative_to(file.parent).as_posix()
    return (
        f"{file} configures these tests, but is above the project and so not in the sandbox, nor is any conftest.py "
        f"there: to use it, name {file.parent} as the project, with --test {part}"
    )


def _pytest_configuration(root: Path) -> Path | None:
    """The file that pytest goes by, where it is above `root`; None where `root` has its own, or nothing does."""
    top = work_tree(root) or root
    for folder in (root, *root.parents):
        for name, section in _CONFIGURATION.items():
            with suppress(OSError):
                text = (folder / name).read_text("utf-8", "replace")
                if re.search(section, text, re.MULTILINE):
                    return folder / name if folder != root else None
        if folder == top:
            break
    return None


def editable_advice(modules: Iterable[str], python: Path, root: Path) -> str:
    """What to do about those of the missing `modules` that the environment of `python` does have, installed in editable
    form from a place outside of `root`; "" where there are none. Nothing is run for it."""
    told = []
    for module in modules:
        if place := _editable_source(module.partition(".")[0], python, root):
            told.append(f"{module} is installed in editable form from {place}")
    if not told:
        return ""
    return f"{', '.join(told)}, outside of the project and so not in the sandbox: name a folder that holds both"


def _editable_source(top: str, python: Path, root: Path) -> Path | None:
    # The name comes from the tests, which may say what they like.
    for site in sorted(python.parent.parent.glob(_SITE)) if top.isidentifier() else ():
        for place in _places(site, top):
            if os.path.exists(place) and not place.resolve().is_relative_to(root):
                return place
    return None


def _places(site: Path, top: str) -> Iterator[Path]:
    """Where the files of an environment that add to the import path may lead for the module `top`."""
    for file in sorted(site.glob("*.pth")):
        for line in _text(file).splitlines():
            if line.startswith("/"):
                yield from (Path(line.strip(), top), Path(line.strip(), f"{top}.py"))
    for file in sorted(site.glob("__editable__*_finder.py")):
        place = _mapping(_text(file)).get(top)
        if isinstance(place, str):
            yield from (Path(place), Path(f"{place}.py"))


def _mapping(text: str) -> dict[object, object]:
    """The constant MAPPING of a finder that setuptools wrote: from packages to paths."""
    found = _FINDER.search(text)
    with suppress(SyntaxError, ValueError):
        mapping = ast.literal_eval(found.group(1)) if found else {}
        return mapping if isinstance(mapping, dict) else {}
    return {}


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text("utf-8", "replace")
    return ""
