"""Where the fault may be when a command's exit status is all that is known: what the run executed, where it stopped,
and which functions its output and the tests name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coder.repair.edits.base import Hints
from coder.repair.languages.grammar import grammar_of
from coder.repair.languages.tree import Function, TreeSource
from coder.repair.localise import Suspicion
from sandbox.testing.report import Baseline, TestReport

# How suspicious a function is by the best that is known of it; each function that another one calls comes after it.
STOPPED, PASSED_THROUGH, NAMED, FILE_NAMED, RAN, UNKNOWN = 1.0, 0.8, 0.7, 0.4, 0.35, 0.15
CALLED = 0.8
LINE_OF_FRAME = 1.3
TOP_LEVEL = 0.15
MOST_FILES = 200
_WORD = re.compile(r"[\w$]+")


def likely(paths: Sequence[str], baseline: Baseline, targets: Iterable[str], tests: Sequence[str]) -> list[str]:
    """The files worth a look where it is not known what a run executed, no more than MOST_FILES: those in its stack
    traces, those that its output or the tests name, those that lie beside them."""
    failing = [baseline.tests[node] for node in targets if node in baseline.tests]
    framed = {frame.path for test in failing for frame in test.frames}
    words = set(_WORD.findall(" ".join([*tests, *(f"{test.node} {test.message}" for test in failing)])))
    beside = {path.rpartition("/")[0] for path in (*framed, *baseline.test_files)}

    def rank(path: str) -> tuple[bool, bool, bool]:
        folder, _, name = path.rpartition("/")
        return path not in framed, name.partition(".")[0] not in words, folder not in beside

    return sorted(paths, key=rank)[:MOST_FILES]


def localise(
    baseline: Baseline, targets: Iterable[str], sources: Mapping[str, TreeSource], tests: Sequence[str]
) -> list[Suspicion]:
    """Suspicious functions, likeliest first. `sources` are the files that may be edited, `tests` the texts of the
    files that the failing tests are in."""
    failing = [baseline.tests[node] for node in targets if node in baseline.tests]
    words = set(_WORD.findall(" ".join([*tests, *(f"{test.node} {test.message}" for test in failing)])))
    found: list[tuple[TreeSource, Function, float, dict[int, float]]] = []
    for path, source in sources.items():
        ran = [test.lines[path] for test in failing if path in test.lines]
        for function in source.functions():
            reach = range(function.lineno, function.end_lineno + 1)
            executed = {line for lines in ran for line in lines if function.body_line <= line <= function.end_lineno}
            if ran and not executed:
                continue
            score, marked = _score(failing, source, function, words, bool(executed))
            lines = {n: 1.0 if not executed or n in executed or n < function.body_line else 0.2 for n in reach}
            found.append((source, function, score, lines | marked))
    scores = _with_callees([(function, score) for _, function, score, _ in found])
    best = max(scores, default=1.0)
    suspicions = [
        Suspicion(source.path, function, {n: score / best * min(1.0, share) for n, share in lines.items()})
        for (source, function, _, lines), score in zip(found, scores)
    ]
    suspicions += list(_top_level(suspicions, sources))
    return sorted(suspicions, key=lambda suspicion: -suspicion.score)


def _score(
    failing: Sequence[TestReport], source: TreeSource, function: Function, words: set[str], executed: bool
) -> tuple[float, dict[int, float]]:
    """How suspicious a function is, and its lines that stand in a traceback."""
    score = RAN if executed else UNKNOWN
    if source.path.rpartition("/")[2].partition(".")[0] in words:
        score = max(score, FILE_NAMED)
    if function.name in words:
        score = max(score, NAMED)
    marked = {}
    for test in failing:
        own = [frame for frame in test.frames if frame.path == source.path]
        for frame in own:
            if function.lineno <= frame.line <= function.end_lineno:
                innermost = frame is test.frames[-1]
                score = max(score, STOPPED if innermost else PASSED_THROUGH)
                marked[frame.line] = LINE_OF_FRAME
    return score, marked


def _with_callees(found: Sequence[tuple[Function, float]]) -> list[float]:
    """The scores, those of functions that a suspicious one calls raised: two calls deep."""
    called = [set(_calls(function)) for function, _ in found]
    scores = [score for _, score in found]
    for _ in range(2):
        for names, score in zip(called, list(scores)):
            for place, (function, _) in enumerate(found):
                if function.name in names:
                    scores[place] = max(scores[place], CALLED * score)
    return scores


def _calls(function: Function) -> Iterator[str]:
    for node in function.node.walk():
        if node.kind in ("call", "new") and node.called is not None:
            yield node.called.text


def _top_level(suspicions: Sequence[Suspicion], sources: Mapping[str, TreeSource]) -> Iterator[Suspicion]:
    """The values that suspicious functions use and that are bound outside of them."""
    for path, source in sources.items():
        inside = [s.function for s in suspicions if s.path == path and s.function is not None]
        best = max((s.score for s in suspicions if s.path == path), default=0.0 if source.functions() else 1.0)
        taken = {line for function in source.functions() for line in range(function.lineno, function.end_lineno + 1)}
        used = {word for f in inside if isinstance(f, Function) for word in _WORD.findall(f.node.text)}
        lines: dict[int, float] = {}
        for statement in source.root.children:
            reach = range(statement.line, statement.last_line + 1)
            apart = taken.isdisjoint(reach) and "import" not in statement.type and "include" not in statement.type
            if apart and (not source.functions() or used & set(_WORD.findall(statement.text))):
                lines |= dict.fromkeys(reach, TOP_LEVEL * best if source.functions() else best)
        if lines:
            yield Suspicion(path, None, lines)


def hints(path: str, text: str, near: int = 0) -> Hints:
    """The constants in a test file, those nearest to line `near` first."""
    if grammar_of(path) is None:
        return Hints()
    try:
        source = TreeSource(path, text)
    except (SyntaxError, RecursionError):
        return Hints()
    nodes = [node for node in source.root.walk() if node.kind in ("number", "string")]
    nodes.sort(key=lambda node: abs(node.line - near) if near else 0)
    numbers: dict[int | float, None] = {}
    strings: dict[str, None] = {}
    for node in nodes:
        if node.kind == "string" and 2 < len(node.text) <= 42:
            strings.setdefault(node.text[1:-1])
        elif node.kind == "number":
            try:
                numbers.setdefault(int(node.text) if node.text.isdigit() else float(node.text))
            except ValueError:
                continue
    return Hints(tuple(numbers)[:40], tuple(strings)[:60])
