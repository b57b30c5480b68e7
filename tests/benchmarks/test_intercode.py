"""Questions set aside, wrong neighbours, reliability: what the figures of shell questions rest on."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.intercode import Result, report, same, tasks
from benchmarks.intercode_trees.grow import grow
from benchmarks.intercode_trees.heldout import PLACE, set_aside, shares
from benchmarks.intercode_trees.mutate import mutants
from coder.shell.trial import Change, Outcome


def test_what_is_set_aside_is_no_example() -> None:
    pairs, rest = set_aside(40)
    assert len(pairs) == 40 == len({question for question, _ in pairs})
    sentences = {one.sentence for one in rest.examples}
    commands = {"".join(one.command.split()) for one in rest.examples}
    unplaced = [pair for pair in pairs if PLACE not in "".join(pair)]
    assert unplaced and len(unplaced) < 40
    assert not any(question in sentences or "".join(command.split()) in commands for question, command in unplaced)
    assert set_aside(40)[0] == pairs and set_aside(40, seed=1)[0] != pairs
    only = set_aside(5, lambda command: command.startswith("grep"))[0]
    assert all(command.startswith("grep") for _, command in only)


def test_mutants_differ_and_trees_hold_what_is_named(tmp_path: Path) -> None:
    gold = f"find {PLACE} -name '*.zig' | xargs grep -l needle | sort"
    found = mutants(gold, PLACE)
    assert len(found) >= 3 and gold not in found
    grow("list *.zig files with needle", gold, PLACE, tmp_path, 0)
    texts = [path.read_text(errors="replace") for path in tmp_path.rglob("*.zig") if path.is_file()]
    assert texts and any("needle" in text for text in texts)


def test_the_same_effect_regardless_of_an_order_that_nobody_asked_for() -> None:
    def printed(text: str, *changes: Change) -> Outcome:
        return Outcome(0, text, "", changes, True)

    one, other = printed("a\nb\n"), printed("b\na\n")
    assert same("find .", one, other) and not same("find . | sort", one, other)
    assert not same("find .", one, None)
    assert not same("rm x", printed(""), printed("", Change("x", 0, None, None)))


def test_tasks_are_about_the_place_that_is_named_most(tmp_path: Path) -> None:
    data = tmp_path / "fs_9.jsonl"
    data.write_text('{"query": "q", "gold": "ls /box/a"}\n{"query": "r", "gold": "ls box/b /box"}\n')
    assert [(one.name, one.gold, one.place) for one in tasks(data)] == [
        ("fs_9:0", "ls /box/a", "/box"),
        ("fs_9:1", "ls /box/b /box", "/box"),
    ]


def test_reliability_by_ranges() -> None:
    found = shares([(0.1, False), (0.3, True), (0.4, False), (1.0, True)], (0.0, 0.2, 0.5, 1.0))
    assert found == [("0.00-0.20", 1, 0.1, 0.0), ("0.20-0.50", 2, 0.35, 0.5), ("0.50-1.00", 1, 1.0, 1.0)]


def test_an_answer_is_what_was_given_not_what_a_threshold_says_later(capsys: pytest.CaptureFixture[str]) -> None:
    def result(name: str, given: bool, right: bool) -> Result:
        return Result(name, "q", "ls", "", {"best guess": "ls"}, {"best guess": right}, given, {"bias": 1.0})

    every = [result("a", True, True), result("b", True, False), result("c", False, True), Result("d", "q", "x", "no")]
    report(every, 4, Namespace(save=False))
    lines = capsys.readouterr().out.splitlines()
    assert "answer  1 of 3  33%  2  50%" in lines and "best guess  2 of 3  67%  3  67%" in lines
