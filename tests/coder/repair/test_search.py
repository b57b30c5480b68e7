from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from coder import events
from coder.patch import apply_edits, sha256
from coder.repair.context import Strategy
from coder.repair.search import search
from sandbox.testing.report import Trial
from tests.coder.repair.fakes import ScriptedTester, checks_of, context

ONE_SLIP = "def f(a, b):\n    if a < b:\n        return a - b\n    return b\n"
TWO_SLIPS = "def f(items):\n    for item in items:\n        if item > 3:\n            return True\n    return False\n"


def test_a_single_slip_is_repaired_and_the_search_stops_there() -> None:
    tester = ScriptedTester("module.py", ONE_SLIP, checks_of(((1, 2), 3), ((5, 2), 2), ((3, 3), 3)), 3)
    seen: list[events.Event] = []
    (proved,) = search(context(tester), seen.append)
    assert proved.files["module.py"] == ONE_SLIP.replace("a - b", "a + b")
    assert apply_edits(ONE_SLIP, proved.proposal.edits) == proved.files["module.py"]
    assert proved.proposal.hashes == {"module.py": sha256(ONE_SLIP.encode())}
    assert tester.confirmed == [proved.files["module.py"]]
    assert proved.tried == len(tester.tried) == sum(isinstance(event, events.Candidate) for event in seen)
    kinds = [type(event) for event in seen]
    assert kinds[0] is events.Localized and kinds[-1] is events.Validation


def test_no_program_is_run_twice_and_none_that_does_not_compile() -> None:
    tester = ScriptedTester("module.py", ONE_SLIP, lambda text: 0)
    assert search(context(tester, max_candidates=400)) == []
    assert len(tester.tried) == len(set(tester.tried)) > 100
    assert ONE_SLIP not in tester.tried
    for text in tester.tried:
        compile(text, "module.py", "exec")


def test_two_slips_are_repaired_through_the_edit_that_came_further() -> None:
    cases = checks_of((([9],), False), (([1, 2],), True), (([],), True))
    tester = ScriptedTester("module.py", TWO_SLIPS, cases, 3)
    (proved,) = search(context(tester))
    assert cases(proved.files["module.py"]) == 3
    assert proved.proposal.edits
    assert apply_edits(TWO_SLIPS, proved.proposal.edits) == proved.files["module.py"]


def test_the_same_slip_at_several_places_is_one_candidate() -> None:
    text = "def f(a, b):\n    x = a - b\n    y = a - b\n    return x * y\n"
    tester = ScriptedTester("module.py", text, lambda new: int(new.count("a + b") == 2))
    (proved,) = search(context(tester))
    assert len(proved.proposal.edits) == 2


def test_edits_that_a_patch_does_not_need_are_taken_out() -> None:
    text = "def f(a, b):\n    x = a - b\n    y = a - b\n    return x\n"
    tester = ScriptedTester("module.py", text, lambda new: int("y = a + b" in new))

    def both_first(files: Any, nodes: Any, hasty: bool = False, probes: int = 0) -> Trial:
        trial = ScriptedTester.trial(tester, files, nodes)
        # Only the double edit passes at first, as if a time limit had hidden the single one.
        hidden = (
            trial.passed
            and files["module.py"].count("a + b") < 2
            and not any(t.count("a + b") == 2 for t in tester.tried)
        )
        return Trial(trial.outcomes, False, trial.way, 0.0) if hidden else trial

    tester.trial = both_first  # type: ignore[method-assign]
    (proved,) = search(context(tester))
    assert proved.files["module.py"] == text.replace("y = a - b", "y = a + b")
    assert len(proved.proposal.edits) == 1


def test_a_refused_patch_does_not_end_the_search() -> None:
    tester = ScriptedTester("module.py", ONE_SLIP, lambda text: int("a + b" in text or "a * b" in text))
    tester.cheats.add(ONE_SLIP.replace("a - b", "a + b"))
    seen: list[events.Event] = []
    (proved,) = search(context(tester), seen.append)
    assert proved.files["module.py"] not in tester.cheats
    validations = [event for event in seen if isinstance(event, events.Validation)]
    assert [validation.proved for validation in validations].count(False) <= 1
    assert validations[-1].proved


def test_find_all_goes_on_behind_the_first() -> None:
    tester = ScriptedTester("module.py", ONE_SLIP, lambda text: int("a + b" in text or "a * b" in text))
    found = search(context(tester, find_all=True, max_candidates=300))
    assert len({proved.files["module.py"] for proved in found}) == len(found) > 1
    assert [proved.score for proved in found] == sorted((proved.score for proved in found), reverse=True)


def test_the_number_of_trials_is_bounded() -> None:
    tester = ScriptedTester("module.py", ONE_SLIP, lambda text: 0)
    assert search(context(tester, max_candidates=7)) == []
    assert len(tester.tried) == 7


def test_the_search_ends_when_nothing_is_left() -> None:
    tester = ScriptedTester("module.py", "def f():\n    return 1\n", lambda text: 0)
    assert search(context(tester)) == []
    assert 5 < len(tester.tried) < 2000


def test_it_can_be_cancelled_at_any_moment() -> None:
    cancel = threading.Event()

    def judge(text: str) -> int:
        if len(tester.tried) == 5:
            cancel.set()
        return 0

    tester = ScriptedTester("module.py", ONE_SLIP, judge)
    assert search(context(tester, cancel=cancel)) == []
    assert len(tester.tried) == 5
    assert not any(thread.name == "author" for thread in threading.enumerate())


def test_no_time_no_trial() -> None:
    tester = ScriptedTester("module.py", ONE_SLIP, lambda text: 0)
    assert search(context(tester, timeout_s=0.0)) == []
    assert tester.tried == []


def test_a_model_that_cannot_be_loaded_is_reported() -> None:
    def load() -> Any:
        raise RuntimeError("no weights")

    tester = ScriptedTester("module.py", ONE_SLIP, lambda text: 0)
    with pytest.raises(RuntimeError, match="no weights"):
        search(context(tester, load_model=load))


def test_without_tree_edits_and_without_a_model_there_is_nothing_to_try() -> None:
    tester = ScriptedTester("module.py", ONE_SLIP, lambda text: 1)
    assert search(context(tester, strategy=Strategy(tree_edits=False))) == []
    assert tester.tried == []


def test_protected_files_are_not_edited() -> None:
    tester = ScriptedTester("tests/helpers.py", ONE_SLIP, lambda text: 1)
    assert search(context(tester)) == []
    assert tester.tried == []


def test_files_that_hold_the_tests_are_not_edited_whatever_their_names() -> None:
    tester = ScriptedTester("checks.py", ONE_SLIP, lambda text: 1)
    given = context(tester)
    given.baseline = replace(given.baseline, test_files=("checks.py",))
    assert search(given) == []
    assert tester.tried == []
    allowed = context(tester, allow_tests=True)
    allowed.baseline = given.baseline
    assert len(search(allowed)) == 1
