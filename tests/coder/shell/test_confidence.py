"""How sure an answer is, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coder.shell import ask as asking
from coder.shell.ask import Parts, ask
from coder.shell.choose import Cluster
from coder.shell.confidence import confidence, evidence
from coder.shell.manual import Manual
from coder.shell.propose import Question, propose, understand
from coder.shell.tree import Tree
from coder.shell.trial import Outcome

PRINTED = Outcome(0, "a\n", "", (), True)


@pytest.fixture(scope="module")
def question() -> Question:
    return understand("find *.py files older than 7 days under /work", (), Path("/work"))


def _cluster(question: Question, command: str, outcome: Outcome | None = PRINTED, share: float = 0.8) -> Cluster:
    proposal = propose(question, lambda command: True, 1)[0]
    return Cluster((replace(proposal, candidate=replace(proposal.candidate, command=command)),), outcome, share)


def test_it_grows_with_agreement_and_falls_with_what_is_lacking_or_idle(question: Question) -> None:
    whole, part = "find /work -name '*.py' -mtime +7", "find /work -name '*.py' -size +7k"

    def sure(command: str, *more: Outcome | float) -> float:
        return confidence(evidence(question, _cluster(question, command, *more)))  # type: ignore[arg-type]

    assert 0 < sure(whole, PRINTED, 0.2) < sure(whole) < 1
    assert sure(part) < sure(whole)
    assert sure(whole, Outcome(1, "", "no", (), True)) < sure(whole)
    assert evidence(question, _cluster(question, part))["against"] == 2  # no age, and a size that nobody named


def test_below_the_threshold_there_is_a_guess_and_no_command(
    question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("1\n")
    parts = Parts(manual=Manual(tmp_path / "manual"))
    for threshold, given in ((0.0, True), (1.0, False)):
        for name in ("SURE", "GLANCE"):
            monkeypatch.setattr(asking, name, threshold)
        answer = ask("find all *.py files", Tree.read(tmp_path), parts)
        assert bool(answer.command) is given and answer.guess


def test_no_alternative_reaches_outside(question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = ["ls *.log", "cat /etc/passwd", "find ~ -name '*.log'", "sudo ls", "find . -name '*.log'"]
    proposals = [_cluster(question, command).proposals[0] for command in commands]
    monkeypatch.setattr(asking, "propose", lambda question, possible, count: proposals)
    answer = ask("find all .log files", Tree.read(tmp_path), Parts(manual=Manual(tmp_path / "m")))
    assert {answer.guess, *answer.alternatives} == {"ls *.log", "find . -name '*.log'"}


def test_what_only_reads_is_given_earlier_than_what_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("1\n")
    parts = Parts(manual=Manual(tmp_path / "manual"))
    monkeypatch.setattr(asking, "SURE", 1.0)
    monkeypatch.setattr(asking, "GLANCE", 0.0)
    assert ask("find all *.py files", Tree.read(tmp_path), parts).command
    removal = ask("delete all *.py files", Tree.read(tmp_path), parts)
    assert removal.guess and not removal.command


def test_a_command_that_failed_is_mended_and_run_again(
    question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    class Ran:
        def __init__(self, *arguments: object) -> None: ...

        def __enter__(self) -> Ran:
            return self

        def __exit__(self, *exception: object) -> None: ...

        def run(self, commands: list[str]) -> list[Outcome]:
            ran.append(commands)
            missing = Outcome(1, "", "cat: b.txt: No such file or directory", (), True)
            return [Outcome(0, "b\n", "", (), True) if "a/" in one else missing for one in commands]

    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.txt").write_text("b\n")
    proposals = [_cluster(question, "cat b.txt").proposals[0]]
    monkeypatch.setattr(asking, "propose", lambda question, possible, count: proposals)
    monkeypatch.setattr(asking, "Trials", Ran)
    parts = Parts(object(), manual=Manual(tmp_path / "m"))  # type: ignore[arg-type]
    answer = ask("show b.txt", Tree.read(tmp_path), parts)
    assert ran == [["cat b.txt"], ["cat a/b.txt"]]
    assert answer.guess == "cat a/b.txt" and answer.outcome is not None and answer.outcome.stdout == "b\n"
