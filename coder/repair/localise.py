"""Where the fault may be: functions first, then their lines.

Ochiai (Abreu et al. 2007, "On the accuracy of spectrum-based fault localization") over the lines that each test ran,
raised for what stands in the traceback. Scores within a straight-line block are equal by nature; the order within
them is left to the ranking of the candidates (model, pattern) and, where a model is at hand, to its surprise.
"""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coder.repair.edits.base import Hints
from coder.repair.files import AnyFunction
from coder.repair.source import FunctionNode, Source
from sandbox.testing.report import Baseline, TestReport
from sandbox.trees import parse

# A line of the traceback counts that much more than its Ochiai score says; the innermost frame in the code most.
TRACEBACK = 1.3
INNERMOST = 1.5
# Top-level statements ran at import, where no single test covers them.
TOP_LEVEL = 0.1


@dataclass(frozen=True)
class Suspicion:
    """A function (or, with `function` None, the top level of a file) and the scores of its lines, (0, 1]."""

    path: str
    function: AnyFunction | None
    lines: Mapping[int, float]

    @property
    def score(self) -> float:
        return max(self.lines.values(), default=0.0)


def ochiai(failing: int, passing: int, all_failing: int) -> float:
    """ef / sqrt((ef + nf) · (ef + ep)); 0 when no failing test ran the line."""
    return failing / math.sqrt(all_failing * (failing + passing)) if failing else 0.0


def localise(baseline: Baseline, targets: Iterable[str], sources: Mapping[str, Source]) -> list[Suspicion]:
    """Suspicious functions, likeliest first. `sources` are the files that may be edited."""
    failing = [baseline.tests[node] for node in targets if node in baseline.tests]
    passing = [baseline.tests[node] for node in baseline.passing]
    lines = _spectrum(failing, passing, sources)
    _raise_frames(lines, failing, sources)
    if not lines:
        lines = _imported(failing, sources)
    found: list[Suspicion] = []
    for path, scores in lines.items():
        found += _by_function(sources[path], scores)
    best = max((suspicion.score for suspicion in found), default=1.0)
    scaled = [Suspicion(s.path, s.function, {n: v / best for n, v in s.lines.items()}) for s in found]
    return sorted(scaled, key=lambda s: -s.score)


def _spectrum(
    failing: list[TestReport], passing: list[TestReport], sources: Mapping[str, Source]
) -> dict[str, dict[int, float]]:
    counts: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    for group, tests in enumerate((failing, passing)):
        for test in tests:
            for path, ran in test.lines.items():
                if path in sources:
                    for line in ran:
                        counts[path, line][group] += 1
    lines: dict[str, dict[int, float]] = defaultdict(dict)
    for (path, line), (ef, ep) in counts.items():
        if ef:
            lines[path][line] = ochiai(ef, ep, len(failing))
    return lines


def _raise_frames(lines: dict[str, dict[int, float]], failing: list[TestReport], sources: Mapping[str, Source]) -> None:
    """Lines in the tracebacks count more, by the share of the failing tests that show them. Where no coverage is at
    hand their whole functions are suspicious."""
    extra: dict[tuple[str, int], float] = defaultdict(float)
    for test in failing:
        frames = [frame for frame in test.frames if frame.path in sources]
        shown: dict[tuple[str, int], float] = {}
        for index, frame in enumerate(frames):
            scores = lines.setdefault(frame.path, {})
            if not test.lines:
                for function in sources[frame.path].functions():
                    if function.lineno <= frame.line <= (function.end_lineno or 0):
                        for line in range(function.lineno, (function.end_lineno or 0) + 1):
                            scores.setdefault(line, 0.3)
            factor = INNERMOST if index == len(frames) - 1 else TRACEBACK
            place = (frame.path, frame.line)
            shown[place] = max(shown.get(place, 0.0), factor - 1.0)
        for place, more in shown.items():
            extra[place] += more / len(failing)
    for (path, line), more in extra.items():
        lines[path][line] = lines[path].get(line, 0.5) * (1.0 + more)


def _imported(failing: list[TestReport], sources: Mapping[str, Source]) -> dict[str, dict[int, float]]:
    """Neither coverage nor a traceback: every function of every file, those that the failing tests name first."""
    words = " ".join(f"{test.node} {test.message} {test.output}" for test in failing)
    lines: dict[str, dict[int, float]] = defaultdict(dict)
    for path, source in sources.items():
        for function in source.functions():
            named = function.name in words or path.rpartition("/")[2].removesuffix(".py") in words
            for line in range(function.lineno, (function.end_lineno or function.lineno) + 1):
                lines[path][line] = 0.5 if named else 0.1
    return lines


def _by_function(source: Source, scores: Mapping[int, float]) -> list[Suspicion]:
    found: list[Suspicion] = []
    inside: set[int] = set()
    used: set[str] = set()
    for function in source.functions():
        reach = range(function.lineno, (function.end_lineno or function.lineno) + 1)
        own = {line: scores[line] for line in reach if line in scores}
        inside.update(reach)
        # The `def` line itself runs when the file is imported.
        body = {line: score for line, score in own.items() if line >= function.body[0].lineno}
        if body:
            used |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
            used |= {n.attr for n in ast.walk(function) if isinstance(n, ast.Attribute)}
            found.append(Suspicion(source.path, function, own))
    best = max((suspicion.score for suspicion in found), default=0.0)
    top = {line: score for line, score in scores.items() if line not in inside}
    for statement in source.top_level():
        for part in _simple(statement):
            if bound_names(part) & used:
                for line in range(part.lineno, (part.end_lineno or part.lineno) + 1):
                    top[line] = max(top.get(line, 0.0), TOP_LEVEL * best)
    if top:
        found.append(Suspicion(source.path, None, top))
    return found


def _simple(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statement, or those in its blocks that hold no others; definitions left out."""
    within = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt | ast.ExceptHandler)]
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return
    if not within:
        yield statement
    for child in within:
        for part in child.body if isinstance(child, ast.ExceptHandler) else [child]:
            yield from _simple(part)


def bound_names(statement: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def hints(texts: Iterable[str], failing: Iterable[TestReport]) -> Hints:
    """Constants in the failing tests' code and messages, and the exceptions that they expect.

    `texts` is the source of the failing test functions.
    """
    numbers: dict[int | float, None] = {}
    strings: dict[str, None] = {}
    exceptions: dict[str, None] = {}
    for text in texts:
        try:
            tree = parse(text)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if 0 < len(node.value) <= 40:
                    strings.setdefault(node.value)
            elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
                if not isinstance(node.value, bool):
                    numbers.setdefault(node.value)
            elif (
                isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("raises", "assertRaises")) and node.args
            ):
                exceptions.setdefault(ast.unparse(node.args[0]).rpartition(".")[2])
    for test in failing:
        # "no such key: 'naem'. Did you mean: 'name'?" and KeyError: 'name'.
        for word in re.findall(r"'([^'\s]{1,40})'", test.message):
            strings.setdefault(word)
    return Hints(tuple(numbers)[:40], tuple(strings)[:60], tuple(exceptions))
