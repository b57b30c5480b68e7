"""The packages of packages.toml: fetched by pip at run time, checked against a pinned sha256, and kept in a cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

LIST = Path(__file__).with_name("packages.toml")

# One configuration for all suites, so that every package is run in the same plain way, without options of its own.
PYTEST_INI = """\
[pytest]
pythonpath = . src
testpaths = {tests}
python_files = test_*.py *_test.py tests.py test.py
addopts =
"""


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    sha256: str
    licence: str
    half: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()

    def source_files(self, root: Path) -> list[Path]:
        """The files of the unpacked package at `root` that may be given a bug, sorted."""
        found = {path for pattern in self.sources for path in root.glob(pattern)}
        return sorted(path for path in found if path.relative_to(root).as_posix() not in self.without)


@cache
def packages() -> dict[str, Package]:
    rows = tomllib.loads(LIST.read_text())["package"]
    return {
        row["name"]: Package(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})
        for row in rows
    }


def cache_folder() -> Path:
    chosen = os.environ.get("CODER_BENCHMARK_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("coder") / "benchmarks"


def archive(package: Package) -> Path:
    """The package's source archive, downloaded once. Raises ValueError when it is not the pinned one."""
    folder = cache_folder() / "archives" / f"{package.name}-{package.version}"
    if not list(folder.glob("*.tar.gz")):
        folder.mkdir(parents=True, exist_ok=True)
        requirement = f"{package.name}=={package.version}"
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "-d", str(folder)]
        subprocess.run([*pip, requirement], check=True)
    (found,) = folder.glob("*.tar.gz")
    digest = hashlib.sha256(found.read_bytes()).hexdigest()
    if digest != package.sha256:
        raise ValueError(f"{found} has sha256 {digest}, expected {package.sha256}; delete it and try again")
    return found


def unpack(package: Package, folder: Path) -> Path:
    """Lay the package's tree at `folder` (must not exist) with the common pytest.ini; returns `folder`."""
    staging = folder.with_name(folder.name + ".unpacking")
    shutil.rmtree(staging, ignore_errors=True)
    with tarfile.open(archive(package)) as tar:
        tar.extractall(staging, filter="data")
    (top,) = staging.iterdir()
    (top / "pytest.ini").write_text(PYTEST_INI.format(tests=" ".join(package.tests)))
    top.rename(folder)
    staging.rmdir()
    return folder


def pristine(package: Package) -> Path:
    """The unpacked package in the cache. Read it, copy it, never write to it."""
    folder = cache_folder() / "trees" / f"{package.name}-{package.version}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unpack(package, folder)
    return folder


def fresh_copy(package: Package, folder: Path) -> Path:
    """A copy of the pristine tree at `folder` (must not exist)."""
    return Path(
        shutil.copytree(pristine(package), folder, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    )
