"""A session with an editor: which model is loaded, and that one that was given up leaves nothing behind."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.lsp.client import editing, run
from tests.lsp.parrot import Parrot
from tests.model.toy import ByteTokenizer

KNOWS = "import os\n\n\ndef add(first, second):\n    return 1234 + 5678\n"
BEFORE = "import os\n\n\ndef add(first, second):\n    return"


pytestmark = pytest.mark.usefixtures("patience")


def test_after_a_model_that_cannot_be_loaded_another_one_can(tmp_path):
    asked = []

    def load(name, precision):
        asked.append(name)
        if name == "missing":
            raise ValueError("there is no such model")
        return Parrot(KNOWS), ByteTokenizer()

    async def scenario():
        async with editing(tmp_path, "", load=load, configuration={"model": "missing"}) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.until(lambda: any(status["state"] == "error" for status in editor.statuses))
            assert await editor.texts(uri, 4, 10) == []
            editor.configure(model="there")
            await editor.ready()
            assert await editor.texts(uri, 4, 10) == [" 1234 + 5678"]
            assert asked == ["missing", "there"]

    run(scenario())


@pytest.mark.parametrize("ends", ["well", "badly"])
def test_another_model_may_be_asked_for_while_one_is_loaded(tmp_path, ends):
    go_on, asked = threading.Event(), []

    def load(name, precision):
        asked.append(name)
        if name == "first":
            assert go_on.wait(20)
            if ends == "badly":
                raise ValueError("it is torn")
        return Parrot(KNOWS if name == "third" else "nothing"), ByteTokenizer()

    async def scenario():
        async with editing(tmp_path, "", load=load, configuration={"model": "first"}) as editor:
            uri = editor.open("a.py", BEFORE)
            await editor.until(lambda: asked == ["first"])
            for name in ("second", "third"):
                editor.configure(model=name)
                await editor.until(lambda name=name: any(name in status["message"] for status in editor.statuses))
            go_on.set()
            await editor.ready()
            assert await editor.texts(uri, 4, 10) == [" 1234 + 5678"]
            assert asked == ["first", "third"], "nobody waits for the second any more"
            assert not any("first is ready" in line for line in editor.logs)
            assert not any(status["state"] == "error" for status in editor.statuses)

    run(scenario())


def test_a_new_model_ends_the_reading_for_the_old_one(tmp_path):
    """The old reading is stopped in the midst of a file. Tokens of the two are never mixed, and only one tells."""
    begun, go_on = threading.Event(), threading.Event()

    class Slow(ByteTokenizer):
        def encode(self, text):
            if "read_slowly" in text:
                begun.set()
                assert go_on.wait(20)
                return [7] * 50
            return super().encode(text)

    def load(name, precision):
        return Parrot("nothing"), (Slow() if name == "old" else ByteTokenizer())

    async def scenario():
        words = "read_slowly = 1\n"
        (tmp_path / "project").mkdir()
        (tmp_path / "project" / "words.py").write_text(words)
        async with editing(tmp_path, "", load=load, configuration={"model": "old"}) as editor:
            await editor.until(begun.is_set)
            old = editor.server.learning._reading
            editor.configure(model="new")
            await editor.until(lambda: any("new is ready" in line for line in editor.logs))
            go_on.set()
            await editor.until(lambda: any(line.startswith("read ") for line in editor.logs))
            await asyncio.to_thread(old._thread.join, 10)
            learning, writer = editor.server.learning, editor.server.completions.writer
            assert writer.knowledge is learning._knowledge
            assert list(learning._knowledge._texts.values()) == [list(words.encode())]
            await editor.texts(editor.open("a.py", "x"), 0, 1)  # whatever was told before is here
            assert [line for line in editor.logs if line.startswith("read ")] == [f"read 1 files, {len(words)} tokens"]
            kinds = [getattr(value, "kind", None) or value["kind"] for value in editor.progress]
            assert kinds.count("begin") == kinds.count("end") == 2

    run(scenario())
