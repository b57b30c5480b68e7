"""The committed list of injected bugs is what it claims to be, and what came of them is counted rightly."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.injected import bugs as listing
from benchmarks.injected import run, summary
from benchmarks.injected.code import apply_changes
from benchmarks.injected.families import FAMILIES
from benchmarks.injected.inject import PER_FUNCTION, slots
from benchmarks.injected.packages import packages
from benchmarks.injected.suites import run_suite

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def bugs():
    return listing.load()


def result(id, **changes):
    fields = dict(
        id=id, status="done", applied=True, repaired=True, original=False, seconds=10.0, tried=5, origin="name"
    )
    return run.Result(**(fields | dict(note="", diff="", patched="f00d", message="") | changes))


def test_at_least_two_hundred_bugs_in_eight_packages(bugs):
    assert len(bugs) >= 200
    assert len({bug.id for bug in bugs}) == len(bugs)
    for half in ("tune", "test"):
        assert sum(bug.half == half for bug in bugs) >= 100
        assert len({bug.package for bug in bugs if bug.half == half}) >= 8


def test_halves_share_no_package(bugs):
    assert all(bug.half == packages()[bug.package].half for bug in bugs)
    assert all(bug.version == packages()[bug.package].version for bug in bugs)


def test_a_third_cannot_be_undone_by_one_edit(bugs):
    for half in ("tune", "test"):
        mine = [bug for bug in bugs if bug.half == half]
        assert sum(not bug.single_edit for bug in mine) >= 0.3 * len(mine)
    assert all(bug.single_edit == (bug.family in FAMILIES) for bug in bugs)
    assert all(len(bug.edits) == 2 for bug in bugs if bug.family in ("two places", "rewritten line"))


def test_families_follow_the_published_shares(bugs):
    for half in ("tune", "test"):
        wanted = Counter(family for _, family in slots(half, 120))
        found = Counter(bug.family for bug in bugs if bug.half == half)
        assert sum((wanted - found).values()) <= 6


def test_every_bug_fails_some_tests_and_not_all(bugs):
    assert all(0 < bug.failing <= bug.tests / 2 for bug in bugs)
    assert all(edit.before != edit.after for bug in bugs for edit in bug.edits)
    places = Counter((bug.package, bug.path, bug.function) for bug in bugs)
    assert max(places.values()) <= PER_FUNCTION


def test_no_package_is_in_the_training_corpus():
    corpus = ROOT / "model" / "training" / "packages.toml"
    trained = {row["name"].lower() for row in tomllib.loads(corpus.read_text())["package"]}
    assert not trained & set(packages())


def test_the_forty_are_of_the_reporting_half(bugs):
    forty = listing.ablation_forty(bugs)
    assert len({bug.id for bug in forty}) == 40
    assert {bug.half for bug in forty} == {"test"}
    assert any(not bug.single_edit for bug in forty)


@pytest.mark.slow
def test_bugs_fit_their_packages(bugs, tmp_path):
    """Spans hold what the list says they do; one bug per package fails as many tests as listed."""
    for bug in bugs:
        text = bug.original()
        assert all(text[edit.start : edit.end] == edit.before for edit in bug.edits)
    for bug in {bug.package: bug for bug in bugs}.values():
        root = bug.lay(tmp_path / bug.id)
        assert len(run_suite(root).failed) >= bug.failing


def test_changes_are_applied_from_the_end():
    from benchmarks.injected.code import Change

    assert apply_changes("abcdef", (Change(1, 2, "XX"), Change(4, 5, ""))) == "aXXcdf"


def test_results_are_kept_and_not_run_again(tmp_path, monkeypatch, bugs):
    asked = []

    def fix(bug, mode, timeout):
        asked.append(bug.id)
        return result(bug.id)

    monkeypatch.setattr(run, "fix", fix)
    out = tmp_path / "full.jsonl"
    assert len(list(run.run(bugs[:2], "full", 120, out))) == 2
    assert len(list(run.run(bugs[:3], "full", 120, out))) == 1
    assert asked == [bug.id for bug in bugs[:3]]
    assert list(run.load(out)) == asked


def test_a_fix_that_breaks_is_a_result(tmp_path):
    (last,) = run.run_once("full", tmp_path / "state", [str(tmp_path / "nowhere")], 60)
    assert last["type"] == "result"
    assert last["exit_code"] != 0
    assert last["message"]


def test_tally_counts_only_what_was_read_as_alike():
    results = [
        result("a", original=True, seconds=4.0, tried=1),
        result("b", seconds=8.0, tried=3),
        result("c", seconds=6.0, tried=2),
        result("d", repaired=False, applied=True, tried=900),
    ]
    counted = summary.tally(results, {("b", "f00d"): True, ("c", "f00d"): False, ("d", "f00d"): True})
    assert (counted.bugs, counted.repaired, counted.alike) == (4, 3, 2)
    assert (counted.seconds, counted.tried) == (6.0, 2.5)
    assert counted.cells() == ("4", "3 (75 %)", "2 (50 %)", "6 s", "2")
    assert [r.id for r in summary.unread(results, {("b", "f00d"): True})] == ["c"]
