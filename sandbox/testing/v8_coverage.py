"""Which lines a run of Node executed, from what it writes where NODE_V8_COVERAGE says.

The format is that of V8's inspector protocol (Profiler.takePreciseCoverage): for each script its functions, and for
each of these nested ranges of UTF-16 offsets with how often they were run; an inner range overrides the outer one.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlparse

# Bytes beyond which what comes is no coverage but a flood.
LARGEST = 64 << 20


def executed(data: bytes, text_of: Callable[[str], tuple[str, str] | None]) -> dict[str, frozenset[int]]:
    """Lines from 1 that ran inside of functions, by path. `data` holds the reports one after the other; `text_of`
    gives path and text of a script by the name it has for Node, None for scripts of others. Damaged data ends the
    reading."""
    found: dict[str, set[int]] = {}
    for report in _reports(data):
        for script in report.get("result", ()):
            known = text_of(unquote(urlparse(str(script.get("url", ""))).path))
            if known is not None:
                path, text = known
                found.setdefault(path, set()).update(_lines(text, script.get("functions", ())))
    return {path: frozenset(lines) for path, lines in found.items()}


def _reports(data: bytes) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    text, at = data.decode("utf-8", "replace"), 0
    while at < len(text):
        try:
            report, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        if isinstance(report, dict):
            yield report
        while at < len(text) and text[at].isspace():
            at += 1


def _lines(text: str, functions: Any) -> set[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line.encode("utf-16-le")) // 2 + 1)
    counts: list[int] = [0] * (len(starts) - 1)
    for function in functions:
        for depth, entry in enumerate(function.get("ranges", ())):
            start, end, count = entry["startOffset"], entry["endOffset"], entry["count"]
            if not function.get("functionName") and start == 0 and depth == 0:
                continue  # the file itself
            first = bisect_left(starts, start)  # the first line that begins inside
            last = bisect_right(starts, end + 1) - 1  # the line behind the last one that ends inside
            counts[first:last] = [count] * (last - first)
            if depth == 0 and count and first and starts[first] != start:
                counts[first - 1] = count  # the line in which a function begins
    return {number + 1 for number, count in enumerate(counts) if count}
