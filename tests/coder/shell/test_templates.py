"""Plain forms for one file or two: each fits its own sample, none is refused, and questions get theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from coder.shell.adapt import filled
from coder.shell.examples import Example
from coder.shell.literals import Kind, literals
from coder.shell.propose import propose, understand
from coder.shell.safety import Effect, classify
from coder.shell.syntax import ShellSyntaxError, parse
from coder.shell.templates import MOST, files, templates, texts

ROWS = [*texts.ROWS, *files.ROWS]


@pytest.mark.parametrize(("sample", "command"), [row[1:] for row in ROWS], ids=[row[2] for row in ROWS])
def test_a_row_fits_its_sample_wholly_and_is_harmless(sample: str, command: str) -> None:
    example = Example(sample, command, ())
    asked = [one for one in literals(sample) if one.text != "./"]
    assert next(filled(example, asked)) == command
    for at in range(len(asked)):
        assert not list(filled(example, asked[:at] + asked[at + 1 :])), f"{asked[at].text} is no slot"
    assert classify(command, Path("/srv/box")).effect is not Effect.REFUSED


def test_the_commands_of_a_row_are_all_different() -> None:
    assert len(set(ROWS)) == len(ROWS) and all(len(row) == 3 for row in ROWS)


def _commands(sentence: str) -> list[str]:
    return [one.command for one in templates(sentence, literals(sentence), 1.0)]


@pytest.mark.parametrize(
    ("sentence", "command"),
    [
        ("show the first 3 lines of notes.txt", "head -n 3 notes.txt"),
        ("print lines 10 to 20 of src/a.py", "sed -n '10,20 p' src/a.py"),
        ("print all but the first 2 lines of notes.txt", "sed '1,2 d' notes.txt"),
        ("delete lines 2 to 4 of notes.txt", "sed '2,4 d' notes.txt"),
        ("show the first 100 bytes of a.bin", "head -c 100 a.bin"),
        ("how many words are in notes.txt?", "wc -w notes.txt"),
        ("count the lines that contain 'error' in app.log", "grep -c 'error' app.log"),
        ("sort data.txt numerically in descending order", "sort -nr data.txt"),
        ("print the second column of data.csv, which is separated by commas", "cut -d , -f 2 data.csv"),
        ("sum the numbers in column 3 of data.txt", "awk '{ s += $3 } END { print s }' data.txt"),
        ("which lines do left.txt and right.txt have in common", "comm -12 <(sort left.txt) <(sort right.txt)"),
        ("replace 'foo' with 'bar' in conf.ini", "sed -i 's/foo/bar/g' conf.ini"),
        ("convert notes.txt to upper case", "tr '[:lower:]' '[:upper:]' < notes.txt"),
        ("what is the md5 checksum of a.bin", "md5sum a.bin"),
        ("list the files that mention 'main'", "grep -rl 'main' ."),
        ("list the files under src/lib that mention 'main'", "grep -rl 'main' src/lib"),
        ("copy the file a.txt to b.txt", "cp a.txt b.txt"),
        ("copy the folder src/lib to old/lib", "cp -r src/lib old/lib"),
        ("create a symbolic link latest.log pointing to app.log", "ln -s app.log latest.log"),
        ("create an archive of the folder src/lib as old/src.tar.gz", "tar -czf old/src.tar.gz src/lib"),
        ("extract backup.tar.gz into out/dir", "tar -xf backup.tar.gz -C out/dir"),
        ("split the file big.txt into pieces of 500 lines", "split -l 500 big.txt"),
        ("make run.sh executable", "chmod +x run.sh"),
        ("when was notes.txt last modified", "stat -c %y notes.txt"),
        ("disk usage of the current directory", "du -sh ."),
        ("print the numbers from 5 to 15", "seq 5 15"),
    ],
)
def test_a_question_gets_its_form(sentence: str, command: str) -> None:
    assert command in _commands(sentence)


def test_names_do_not_count_as_words_and_many_files_are_for_find() -> None:
    assert not [one for one in _commands("count the words in sort.txt") if one.startswith("sort")]
    assert not [one for one in _commands("count the lines in all *.py files") if "*" in one]
    assert _commands("refactor the parser") == []


def test_likeness_grows_with_the_words_and_stays_below_the_nearest_example() -> None:
    sentence = "sort data.txt numerically in descending order"
    found = {one.command: one for one in templates(sentence, literals(sentence), 0.5)}
    assert 0.4 < found["sort -nr data.txt"].likeness <= 0.5 * MOST
    assert found["sort -nr data.txt"].missed == 0


def _parses(command: str) -> bool:
    try:
        parse(command)
    except ShellSyntaxError:
        return False
    return True


def test_they_are_proposed_beside_what_the_examples_say() -> None:
    question = understand("print lines 10 to 20 of notes.txt", (), Path("/work"))
    proposed = [one.command for one in propose(question, _parses, 60)]
    assert "sed -n '10,20 p' notes.txt" in proposed and len(set(proposed)) == len(proposed)
    kept = understand("print notes.txt without its last line", (), Path("/work"))
    assert not any(one.command.startswith("rm ") for one in propose(kept, _parses, 60))


def test_an_archive_is_one_name() -> None:
    for sentence in ("unpack a.tar.gz", "unpack 'a.tar.gz'", "unpack a.tgz"):
        (literal,) = literals(sentence)
        assert (literal.kind, literal.text) == (Kind.FILE, sentence.split()[1].strip("'"))
