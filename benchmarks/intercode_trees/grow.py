"""A random tree that holds what a task names, near misses of it, and much else."""

from __future__ import annotations

import gzip
import os
import random
import re
import time
from dataclasses import dataclass
from pathlib import Path

_FOLDERS = ("dir1/subdir1/subsubdir1", "dir2/subdir2", "dir3/subdir1/subsubdir1/tmp", "empty")
_STEMS = "main util notes README config data report index test draft alpha beta".split()
_EXTENSIONS = "txt py java php js c h html sh md csv log jpg tar.gz bak".split()
_WORDS = "alpha beta gamma delta apple banana hello Hello world foo bar error Error TODO value 10 200 3.5 x=1".split()
_MODES = (0o644, 0o644, 0o644, 0o755, 0o600, 0o777, 0o444, 0o553)


@dataclass
class _Named:
    """What the task and its reference command name."""

    paths: list[str]
    globs: list[str]
    words: list[str]
    numbers: list[int]


def _named(text: str, place: str) -> _Named:
    paths = [path.rstrip("/.").lstrip("/") for path in re.findall(rf"(?<![\w.])/?{place[1:]}((?:/[\w.-]+)+)", text)]
    globs = re.findall(r"(?<![\w/.])[\w.\[\]-]*[*?][\w.*?\[\]-]*", text)
    globs += [f"*{extension}" for extension in re.findall(r"(?<![\w/*])\.[a-zA-Z]\w{0,4}\b", text)]
    globs += re.findall(r"(?<![\w/])[\w-]+\.[a-z]{1,5}\b", text)
    quoted = [two or one for one, two in re.findall(r"\"([^\"]{1,30})\"|'([^']{1,30})'", text)]
    quoted += re.findall(r"(?:grep(?: -\w+)*|named|-i?name|containing|contain)\s+[\"']?([\w.-]{2,})", text)
    words = [word for word in quoted if re.fullmatch(r"[\w. :@-]+", word)]
    globs += [word for word in words if re.fullmatch(r"[\w-]+", word)]
    return _Named(paths, globs, words, [int(number) for number in re.findall(r"\b\d{1,4}\b", text)])


def grow(query: str, gold: str, place: str, root: Path, seed: int) -> None:
    """Write the tree under `root`, which must be empty; the task calls it `place`."""
    named, chance = _named(f"{query}\n{gold}", place), random.Random(seed)
    folders = [Path(folder) for folder in _FOLDERS]
    files: dict[Path, str] = {}
    for path in named.paths:
        where = Path(path)
        if where.suffix:
            files[where] = _text(chance, named)
        else:
            folders.append(where)
    folders += [Path(f"dir2/in{word}") for word in named.words if re.fullmatch(r"[\w-]+", word)]
    every = sorted({parent for folder in folders for parent in (folder, *folder.parents)} - {Path("empty")})
    for folder in every:
        for glob in named.globs:
            for _ in range(chance.choice((0, 1, 1, 2) if folder.parts else (1, 2, 3))):
                files.setdefault(folder / _match(glob, chance), _text(chance, named))
        for _ in range(chance.randint(1, 3)):
            name = f"{chance.choice(_STEMS)}{chance.choice(('', '1', '2'))}.{chance.choice(_EXTENSIONS)}"
            files.setdefault(folder / name, _text(chance, named))
    for path in files:
        if chance.random() < 0.25:  # a duplicate
            files[path] = files[chance.choice([other for other in files if other.suffix == path.suffix])]
        elif chance.random() < 0.12:
            files[path] = ""
    for folder in folders:
        (root / folder).mkdir(parents=True, exist_ok=True)
    written = [root / path for path, text in files.items() if _write(root / path, text)]
    for at, target in enumerate(chance.sample(written, min(3, len(written)))):
        link = target.with_name(f"link{at}")
        if not link.exists():
            link.symlink_to(target.name if at else "nowhere")
    modes = [*_MODES, *(int(mode, 8) for mode in re.findall(r"(?<!\d)[0-7]{3}(?!\d)", f"{query} {gold}"))]
    for path in [*written, *(root / folder for folder in every)]:
        if path.is_dir():
            path.chmod(0o755)
        else:
            path.chmod(chance.choice(modes))
        days = chance.choice([0.01, 0.5, 3, 20, 100, 400, *(n + d for n in named.numbers for d in (-0.5, 0.5, 1.5, 3))])
        stamp = time.time() - max(0.005, days) * 86400
        os.utime(path, (stamp, stamp))


def _write(path: Path, text: str) -> bool:
    if path.is_dir() or any(parent.is_file() for parent in path.parents):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix in (".gz", ".tgz") else data)
    return True


def _match(glob: str, chance: random.Random) -> str:
    name = re.sub(r"\[([^\]])[^\]]*\]", r"\1", glob)
    name = re.sub(r"\*", lambda _: chance.choice(("", "a", "file", "my_", "x1", "Test")), name)
    name = re.sub(r"\?", lambda _: chance.choice("abcxyz12"), name)
    return "file" + name if name.startswith(".") or not name else name


def _text(chance: random.Random, named: _Named) -> str:
    words = _WORDS + named.words * 2
    lines = [f"{chance.choice(_WORDS)} {word}" for word in named.words if chance.random() < 0.4]
    for _ in range(chance.choice((1, 3, 6, 12, 40))):
        kind = chance.random()
        if kind < 0.1:
            lines.append("")
        elif kind < 0.2 and lines:
            lines.append(chance.choice(lines))
        else:
            lines.append(" ".join(chance.choice(words) for _ in range(chance.randint(1, 7))))
    return "\n".join(lines) + "\n"
