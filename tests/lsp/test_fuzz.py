"""Random edits and requests: the server never loses step with the true text, never fails, and stays within bounds."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from lsp.following import SIZE
from tests.lsp.client import AUTOMATIC, INVOKED, editing

KNOWS = "def f(x):\n    return 1234 + x\n\n\nvalue = f(5678)\r\nother = '😀π'\n"
PIECES = [
    "a",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "π",
    "😀",
    "\f",
    "def f(x):\n",
    "    return",
    " 1234",
    "value = f(",
    ")",
    "'",
]
TEXTS, PLACES = st.integers(0, 2), st.integers(0, 1 << 16)
WARM, GROWTH = 100, 16 << 20  # steps until the caches are filled; bytes that a server may hold more than then
EDIT = st.tuples(PLACES, st.sampled_from([0, 0, 0, 1, 5]), st.sampled_from(PIECES))


class Text:
    """The true text as an editor holds it: changes by offset, told in UTF-16 positions."""

    def __init__(self, text: str) -> None:
        self.text = text

    def position(self, offset: int) -> types.Position:
        lines = self.text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)

    def replace(self, start: int, end: int, new: str) -> types.TextDocumentContentChangePartial:
        change = types.TextDocumentContentChangePartial(types.Range(self.position(start), self.position(end)), new)
        self.text = self.text[:start] + new + self.text[end:]
        return change

    def inside(self, place: int) -> int:
        """An offset that an editor can name: not between the two signs of one line end."""
        at = place % (len(self.text) + 1)
        return at + 1 if self.text[at - 1 : at + 1] == "\r\n" else at


async def look(editor, uri: str, place: types.Position) -> None:
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(uri), types.Range(place, place), types.CodeActionContext([])
    )
    await editor.text_document_code_action_async(params)


class Typing(RuleBasedStateMachine):
    """An editor that types into three texts, asks, cancels and looks, in any order. After a failure hypothesis prints
    the shortest sequence of rules that it found to fail."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.folder = tempfile.TemporaryDirectory()
        self.waiting: list[asyncio.Future] = []
        self.made = 0
        self.run(self.open())

    @invariant()
    def count(self) -> None:
        Typing.steps += 1
        self.made += 1
        if self.made == WARM:
            self.held = resident()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.loop.run_until_complete(asyncio.wait_for(coroutine, 30))

    async def open(self) -> None:
        self.editor = await self.stack.enter_async_context(editing(Path(self.folder.name), KNOWS))
        await self.editor.ready()
        opened = {("a.py", "python"): KNOWS, ("untitled:one", "python"): "", ("b.js", "javascript"): "x"}
        self.uris = [self.editor.open(name, text, language) for (name, language), text in opened.items()]
        self.texts = [Text(text) for text in opened.values()]
        self.versions = [1] * len(self.uris)

    @rule(which=TEXTS, edits=st.lists(EDIT, min_size=1, max_size=3))
    def type(self, which: int, edits: list[tuple[int, int, str]]) -> None:
        text, changes = self.texts[which], []
        for at, gone, new in edits:
            start = text.inside(at)
            end = min(len(text.text), start + gone)
            end += text.text[end - 1 : end + 1] == "\r\n"
            changes.append(text.replace(start, max(start, end), new))
        if len(text.text) > 2000:
            changes.append(types.TextDocumentContentChangeWholeDocument(""))
            text.text = ""
        self.versions[which] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[which], self.uris[which])
        self.editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))

    @rule(which=TEXTS, at=PLACES, kind=st.sampled_from([AUTOMATIC] * 19 + [INVOKED]))
    def ask(self, which: int, at: int, kind: types.InlineCompletionTriggerKind) -> None:
        async def send() -> None:
            place = self.texts[which].position(self.texts[which].inside(at))
            self.waiting.append(self.editor.request(self.uris[which], place.line, place.character, kind))
            await asyncio.sleep(0)

        self.run(send())

    @rule(nth=st.integers(0, 9))
    def cancel(self, nth: int) -> None:
        open_ids = [key for key, future in self.editor.protocol._request_futures.items() if not future.done()]
        if open_ids:
            self.editor.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(open_ids[nth % len(open_ids)]))

    @rule(which=TEXTS, at=PLACES)
    def look(self, which: int, at: int) -> None:
        text = self.texts[which]
        self.run(look(self.editor, self.uris[which], text.position(text.inside(at))))

    @rule()
    def settle(self) -> None:
        """Every request is answered or cancelled, and the server holds the true texts and no more than it may."""
        self.run(self.settled())

    async def settled(self) -> None:
        answers = await asyncio.gather(*self.waiting, return_exceptions=True)
        self.waiting.clear()
        await look(self.editor, self.uris[0], types.Position(0, 0))  # all changes before it were made
        failed = [answer for answer in answers if isinstance(answer, Exception)]
        assert [one for one in failed if not isinstance(one, JsonRpcRequestCancelled)] == []
        server = self.editor.server
        assert [server.documents.get(uri).text for uri in self.uris] == [text.text for text in self.texts]
        assert len(server.completions.following) <= SIZE
        assert len(server.completions.writer._snapshots) <= 2 * 4096

    def teardown(self) -> None:
        try:
            self.run(self.settled())
            assert self.made < WARM or resident() - self.held < GROWTH
            assert not any("no completion:" in line for line in self.editor.logs), self.editor.logs[-5:]
        finally:
            self.run(self.stack.aclose())
            self.loop.close()
            self.folder.cleanup()


def resident() -> int:
    """Bytes that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def walk(examples: int, steps: int, **how: Any) -> int:
    """So many editors of at most so many steps each. Returns the steps made."""
    before = Typing.steps
    calm = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        **how,
    )
    run_state_machine_as_test(Typing, settings=calm)
    return Typing.steps - before


async def shutdown_amid(folder, seed: int) -> float:
    """Seconds until the server answers `shutdown` in the midst of edits and requests."""
    draw = random.Random(seed)
    async with editing(folder, KNOWS, pause=0.02) as editor:
        await editor.ready()
        uri = editor.open("a.py", KNOWS)
        text = Text(KNOWS)
        waiting = []
        for version in range(2, 42):
            place = text.inside(draw.randrange(1 << 16))
            identifier = types.VersionedTextDocumentIdentifier(version, uri)
            change = text.replace(place, place, draw.choice(PIECES))
            editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
            at = text.position(text.inside(draw.randrange(1 << 16)))
            waiting.append(editor.request(uri, at.line, at.character))
            await asyncio.sleep(draw.choice([0, 0.01]))
        begun = time.monotonic()
        await asyncio.wait_for(editor.shutdown_async(None), 10)
        editor.ended = True
        spent = time.monotonic() - begun
        for one in waiting:
            one.cancel()
        return spent


def test_shutdown_is_answered_in_the_midst_of_it(tmp_path):
    """Within a second where the machine has nothing else to do; ten times that counts as hanging."""
    asyncio.run(shutdown_amid(tmp_path, 0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_shutdown_within_a_second(tmp_path, seed):
    assert asyncio.run(shutdown_amid(tmp_path, seed)) < 1


def test_a_short_walk():
    walk(4, 50, derandomize=True)


@pytest.mark.slow
def test_a_long_walk():
    assert walk(50, 500) >= 10_000
