"""What the completions know, and when they write: in the cases that a user meets only with large or slow things."""

from __future__ import annotations

import pytest
from lsprotocol import types

from coder.completion.names import unresolved
from lsp.documents import Documents
from lsp.situating import situate
from lsp.workspace import Workspace
from tests.lsp.client import editing, run

KNOWS = """def add(first, second):
    return 1234 + 5678


def three():
    return len('abc')
"""


pytestmark = pytest.mark.usefixtures("patience")


def outcomes(editor) -> list[str]:
    return [line.split()[1].strip(",") for line in editor.logs if line.startswith("completion")]


def test_what_stands_far_above_is_no_unknown_name():
    documents = Documents()
    lines = ["import numpy as np\n", *(f"value_{number} = {number}\n" for number in range(3000)), "later = 1\n"]
    document = documents.open(types.TextDocumentItem("untitled:a", "python", 1, "".join(lines)))
    situation = situate(documents, Workspace(), document, (1500, 0))
    assert "numpy" not in situation.before and "later" not in situation.after
    assert unresolved(situation, "x = np.zeros(value_7 + later)") == []
    assert unresolved(situation, "x = pd.zeros(value_7)") == ["pd"]


def test_a_running_generation_that_turns_out_to_disagree_is_written_anew(tmp_path):
    async def scenario():
        async with editing(tmp_path, KNOWS, pause=0.05) as editor:
            uri = editor.open("a.py", "def add(first, second):\n    return")
            await editor.ready()
            first = editor.request(uri, 1, 10)
            await editor.until(lambda: editor.server.completions._running is not None)
            editor.insert(uri, 2, 1, 10, " l")
            second = editor.request(uri, 1, 12)
            assert await first is None
            found = await second
            assert [item.insert_text for item in found.items] == ["en('abc')"]
            await editor.until(lambda: len(outcomes(editor)) == 2)
            assert outcomes(editor) == ["stale", "miss"]

    run(scenario())


def test_a_guess_that_came_true_is_followed_by_the_next(tmp_path):
    async def scenario():
        knows = "first = len((1, 2))\nsecond = max(3, 4)\nthird = min(5, 6)\n"
        async with editing(tmp_path, knows, configuration={"multiline": "never"}) as editor:
            uri = editor.open("a.py", "first = le")
            await editor.ready()
            known = editor.server.completions.following
            assert await editor.texts(uri, 0, 10) == ["n((1, 2))"]
            await editor.until(lambda: len(known) == 2)
            editor.insert(uri, 2, 0, 10, "n((1, 2))\n")
            assert await editor.texts(uri, 1, 0) == ["second = max(3, 4)"]
            await editor.until(lambda: len(known) == 3)
            assert await editor.texts(uri, 1, 0) == ["second = max(3, 4)"]
            editor.insert(uri, 3, 1, 0, "second = max(3, 4)\n")
            assert await editor.texts(uri, 2, 0) == ["third = min(5, 6)"]
            await editor.until(lambda: len(outcomes(editor)) == 4)
            assert outcomes(editor) == ["miss", "hit", "hit", "hit"]

    run(scenario())
