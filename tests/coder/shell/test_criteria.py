"""What a question asks for: conditions on files, and what is to be done with them."""

from __future__ import annotations

import pytest

from coder.shell import actions
from coder.shell.criteria import criteria, differences
from coder.shell.literals import literals
from coder.shell.steps import ends, starts
from coder.shell.syntax import parse


def _tests(sentence: str) -> list[str]:
    return [one.tests[0] for one in criteria(sentence, literals(sentence))]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("find regular files under src modified more than 7 days ago", ["-type f", "-mtime +7"]),
        ("files changed within the last 2 hours", ["-type f", "-mmin -120"]),
        ("files last modified 3 days ago", ["-type f", "-mtime 3"]),
        ("list directories larger than 10k", ["-type d", "-size +10k"]),
        ("files of 2560 bytes under docs/", ["-type f", "-size 2560c"]),
        ("files between 1M and 5M in size", ["-type f", "-size +1M", "-size -5M"]),
        ("all empty files", ["-type f", "-empty"]),
        ("count non-empty files", ["-type f", "-not -empty"]),
        ("create an empty file a.txt", ["-type f", "-name 'a.txt'"]),
        ("files with extension .txt or .md", ["-type f", "\\( -name '*.txt' -o -name '*.md' \\)"]),
        ("files whose names begin with 'ab' and end with 'yz'", ["-type f", "-name 'ab*'", "-name '*yz'"]),
        ('files whose names contain "x1"', ["-type f", "-name '*x1*'"]),
        ('files containing the word "x1"', ["-type f"]),
        ("files named 'a.b' ignoring case", ["-type f", "-iname 'a.b'"]),
        ("all files except *.o", ["-type f", "! -name '*.o'"]),
        ("files not ending with '.a' or '.b'", ["-type f", "! -name '*.a'", "! -name '*.b'"]),
        ("files with permissions 644", ["-type f", "-perm 644"]),
        ("files with at least the permissions 644", ["-type f", "-perm -644"]),
        ("set permissions of all files to 644", ["-type f"]),
        ("files that have execute permission set for all", ["-type f", "-perm -111"]),
        ('files with "ab" (case insensitive) in their names', ["-type f", "-iname '*ab*'"]),
        ("files writable by group", ["-type f", "-perm -020"]),
        ("executable files", ["-type f", "-executable"]),
        ("files with the sticky bit", ["-type f", "-perm -1000"]),
        ("files owned by user ann", ["-type f", "-user ann"]),
        ("files in the current folder, not in sub directories", ["-maxdepth 1", "-type f"]),
        ("symbolic links in this folder", ["-type l"]),
        ("files newer than notes.txt", ["-type f", "-newer notes.txt"]),
        ("set 644 permission to all files", ["-type f"]),
        ("files and directories under src", [""]),
        ("directories with the name aa", ["-type d", "-name 'aa'"]),
        ("files with a txt extension", ["-type f", "-name '*.txt'"]),
        ("all .git folders", ["-type d", "-name '.git'"]),
        ("files writable by their owner or group", ["-type f", "-perm /220"]),
        ("files containing `ab' in their names", ["-type f", "-name '*ab*'"]),
    ],
)
def test_conditions_of_a_question(sentence: str, expected: list[str]) -> None:
    assert _tests(sentence) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("find . -mtime +7 -name '*.c' -type f", (0, 0)),
        ("find . -mtime 7 -name '*.c'", (1, 0)),
        ("find . -mtime +7", (1, 0)),
        ("find . -iregex '.*\\.c' -mtime +7", (0, 0)),
        ("find . -mtime +7 -name '*.c' -size +1k", (0, 1)),
        ("find . -mtime +7 -name '*.c' -type d", (0, 1)),
        ("find . -mtime +7 -name '*.c' -exec test -size {} \\;", (0, 0)),
        ("ls *.c", (1, 0)),
    ],
)
def test_what_a_command_lacks_and_adds(command: str, expected: tuple[int, int]) -> None:
    sentence = "find *.c files older than 7 days"
    assert differences(parse(command), criteria(sentence, literals(sentence))) == expected


@pytest.mark.parametrize(
    ("sentence", "command", "expected"),
    [
        ("delete all logs", "find . -name '*.log' -delete", (0, 0)),
        ("delete all logs", "find . -name '*.log'", (1, 0)),
        ("list all logs", "find . -name '*.log' -delete", (0, 1)),
        ("find all logs and copy them to x", "find . | xargs mv -t x", (1, 1)),
        ("count the files", "ls | wc -l", (0, 0)),
        ("list the files", "ls | wc -l", (0, 1)),
        ("show the first 5 lines of a", "cat a | sort", (1, 0)),
        ("compress all files", "find . -exec gzip {} +", (0, 0)),
    ],
)
def test_what_is_done_and_what_was_to_be_done(sentence: str, command: str, expected: tuple[int, int]) -> None:
    assert actions.differences(sentence, command) == expected


def test_parts_made_of_the_question_alone() -> None:
    sentence = "copy the .txt and .md files under src modified 3 days ago to docs/old"
    asked = literals(sentence, {"src"})
    found = list(starts(sentence, asked))
    assert found[0] == "find src -type f \\( -name '*.txt' -o -name '*.md' \\) -mtime 3"
    assert "find src -type f \\( -name '*.txt' -o -name '*.md' \\) -mtime +3" in found
    assert " -exec cp -r {} docs/old \\;" in ends(sentence, asked)
    shallow = "list directories here without recursing"
    assert next(starts(shallow, [])) == "find . -maxdepth 1 -type d"
    missing = "files that do not contain 'x'"
    assert " -exec grep -L 'x' {} +" in ends(missing, literals(missing))
