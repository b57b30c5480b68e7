"""From a sentence to commands: literals, nearest examples, slots, crossings, what a question asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from coder.shell.adapt import adapt
from coder.shell.compose import compose, split
from coder.shell.examples import Example, Index, Near, shipped, terms
from coder.shell.features import features
from coder.shell.literals import Kind, literals
from coder.shell.propose import propose, understand


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("find all *.c files under /usr/src", [(Kind.EXTENSION, "c"), (Kind.PATH, "/usr/src")]),
        ("list python files larger than 10 MB", [(Kind.EXTENSION, "py"), (Kind.SIZE, "10M")]),
        ("set permissions of 'a b' to 0755", [(Kind.WORD, "a b"), (Kind.MODE, "0755")]),
        ("show the first five lines of notes.txt", [(Kind.NUMBER, "5"), (Kind.FILE, "notes.txt")]),
        ('names matching "foo??" in the current directory', [(Kind.GLOB, "foo??"), (Kind.PATH, ".")]),
        ("count files/directories", []),
        ("lines in PHP, js and C files", [(Kind.EXTENSION, "php"), (Kind.EXTENSION, "js"), (Kind.EXTENSION, "c")]),
        ("names that do not contain aa or bb.x", [(Kind.WORD, "aa"), (Kind.FILE, "bb.x")]),
        ("search for the word text in it", [(Kind.WORD, "text")]),
        ("compress what is in the directory 'X_Y'", [(Kind.PATH, "X_Y")]),
    ],
)
def test_literals_of_a_sentence(sentence: str, expected: list[tuple[Kind, str]]) -> None:
    assert [(one.kind, one.text) for one in literals(sentence)] == expected


def test_a_name_counts_only_where_it_is_known_and_what_follows_to_is_a_target() -> None:
    assert literals("list the src directory") == []
    assert [one.text for one in literals("list the src directory", {"src"})] == ["src"]
    assert [one.target for one in literals("copy a.txt to b/c.txt")] == [False, True]


def _adapted(sentence: str, command: str, question: str) -> list[str]:
    example = Example(sentence, command, tuple(terms(sentence, literals(sentence))))
    return [one.command for one in adapt(Near(example, 1.0), literals(question))]


def test_the_question_fills_the_slots_of_an_example() -> None:
    filled = _adapted(
        'find "*.java" files in /home containing "main"',
        "find /home -name \"*.java\" | xargs grep -l 'main'",
        'find *.py files in src/app containing "TODO: x"',
    )
    assert filled[0] == "find src/app -name \"*.py\" | xargs grep -l 'TODO: x'"


def test_a_place_and_a_pattern_that_the_example_lacks_are_put_in() -> None:
    assert _adapted("list all files", "find . -type f", "list all .md files under docs/") == [
        "find docs/ -name '*.md' -type f"
    ]


def test_a_pattern_is_not_where_something_goes() -> None:
    filled = _adapted("archive the files under a/b to x.tar", "tar cf x.tar a/b", "archive *.c files under src/c")
    assert filled and not any("cf *.c" in one or "cf '*.c'" in one for one in filled)


def test_sources_and_targets_keep_their_roles() -> None:
    filled = _adapted("copy a.txt to /backup", "cp a.txt /backup", "copy to /new the file b.txt")
    assert filled[0] == "cp b.txt /new"


def test_crossing_joins_what_is_found_with_what_is_done() -> None:
    asked = literals("count all .py files")
    one, two = ("find . -name '*.py'", "find . -name '*.py' -type f | xargs wc -l")
    made = compose("count all .py files", [*_candidates(one), *_candidates(two)], asked)
    assert "find . -name '*.py' | xargs wc -l" in {candidate.command for candidate in made}
    assert split("ls -l") is None and split("find . -type f -exec rm {} +") == ("find . -type f", " -exec rm {} +")


def _candidates(command: str) -> list:
    example = Example("count all .py files", command, ("count", "every"))
    return list(adapt(Near(example, 1.0), literals("count all .py files")))


def test_the_nearest_example_says_nearly_the_same() -> None:
    rows = [("count lines in a file", "wc -l f"), ("remove empty directories", "find . -empty -delete")]
    index = Index([Example(sentence, command, tuple(terms(sentence, []))) for sentence, command in rows])
    near = index.nearest("delete all empty folders", [], 2)
    assert near[0].example.command == "find . -empty -delete"
    same = index.nearest("remove empty directories", [], 1)
    assert same[0].likeness == pytest.approx(1.0) and near[0].likeness < 1


def test_features_tell_programs_options_and_pipes() -> None:
    found = features("find . -type f -exec grep -il x {} + | sort -rn")
    assert {"find", "find -type f", "find>grep", "grep -i", "grep -l", "find|sort", "sort -n"} <= found
    assert features("find (") == frozenset()


def test_the_shipped_data_proposes_what_is_asked_for() -> None:
    assert len(shipped().examples) > 12_000
    question = understand("find all .py files larger than 1 MB", (), Path("/work"))
    best = propose(question, lambda command: True, 10)
    assert any("-size +1M" in one.command and "*.py" in one.command for one in best[:5])
    assert any("wc" in name for name in understand("count lines of a.txt", (), Path("/work")).judge.likeliest(5))
