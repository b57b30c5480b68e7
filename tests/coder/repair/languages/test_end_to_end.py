"""A small project in JavaScript, repaired without a model in the real sandbox; and where the fault is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.node import Node
from coder import events
from coder.patch import apply_edits
from coder.repair.context import RepairContext
from coder.repair.search import search
from sandbox.jail import Sandbox
from sandbox.testing.command import CommandSession
from sandbox.testing.report import Oracle
from sandbox.working_copy import WorkingCopy
from tests.coder.repair.fakes import ScriptedTester, context

EXAMPLE = Path(__file__).resolve().parents[4] / "examples" / "parcels"
SLIP, RIGHT = "Math.min(parcel.weight, byRoom)", "Math.max(parcel.weight, byRoom)"
TWO_SLIPS = {
    "span.js": "exports.span = (list) => {\n  const low = Math.min(...list);\n  const high = Math.min(...list);\n"
    "  return high + low;\n};\n",
    "check.js": "const assert = require('assert');\nconst { span } = require('./span.js');\n"
    "assert.strictEqual(span([0, 7]), 7);\nassert.strictEqual(span([4, 9, 2]), 7);\n",
}


def repair(root: Path, node: Node, script: str, seen: list[events.Event]):
    files = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.js")}
    with (
        WorkingCopy.of(root, list(files)) as tree,
        CommandSession(Sandbox.detect(), tree, f"{node.program} {script}", read_only=node.folders) as session,
    ):
        baseline = session.baseline()
        context = RepairContext(session, baseline, files, baseline.failing, timeout_s=300, repeats=1)
        return files, baseline, search(context, seen.append)


def test_the_example_is_repaired_and_proved(node: Node) -> None:
    seen: list[events.Event] = []
    files, baseline, (proved,) = repair(EXAMPLE, node, "test/run.js", seen)
    assert proved.files == {"src/parcel.js": files["src/parcel.js"].replace(SLIP, RIGHT)}
    assert apply_edits(files["src/parcel.js"], proved.proposal.edits) == proved.files["src/parcel.js"]
    assert (proved.verdict.passed, proved.verdict.oracle) == (True, Oracle.EXIT_CODE)
    assert "weaker proof" in proved.verdict.summary()
    assert baseline.test_files == ("test/run.js",)
    localized = next(event for event in seen if isinstance(event, events.Localized))
    names = [suspect.function for suspect in localized.suspects]
    assert "chargedWeight" in names[:3]
    assert "price" not in names, "it never ran"


def test_two_slips_are_repaired_one_after_the_other() -> None:
    def checks(text: str) -> int:
        return ("high = Math.max(" in text) * (1 + ("high - low" in text))

    tester = ScriptedTester("span.js", TWO_SLIPS["span.js"], checks, checks=2)
    (proved,) = search(context(tester))
    assert proved.files["span.js"] == TWO_SLIPS["span.js"].replace("high = Math.min", "high = Math.max").replace(
        "+", "-"
    )
    assert proved.proposal.note == "`min` → `max` in span; `+` → `-` in span"


@pytest.mark.parametrize("cheat", [{"check.js": ""}, {"span.js": "process.exit(0)"}])
def test_what_only_looks_like_a_repair_is_refused(node: Node, tmp_path: Path, cheat: dict[str, str]) -> None:
    for path, text in TWO_SLIPS.items():
        (tmp_path / path).write_text(text)
    with (
        WorkingCopy.of(tmp_path, list(TWO_SLIPS)) as tree,
        CommandSession(Sandbox.detect(), tree, f"{node.program} check.js", read_only=node.folders) as session,
    ):
        session.baseline()
        verdict = session.confirm(cheat)
    assert verdict.dishonest
    assert not verdict.passed
