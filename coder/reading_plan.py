"""What is read for a task, and in which order: the stable base of the repository first, what the task needs last.

The base is the same whatever the task, so that what was read of it serves all. Files near the task are read again
behind it: a decaying memory remembers best what it read last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from coder.failure import Conflict
from coder.repository import Repository
from coder.repository.reading_order import NEAR, reading_order
from coder.repository.secrets import redact
from coder.repository.symbols import outline

LIMIT = 400_000
"""Characters of the base: about 120,000 tokens."""
FIX_LIMIT = 4_000
"""Characters that are read before a repair: a few seconds of a small model, spread over the search."""
TREE = "."
"""In a reading order: the list of the project's files."""
_LARGEST = 120_000  # characters of one file
_LONGEST_LINE = 2_000  # a longer one was written by a program
_CONSIDERED = 6_000_000  # characters that are looked through for names
_TREE_LINES = 200
_SUFFIXES = frozenset(
    (".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".c", ".h", ".cc",
     ".cpp", ".hpp", ".cs", ".rb", ".php", ".swift", ".sh", ".sql", ".html", ".css", ".md", ".rst", ".toml", ".cfg",
     ".ini", ".mk", ".cmake")
)  # fmt: skip
_NAMES = frozenset(("Makefile", "Dockerfile", "Justfile", "README", "package.json", "tsconfig.json", "go.mod"))
_OVERVIEW = re.compile(r"(README(\.\w+)?|pyproject\.toml|setup\.(py|cfg)|package\.json|Makefile|go\.mod|Cargo\.toml)\Z")


@dataclass(frozen=True)
class ReadingTask:
    """What a reading is for. `seeds` weighs the files that matter most, the heaviest is read last."""

    seeds: Mapping[str, float] = field(default_factory=dict)
    tree: bool = False

    @classmethod
    def terminal(cls, request: str, paths: Iterable[str]) -> ReadingTask:
        """The tree, the README, the build files, and those of `paths` that the request names."""
        seeds = {path: 1.0 for path in paths if _OVERVIEW.match(path)}
        words = {word.rstrip(".") for word in re.findall(r"[\w./-]+", request)}
        seeds |= {path: 2.0 for path in paths if path in words or PurePosixPath(path).name in words}
        return cls(seeds, tree=True)


@dataclass(frozen=True)
class Plan:
    """Paths in the order of reading; those of `near` may have been in `base` too."""

    base: tuple[str, ...]
    near: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, ...]:
        return self.base + self.near


def plan(repository: Repository, task: ReadingTask | None = None, limit: int = LIMIT) -> Plan:
    """The plan for a task; without one, the base alone. Of a large repository the base has what is needed most."""
    sizes, outlines, considered = {}, {}, 0
    for path in sorted(filter(is_source, repository.files), key=lambda path: (path.count("/"), path)):
        text = readable(repository, path)
        if text is None:
            continue
        considered += len(text)
        if considered > _CONSIDERED:
            break
        sizes[path], outlines[path] = len(text), outline(path, text)
    if not outlines:
        return Plan(())
    base = _last_within(reading_order(outlines, {}), sizes, limit)
    if task is None:
        return Plan(base)
    near = reading_order(outlines, task.seeds)[-NEAR:] if any(path in outlines for path in task.seeds) else []
    return Plan(base, (*([TREE] if task.tree else []), *_last_within(near, sizes, limit // 4)))


def near_failure(
    repository: Repository, ran: Iterable[str], suspects: Sequence[str], tests: Sequence[str], limit: int = FIX_LIMIT
) -> tuple[str, ...]:
    """What is read before a failure is repaired: files that the failing tests `ran`, the tests themselves, and the
    likeliest of the `suspects` last, which is where the model will write. Whole files within `limit` characters; what
    is too large is left out, the later in the order the sooner it has its place."""
    first = [path for path in dict.fromkeys(suspects) if is_source(path)]
    wanted = [*first[:1], *reversed(list(dict.fromkeys(tests))), *first[1:], *ran]
    kept: list[str] = []
    for path in dict.fromkeys(wanted):
        size = len(readable(repository, path) or "")
        if 0 < size <= limit:
            kept.append(path)
            limit -= size
        elif path in first[:1]:
            return ()
    return tuple(reversed(kept))


def is_source(path: str) -> bool:
    """Whether a file of this name is worth reading: code, build files and documents, no data."""
    file = PurePosixPath(path)
    return file.suffix in _SUFFIXES or file.name in _NAMES


def readable(repository: Repository, path: str) -> str | None:
    """The text as a model may see it: no tokens or keys in it. None for what is hidden, gone, not text, too large or
    written by a program. `TREE` stands for the list of files."""
    if path == TREE:
        return "\n".join(repository.files[:_TREE_LINES]) + "\n"
    with suppress(Conflict, OSError, UnicodeDecodeError, SyntaxError):
        text = repository.document(path).text.replace("\r\n", "\n")
        small = len(text.strip()) > 0 and len(text) <= _LARGEST and max(map(len, text.splitlines())) <= _LONGEST_LINE
        return redact(text) if small and "\0" not in text else None
    return None


def _last_within(order: Sequence[str], sizes: Mapping[str, int], limit: int) -> tuple[str, ...]:
    """The longest end of the order that has at most `limit` characters; at least the last file."""
    kept: list[str] = []
    for path in reversed(order):
        limit -= sizes[path]
        if kept and limit < 0:
            break
        kept.append(path)
    return tuple(reversed(kept))
