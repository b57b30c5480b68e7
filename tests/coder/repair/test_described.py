"""What a chat model is shown of a repository, and that it cannot change what it was not shown."""

from __future__ import annotations

import json

import pytest

from coder.patch import apply_edits
from coder.repair.described import Unusable, patch_in, question
from coder.repair.text import Text
from sandbox.testing.report import Outcome, TestReport

TOKEN = "ghp_" + "a1" * 18
KEY = "-----BEGIN PRIVATE KEY-----\nMIIabc\nMIIdef\n-----END PRIVATE KEY-----"
CODE = f'KEY = """{KEY}"""\nTOKEN = "{TOKEN}"\n\n\ndef double(x):\n    return x + 2\n'
SOURCES = {"a.py": Text("a.py", CODE)}


def edit(first: int, last: int, old: str, new: str) -> str:
    return json.dumps({"edits": [{"path": "a.py", "first": first, "last": last, "old": old, "new": new}]})


def test_no_secret_is_in_a_question_and_each_line_keeps_its_number() -> None:
    failing = TestReport(f"test_a.py::test_it[{TOKEN}]", Outcome.FAILED, error="E", output=f"x {TOKEN} y\n{KEY}\n")
    rules, asked = question([failing], SOURCES, {"a.py": 9}, {})
    for secret in TOKEN, "MIIabc", "MIIdef":
        assert secret not in rules + asked
    assert '    1 KEY = """[redacted]\n    2 \n    3 \n    4 """\n    5 TOKEN = "[redacted]"\n' in asked
    assert "    9     return x + 2\n" in asked


def test_a_token_is_taken_out_before_the_output_is_cut_short() -> None:
    failing = TestReport("test_a.py::test_it", Outcome.FAILED, error="E", output=TOKEN + "." * 1_990)
    assert TOKEN[-10:] not in question([failing], SOURCES, {}, {})[1]


@pytest.mark.parametrize(
    "answer",
    [
        edit(5, 5, 'TOKEN = "[redacted]"', 'TOKEN = ""'),
        edit(5, 5, "TOKEN = None", 'TOKEN = ""'),
        edit(2, 3, "", "x"),
        edit(1, 2, "KEY", "x"),
    ],
)
def test_lines_with_a_secret_are_neither_changed_nor_told_in_the_answer(answer: str) -> None:
    with pytest.raises(Unusable) as refused:
        patch_in(answer, SOURCES)
    for secret in TOKEN, "MIIabc", "MIIdef":
        assert secret not in str(refused.value)


def test_other_lines_of_the_file_can_be_changed() -> None:
    proposal = patch_in(edit(9, 9, "    return x + 2", "    return x * 2"), SOURCES)
    assert apply_edits(CODE, proposal.edits) == CODE.replace("x + 2", "x * 2")
