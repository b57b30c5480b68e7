"""The model's part: what it is shown, what it may write, and what its reading does to the order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from coder.shell.manual import Manual, Page
from coder.shell.propose import Proposal, Question, propose, understand
from coder.shell.reader import lark, prompt, reread, write
from model.decoding.grammar import Grammar, GrammarError
from tests.model.toy import ByteTokenizer, ScriptedModel

SENTENCE = "find all *.py files under /work larger than 10k"


class Known(Manual):
    """Knows two programs; runs nothing."""

    def __init__(self) -> None:
        super().__init__(Path("/nonexistent"))

    def page(self, program: str) -> Page:
        return Page("", {"find": {"-name": "", "-type": "", "-size": ""}, "wc": {"-l": "", "-w": ""}}.get(program, {}))


@pytest.fixture(scope="module")
def question() -> Question:
    return understand(SENTENCE, (), Path("/work"))


@pytest.fixture(scope="module")
def proposals(question: Question) -> list[Proposal]:
    return propose(question, lambda command: True, 20)


def _admits(source: str, text: str) -> bool:
    guide = Grammar.lark(ByteTokenizer(), source).guide(200)
    try:
        for token in text.encode():
            if not guide.allowed(257)[token]:
                return False
            guide.advance(token)
    except GrammarError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("find . -name '*.c' -size +3k | wc -l\n", True),
        ("find . -type f\n", True),
        ("wc -lw a.txt\n", True),
        ("rm -rf x\n", False),
        ("find . -nosuch x\n", False),
        ("find . -name $(id)\n", False),
        ("find . ; id\n", False),
        ("find . | id\n", False),
        ("wc --files0-from=x\n", False),
        ("wc -c a\n", False),
    ],
)
def test_only_known_programs_and_options_can_be_written(text: str, admitted: bool) -> None:
    assert _admits(lark(["find", "wc"], Known()), text) is admitted


def test_the_nearest_example_stands_last(question: Question) -> None:
    shown = prompt(question).split("\n\n")
    assert shown[-1] == f"# {SENTENCE}\n"
    nearest = question.near[0].example
    assert shown[-2] == f"# {nearest.sentence}\n{nearest.command}"
    assert len({text.splitlines()[1] for text in shown[:-1]}) == len(shown) - 1  # no command twice


def _model_that_says(text: str, question: Question) -> ScriptedModel:
    return ScriptedModel(list(text.encode()), len(prompt(question).encode()))


def test_the_model_writes_a_command_of_its_own(question: Question, proposals: list[Proposal]) -> None:
    model = _model_that_says("find /work -size +10k\n", question)
    written = write(question, proposals, model, ByteTokenizer(), Known())
    assert [one.command for one in written] == ["find /work -size +10k"]
    assert written[0].candidate.missed == 1
    wrong = write(question, proposals, _model_that_says("find /work\n", question), ByteTokenizer(), Known())
    assert wrong[0].candidate.missed == 2 and wrong[0].worth < written[0].worth


def test_reading_moves_what_is_likelier_and_keeps_the_rest_behind(
    question: Question, proposals: list[Proposal], monkeypatch: pytest.MonkeyPatch
) -> None:
    favourite = proposals[5].command

    class Scorer:
        def __init__(self, model: object, tokenizer: object) -> None: ...

        def spans(self, prefix: str, middles: Sequence[str], suffix: str) -> list[float]:
            assert prefix == prompt(question) and suffix == "\n"
            return [0.0 if middle == favourite else -500.0 for middle in middles]

    monkeypatch.setattr("model.scoring.Scorer", Scorer)
    model = _model_that_says("find /work -size +10k\n", question)
    read = reread(question, proposals, model, ByteTokenizer(), Known())
    assert read[0].command == favourite
    assert [one.command for one in read[-4:]] == [one.command for one in proposals[16:20]]
    assert all(read[index].worth >= read[index + 1].worth for index in range(len(read) - 1))
    assert reread(question, proposals, model, ByteTokenizer(), Known()) == read
