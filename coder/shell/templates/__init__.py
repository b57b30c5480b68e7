"""Plain forms of commands for one or two files: what worked examples, which mostly search, hardly have.

A row is (words, sample, command). The sample's literals are slots of the command, of their kinds and roles (see
`coder.shell.adapt`); a question that has nothing for one of them does not get the row. `./` alone may stay empty: it is
"here". The words are groups of alternatives that begin a word, as patterns: the question must have one of each group,
and none of a group that begins with `!`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from coder.shell.adapt import Candidate, filled
from coder.shell.compose import mentions
from coder.shell.examples import Example
from coder.shell.literals import Kind, Literal
from coder.shell.templates import files, texts

LEAST, EACH, MOST = 0.8, 0.02, 0.9  # likeness, in parts of the best example's: it grows with the groups of words


def templates(sentence: str, asked: Sequence[Literal], nearest: float) -> Iterator[Candidate]:
    """The rows that the question calls for, filled. `nearest`: the likeness of the best worked example."""
    words = _words(sentence, asked)
    plain = [one for one in asked if one.kind not in (Kind.GLOB, Kind.EXTENSION)]  # many files are for `find`
    for pattern, groups, example in _rows():
        if pattern.match(words):
            for command in filled(example, plain):
                missed = sum(1 for one in asked if not mentions(command, one))
                yield Candidate(command, min(MOST, LEAST + EACH * groups) * nearest, missed, 0, example)


@cache
def _rows() -> list[tuple[re.Pattern[str], int, Example]]:
    """(what the words must match, how many groups they must have, the sample as an example)."""
    found = []
    for words, sample, command in (*texts.ROWS, *files.ROWS):
        groups = words.split()
        tests = (f"(?!.*\\b(?:{one[1:]}))" if one[0] == "!" else f"(?=.*\\b(?:{one}))" for one in groups)
        pattern = re.compile("".join(tests), re.IGNORECASE | re.DOTALL)
        found.append((pattern, sum(one[0] != "!" for one in groups), Example(sample, command, ())))
    return found


def _words(sentence: str, asked: Sequence[Literal]) -> str:
    """The sentence without what it names: a file that is called sort.txt does not call for sorting. Endings stay."""
    pieces, at = [], 0
    for literal in asked:
        if literal.kind in (Kind.FILE, Kind.PATH, Kind.WORD, Kind.GLOB) and literal.text not in (".", "~"):
            name = literal.text.rsplit("/", 1)[-1]
            ending = name[name.find(".") :] if name.find(".") > 0 and literal.kind is not Kind.WORD else ""
            pieces += [sentence[at : literal.start], "_", ending]
            at = literal.end
    return "".join(pieces) + sentence[at:]
