"""The order in which a memory reads a repository: what is stable first, what matters for the task last.

A decaying memory remembers best what it read last, and an unchanged prefix of the order is never read twice. So the
bulk stands in an order that does not depend on the task, and only the few files nearest to it come after. Nearness is
personalised PageRank over "mentions what the other defines" and "imports", as in aider's repository map
(Aider-AI/aider, repomap.py), with the task's files as the seeds and the power iteration written out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from coder.repository.symbols import Outline

NEAR = 16
"""How many files are placed by the task; the others keep their places."""
_DAMPING = 0.85
_IMPORT_WEIGHT = 10.0
_COMMON = 5
"""A name that more files define than this says little about who needs whom."""


def reading_order(outlines: Mapping[str, Outline], seeds: Mapping[str, float], near: int = NEAR) -> list[str]:
    """All paths, each once. `seeds` weighs the files of the task (traceback frames, failing tests, the open file);
    the heaviest is read last."""
    graph = _graph(outlines)
    base = _rank(outlines, graph, {})
    stable = sorted(outlines, key=lambda path: (base[path], path))
    known = {path: weight for path, weight in seeds.items() if path in outlines and weight > 0}
    if not known:
        return stable
    ranks = _rank(outlines, graph, known)
    nearest = sorted(outlines, key=lambda path: (known.get(path, 0.0), ranks[path], path))[-near:]
    return [path for path in stable if path not in set(nearest)] + nearest


def modules_of(paths: Iterable[str]) -> dict[str, str]:
    """The file that each name of a module stands for: the first of `paths` that may be called so."""
    modules: dict[str, str] = {}
    for path in paths:
        for name in _module_names(path):
            modules.setdefault(name, path)
    return modules


def imported(path: str, imports: Iterable[str], modules: Mapping[str, str]) -> list[str]:
    """The other files that the `imports` of a file name, one for each that does; `modules` is from `modules_of`."""
    owners = (modules.get(_absolute(path, module)) for module in imports)
    return [owner for owner in owners if owner is not None and owner != path]


def _graph(outlines: Mapping[str, Outline]) -> dict[str, dict[str, float]]:
    """Weighted edges from each file to those that it needs."""
    defined: dict[str, set[str]] = defaultdict(set)
    modules = modules_of(outlines)
    for path, outline in outlines.items():
        for symbol in outline.symbols:
            defined[symbol.name].add(path)
    graph: dict[str, dict[str, float]] = {path: defaultdict(float) for path in outlines}
    for path, outline in outlines.items():
        for name, count in outline.mentions.items():
            weight = math.sqrt(count) * (0.1 if name.startswith("_") or len(defined[name]) > _COMMON else 1.0)
            for owner in defined[name] - {path}:
                graph[path][owner] += weight
        for owner in imported(path, outline.imports, modules):
            graph[path][owner] += _IMPORT_WEIGHT
    return graph


def _rank(
    paths: Mapping[str, Outline], graph: dict[str, dict[str, float]], seeds: Mapping[str, float]
) -> dict[str, float]:
    """PageRank by power iteration; the walk restarts at the seeds, or anywhere when there are none."""
    total = sum(seeds.values())
    restart = {path: seeds.get(path, 0.0) / total if total else 1 / len(paths) for path in paths}
    rank = dict(restart)
    for _ in range(50):
        incoming = dict.fromkeys(paths, 0.0)
        lost = 0.0
        for path, edges in graph.items():
            weight = sum(edges.values())
            if not weight:
                lost += rank[path]
            for owner, share in edges.items():
                incoming[owner] += rank[path] * share / weight
        rank = {
            path: (1 - _DAMPING) * restart[path] + _DAMPING * (incoming[path] + lost * restart[path]) for path in paths
        }
    return rank


def _module_names(path: str) -> list[str]:
    """The names that Python code or a relative JavaScript import may call the file by."""
    file = PurePosixPath(path)
    if file.suffix not in (".py", ".pyi"):
        return [path]
    parts = file.with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    inside = parts[1:] if parts[:1] in (("src",), ("lib",)) else parts
    return [name for name in (".".join(parts), ".".join(inside)) if name]


def _absolute(path: str, module: str) -> str:
    """The module that an import in `path` names, without leading dots; a path for JavaScript."""
    folder = PurePosixPath(path).parent
    if module.startswith(("./", "../")):
        parts = list(folder.parts)
        for part in module.split("/"):
            if part == "..":
                del parts[-1:]
            elif part != ".":
                parts.append(part)
        return "/".join(parts)
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return module
    package = folder.parts[: len(folder.parts) - (dots - 1)]
    return ".".join([*package, *filter(None, [module[dots:]])])
