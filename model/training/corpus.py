"""The training text: source files of pip packages, in the order in which a reader would meet them.

`packages.toml` names every package with its version, licence and split; nothing of it is committed. One package
becomes one int32 array of token ids: files in import order, each opened by a comment line with its path, closed by
the trunk's document separator.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.protocol import Tokenizer

SUFFIXES = {".py", ".js", ".sh", ".md"}
SMALLEST, LARGEST, LONGEST_LINE = 200, 80_000, 400
NGRAM = 13
COMMENT = {".py": "# {}\n", ".sh": "# {}\n", ".js": "// {}\n", ".md": "<!-- {} -->\n"}


@dataclass(frozen=True)
class Package:
    """One line of packages.toml. `split` is "train", "validation" or "test"."""

    name: str
    version: str
    licence: str
    split: str


LISTING = Path(__file__).with_name("packages.toml")


def packages() -> list[Package]:
    return [Package(**entry) for entry in tomllib.loads(LISTING.read_text())["package"]]


def fetch(package: Package, folder: Path) -> Path:
    """The package's archive in `folder`, downloaded by pip when it is not there yet.

    Raises RuntimeError with pip's last line when the download fails.
    """
    stem = f"{package.name}-{package.version}"
    for archive in folder.glob("*"):
        if _plain(archive.name).startswith(_plain(stem)):
            return archive
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation", "-d", str(folder)]
    before = set(folder.glob("*"))
    done = subprocess.run([*command, f"{package.name}=={package.version}"], capture_output=True, text=True)
    new = set(folder.glob("*")) - before
    if done.returncode or not new:
        raise RuntimeError(f"pip could not download {stem}: {done.stderr.strip().splitlines()[-1:]}")
    return new.pop()


def _plain(name: str) -> str:
    """A name as all its spellings have it: an archive may be named with other signs than its package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def source_files(archive: Path) -> Iterator[tuple[str, str]]:
    """(path, text) of every file of an archive that is worth reading: known suffix, not huge, not minified."""
    for path, data in _members(archive):
        if Path(path).suffix not in SUFFIXES or path.endswith(".min.js") or "vendor" in path:
            continue
        if not SMALLEST <= len(data) <= LARGEST:
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if max(map(len, text.splitlines()), default=0) <= LONGEST_LINE:
            yield path, text.replace("\r\n", "\n")


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as bundle:
            for name in sorted(bundle.namelist()):
                yield name, bundle.read(name)
    else:
        with tarfile.open(archive) as bundle:
            for member in sorted(bundle.getmembers(), key=lambda member: member.name):
                handle = bundle.extractfile(member) if member.isfile() else None
                if handle is not None:
                    yield member.name.partition("/")[2], handle.read()


def reading_order(files: dict[str, str]) -> list[str]:
    """Paths so that what a file imports from its own package comes before it (depth first; cycles keep path order)."""
    modules = {_module(path): path for path in files if path.endswith(".py")}
    ordered: dict[str, None] = {}

    def visit(path: str, trail: frozenset[str]) -> None:
        if path in ordered or path in trail:
            return
        for name in _imports(path, files[path]):
            target = modules.get(name) or modules.get(name.rpartition(".")[0])
            if target:
                visit(target, trail | {path})
        ordered[path] = None

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 4 * len(files) + 1000))
    try:
        for path in sorted(files):
            visit(path, frozenset())
    finally:
        sys.setrecursionlimit(limit)
    return list(ordered)


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(path: str, text: str) -> list[str]:
    if not path.endswith(".py"):
        return []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    here = _module(path).split(".") if path.endswith("__init__.py") else _module(path).split(".")[:-1]
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            stem = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            names += [stem, *(f"{stem}.{alias.name}" for alias in node.names)]
    return names


def ngrams(text: str) -> set[int]:
    """Hashes of every run of 13 words: the usual contamination check."""
    words = text.split()
    return {hash(tuple(words[i : i + NGRAM])) for i in range(len(words) - NGRAM + 1)}


def evaluation_ngrams(folder: Path) -> set[int]:
    """The n-grams of every string in the JSON files below `folder`: what training must not have seen. Raises ValueError
    where there are none: then nothing would be held back."""
    found: set[int] = set()
    paths = sorted([*folder.rglob("*.jsonl"), *folder.rglob("*.json")])
    if not paths:
        raise ValueError(f"{folder} holds no evaluation data (*.json, *.jsonl): give the folder that does by --exclude")
    for path in paths:
        text = path.read_text(errors="replace")
        for record in text.splitlines() if path.suffix == ".jsonl" else [text]:
            for string in _strings(json.loads(record)):
                found |= ngrams(string)
    return found


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def encode_package(
    archive: Path, tokenizer: Tokenizer, separator: int, forbidden: set[int]
) -> tuple[np.ndarray, int, int]:
    """Token ids of one package (int32; `separator` after each file), files dropped for overlap with `forbidden`,
    files kept."""
    files: dict[str, str] = {}
    dropped = 0
    for path, text in source_files(archive):
        if forbidden and not forbidden.isdisjoint(ngrams(text)):
            dropped += 1
        else:
            files[path] = text
    ids: list[int] = []
    for path in reading_order(files):
        ids += tokenizer.encode(COMMENT[Path(path).suffix].format(path) + files[path])
        ids.append(separator)
    return np.asarray(ids, dtype=np.int32), dropped, len(files)
