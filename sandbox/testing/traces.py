"""Files and lines of the repository that a command's output names: stack traces, panics, messages of compilers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from sandbox.testing.report import Frame

MOST = 400
_PYTHON = re.compile(r'^\s*File "(?P<path>[^"\n]+)", line (?P<line>\d+), in (?P<function>\S+)')
# Node, with and without a name; Java, whose files stand without their folder.
_AT = re.compile(
    r"^\s*at (?:(?:async |new )*(?P<function>[^\s(]+)[^(\n]*\()?(?:file://)?(?P<path>[^\s():]+):(?P<line>\d+)(?::\d+)?\)?"
)
# Go: the line below the function's; Rust: `at src/lib.rs:3:5`, which is the form above, and the panic's own line.
_GO = re.compile(r"^\s+(?P<path>/[^\s:]+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+)?")
_PLAIN = re.compile(r"(?P<path>[\w./@+-]+\.[A-Za-z]\w{0,4}):(?P<line>\d+)(?::\d+)?")
_INWARDS, _OUTWARDS, _ALONE = "first the outermost", "first the innermost", "alone"


def frames(output: str, known: Callable[[str], str]) -> list[Frame]:
    """Frames from the outermost to the innermost. `known` gives the repository's path for a file as the output names
    it, "" for files of others. Lines outside of stack traces count as outer frames of what follows them."""
    found: list[Frame] = []
    for order, entries in groupby(_entries(output, known), key=lambda entry: entry[0]):
        group = [frame for _, frame in entries]
        found += reversed(group) if order == _OUTWARDS else group
    return found


def _entries(output: str, known: Callable[[str], str]) -> Iterator[tuple[str, Frame]]:
    count, named = 0, ""
    for line in output.splitlines():
        if count >= MOST:
            return
        for order, form in ((_INWARDS, _PYTHON), (_OUTWARDS, _AT), (_OUTWARDS, _GO), (_ALONE, _PLAIN)):
            match = form.search(line)
            if match is None:
                continue
            path = known(match["path"])
            if path:
                function = match.groupdict().get("function") or (named if form is _GO else "")
                count += 1
                yield order, Frame(path, int(match["line"]), function.rpartition(".")[2])
            break
        named = line.partition("(")[0].strip()
