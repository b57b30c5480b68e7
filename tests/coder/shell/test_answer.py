"""Trials in the jail, votes, explanations, and the answer as a whole. No model: that has its own test."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from coder.environment import Environment
from coder.events import Applied, Event
from coder.exit_status import ExitStatus
from coder.shell import choose
from coder.shell.adapt import Candidate
from coder.shell.ask import Parts, ask
from coder.shell.events import ShellAnswer
from coder.shell.examples import Example
from coder.shell.expect import fit
from coder.shell.explain import explain
from coder.shell.literals import literals
from coder.shell.manual import Manual
from coder.shell.preview import diff
from coder.shell.propose import Proposal
from coder.shell.safety import Effect
from coder.shell.tree import Tree
from coder.shell.trial import Outcome, Trials
from sandbox.jail import Sandbox


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox.detect()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "src/a.py").write_text("x\n")
    (root / "src/b.py").write_text("y\n" * 3)
    (root / "notes.txt").write_text("hello\n")
    (root / ".env").write_text("KEY=1\n")
    (root / "src/a.py").chmod(0o600)
    return root


@pytest.fixture
def manual(tmp_path: Path, sandbox: Sandbox) -> Manual:
    return Manual(tmp_path / "manual", sandbox)


def test_trials_see_the_tree_as_it_is_and_change_nothing_of_it(sandbox: Sandbox, project: Path) -> None:
    with Trials(sandbox, Tree.read(project)) as trials:
        listed, removed, after, absolute, secret = trials.run(
            [
                "find . -type d -empty; find . -perm 600",
                "rm notes.txt; echo new > src/c.py; chmod 755 src/b.py; ln -s a.py src/l",
                "cat notes.txt; ls src",
                f"ls {project}/src/a.py",
                "cat .env",
            ]
        )
    assert listed and listed.stdout == "./empty\n./src/a.py\n"
    assert removed and [one.path for one in removed.changes] == ["notes.txt", "src/b.py", "src/c.py", "src/l"]
    assert after and after.stdout.splitlines() == ["hello", "a.py", "b.py"] and not after.changes
    assert absolute and absolute.stdout == f"{project}/src/a.py\n"
    assert secret and secret.returncode != 0
    shown = diff(removed, project)
    assert "-hello" in shown and "+new" in shown and "mode of src/b.py: 644 -> 755" in shown
    assert "link src/l -> a.py" in shown
    assert (project / "notes.txt").read_text() == "hello\n" and not (project / "src/c.py").exists()


def test_a_command_that_never_ends_is_ended_and_the_next_one_runs(sandbox: Sandbox, project: Path) -> None:
    with Trials(sandbox, Tree.read(project), seconds=0.5) as trials:
        endless, following = trials.run(["sleep 60", "echo on"])
    assert endless and endless.returncode is None
    assert following and following.stdout == "on\n"


def _proposal(command: str, worth: float) -> Proposal:
    return Proposal(Candidate(command, 1.0, 0, 0, Example("", command, ())), worth)


def _printed(text: str, code: int = 0) -> Outcome:
    return Outcome(code, text, "", (), True)


def test_those_that_do_the_same_vote_together() -> None:
    proposals = [_proposal("a", 1.0), _proposal("b", 0.98), _proposal("c", 0.98), _proposal("d", 1.2)]
    found = choose.clusters(proposals, [_printed("1"), _printed("2"), _printed(" 2\n"), _printed("3", code=1)])
    assert [one.command for one in found[0].proposals] == ["b", "c"]
    assert sum(cluster.share for cluster in found) == pytest.approx(1)


def test_expectations_are_held_against_what_happened() -> None:
    sentence = "count the number of lines in all .py files"
    judge = fit(sentence, literals(sentence))
    assert judge("cat *.py | wc -l", _printed("4\n")) > judge("wc -l *.py", _printed("1 a\n3 b\n4 total\n"))
    assert judge("cat *.py | wc -l", _printed("4\n")) > judge("ls *.py | wc -l", _printed("2\n"))
    largest = "show the 2 largest files"
    judge = fit(largest, literals(largest))
    assert judge("x", _printed("a\nb\n")) > judge("x", _printed("a\nb\nc\n"))


def test_only_what_exists_here_is_possible(manual: Manual) -> None:
    assert manual.possible("grep -rl x . | wc -l")
    assert not manual.possible("no-such-program x")
    assert not manual.possible("find . | xargs no-such-program")
    assert not manual.possible("grep --no-such-option x")
    assert not manual.possible("find (")


def test_an_explanation_tells_options(manual: Manual) -> None:
    parts = {part.text: part.meaning for part in explain("find . -name '*.py' | sort -r", manual)}
    assert list(parts) == ["find", "-name", "sort", "-r"] and "reverse" in parts["-r"].casefold()


def test_an_answer_is_explained_tried_and_harmless(sandbox: Sandbox, project: Path, manual: Manual) -> None:
    answer = ask("count the .py files in the src directory", Tree.read(project), Parts(sandbox, manual=manual))
    assert answer.command and answer.safety.effect is Effect.READS
    assert answer.outcome is not None and answer.outcome.stdout.strip() == "2"
    assert 0 < answer.confidence <= 1 and answer.explanation
    told = ShellAnswer.of(answer, project)
    assert told.output is not None and told.output.strip() == "2" and told.effect == "reads"


def test_the_model_is_asked_only_where_the_examples_know_nothing(
    sandbox: Sandbox, project: Path, manual: Manual
) -> None:
    class Asked(Exception):
        pass

    def model() -> tuple[object, object]:
        raise Asked

    tree = Tree.read(project)
    assert ask("count the .py files in the src directory", tree, Parts(sandbox, model, manual=manual)).command
    with pytest.raises(Asked):
        ask("translate Beethoven's hats telepathically", tree, Parts(sandbox, model, manual=manual))


def test_it_says_when_it_does_not_know(sandbox: Sandbox, project: Path, manual: Manual) -> None:
    answer = ask("translate Beethoven's hats telepathically", Tree.read(project), Parts(sandbox, manual=manual))
    assert answer.command == "" and answer.confidence < 0.5


def test_the_command_line_prints_the_command_alone_on_stdout(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coder.shell import answer, show

    monkeypatch.setattr(show, "_model", lambda environment: None)
    streams = io.StringIO(), io.StringIO()
    environment = Environment(io.StringIO(), *streams, {}, project, tmp_path / "c", tmp_path / "s")
    question = "remove all .txt files"
    assert answer(question, environment, project) == (ExitStatus.NOT_APPLIED, "nobody was there to ask")
    assert len(streams[0].getvalue().splitlines()) == 1 and "-hello" in streams[1].getvalue()
    assert (project / "notes.txt").exists()
    told: list[Event] = []
    status, command = answer(question, environment, project, told.append, as_json=True, apply=True)
    assert status is ExitStatus.DONE and not (project / "notes.txt").exists()
    assert isinstance(told[0], ShellAnswer) and (told[0].command, told[0].effect) == (command, "writes")
    assert told[1:] == [Applied("000001", ("notes.txt",))] and len(streams[0].getvalue().splitlines()) == 1
