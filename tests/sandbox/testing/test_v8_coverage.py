from __future__ import annotations

import json

from sandbox.testing.v8_coverage import executed

TEXT = "function used(ä) {\n  if (ä) {\n    return 1;\n  }\n  return 2;\n}\nconst unused = () => {\n  return 3;\n};\n"


def report(*functions: tuple[str, list[tuple[str, str, int]]], url: str = "file:///tree/a.js") -> bytes:
    """A report of Node; each range is given by the text at its two ends."""
    found = []
    for name, ranges in functions:
        entries = [
            {"startOffset": TEXT.index(start), "endOffset": TEXT.index(end) + len(end), "count": count}
            for start, end, count in ranges
        ]
        found.append({"functionName": name, "ranges": entries, "isBlockCoverage": True})
    return json.dumps({"result": [{"url": url, "functions": found}]}).encode()


def known(name: str) -> tuple[str, str] | None:
    return ("a.js", TEXT) if name == "/tree/a.js" else None


WHOLE = ("", [("function", "};\n", 1)])
USED = ("used", [("function", "2;\n}", 3), ("{\n    return 1", "1;\n  }", 0)])
UNUSED = ("unused", [("() =>", "3;\n}", 0)])


def test_lines_of_functions_that_ran() -> None:
    assert executed(report(WHOLE, USED, UNUSED), known) == {"a.js": frozenset({1, 2, 5, 6})}


def test_reports_of_several_processes_are_joined_and_scripts_of_others_left_out() -> None:
    ran = ("unused", [("() =>", "3;\n}", 1)])
    data = report(WHOLE, USED) + b"\n" + report(WHOLE, ran) + report(USED, url="node:fs")
    assert executed(data, known) == {"a.js": frozenset({1, 2, 5, 6, 7, 8})}


def test_what_is_cut_off_ends_the_reading() -> None:
    assert executed(report(WHOLE, USED) + b'{"result": [', known) == {"a.js": frozenset({1, 2, 5, 6})}
    assert executed(b"", known) == {}
