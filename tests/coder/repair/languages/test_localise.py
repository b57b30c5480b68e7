"""Where the fault is looked for when only a command's exit status is known."""

from __future__ import annotations

from coder.repair.files import parse
from coder.repair.languages import localise as by_command
from coder.repair.languages.tree import TreeSource
from sandbox.testing.report import Baseline, Frame, Oracle, Outcome, TestReport

NODE = "$ node check.js"
CODE = (
    "const LIMIT = 3;\nconst OTHER = 4;\n\nfunction inner(x) {\n  return x > LIMIT;\n}\n\n"
    "function outer(x) {\n  return inner(x);\n}\n\nfunction far(x) {\n  return OTHER + x;\n}\n"
)


def baseline(**report: object) -> Baseline:
    test = TestReport(NODE, Outcome.FAILED, **report)  # type: ignore[arg-type]
    return Baseline({NODE: test}, 0.1, Oracle.EXIT_CODE, ("check.js",))


def suspects(known: Baseline, tests: str) -> dict[str, float]:
    source = parse("lib.js", CODE)
    assert isinstance(source, TreeSource)
    found = by_command.localise(known, [NODE], {"lib.js": source}, [tests])
    return {suspicion.function.name if suspicion.function else "": suspicion.score for suspicion in found}


def test_what_the_tests_name_comes_first_then_what_that_calls() -> None:
    scores = suspects(baseline(), "assert(outer(3))")
    assert list(scores)[:3] == ["outer", "inner", "far"]
    assert scores["outer"] > scores["inner"] > scores["far"]


def test_only_what_ran_is_suspected_where_that_is_known() -> None:
    scores = suspects(baseline(lines={"lib.js": frozenset({4, 5, 8, 9})}), "far outer inner")
    assert set(scores) == {"outer", "inner", ""}


def test_where_a_run_stopped_is_the_most_suspicious() -> None:
    frames = (Frame("check.js", 3, ""), Frame("lib.js", 13, "far"))
    assert next(iter(suspects(baseline(frames=frames), "outer"))) == "far"


def test_values_of_the_top_level_only_where_a_suspect_uses_them() -> None:
    source = parse("lib.js", CODE)
    assert isinstance(source, TreeSource)
    known = baseline(lines={"lib.js": frozenset({5})})
    (top,) = [s for s in by_command.localise(known, [NODE], {"lib.js": source}, []) if s.function is None]
    assert set(top.lines) == {1}


def test_the_files_worth_a_look_are_bounded() -> None:
    paths = [f"src/a{number}.js" for number in range(1000)] + ["lib/named.js", "lib/framed.js", "beside.js"]
    known = baseline(frames=(Frame("lib/framed.js", 1, ""),))
    found = by_command.likely(paths, known, [NODE], ["require('./lib/named.js')"])
    assert found[:3] == ["lib/framed.js", "lib/named.js", "beside.js"]
    assert len(found) == by_command.MOST_FILES
