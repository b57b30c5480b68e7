"""Random edits and requests: the server never loses step with the true text, never fails, and stays within bounds."""

from __future__ import annotations

import asyncio
import random
import time

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from lsp.following import SIZE
from tests.lsp.client import INVOKED, editing

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

    def inside(self, draw: random.Random) -> int:
        """An offset that an editor can name: not between the two signs of one line end."""
        at = draw.randint(0, len(self.text))
        return at + 1 if self.text[at - 1 : at + 1] == "\r\n" else at


async def look(editor, uri: str, place: types.Position) -> None:
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(uri), types.Range(place, place), types.CodeActionContext([])
    )
    await editor.text_document_code_action_async(params)


async def fuzz(folder, steps: int, seed: int) -> None:
    draw = random.Random(seed)
    async with editing(folder, KNOWS) as editor:
        await editor.ready()
        uris = [editor.open("a.py", KNOWS), editor.open("untitled:one", ""), editor.open("b.js", "x", "javascript")]
        texts = {uri: Text(text) for uri, text in zip(uris, (KNOWS, "", "x"))}
        versions = dict.fromkeys(uris, 1)
        waiting: list[asyncio.Future] = []
        for step in range(steps):
            uri = draw.choice(uris)
            text = texts[uri]
            kind = draw.random()
            if kind < 0.55:
                changes = []
                for _ in range(draw.choice([1, 1, 1, 3])):
                    start = text.inside(draw)
                    end = min(len(text.text), start + draw.choice([0, 0, 0, 1, 5]))
                    end += text.text[end - 1 : end + 1] == "\r\n"
                    changes.append(text.replace(start, max(start, end), draw.choice(PIECES)))
                if len(text.text) > 2000:
                    changes.append(types.TextDocumentContentChangeWholeDocument(""))
                    text.text = ""
                versions[uri] += 1
                identifier = types.VersionedTextDocumentIdentifier(versions[uri], uri)
                editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))
            elif kind < 0.9:
                place = text.position(text.inside(draw))
                more = {"kind": INVOKED} if draw.random() < 0.05 else {}
                waiting.append(editor.request(uri, place.line, place.character, **more))
                await asyncio.sleep(0)
            elif kind < 0.95 and waiting:
                open_ids = [key for key, future in editor.protocol._request_futures.items() if not future.done()]
                if open_ids:
                    editor.protocol.notify(types.CANCEL_REQUEST, types.CancelParams(draw.choice(open_ids)))
            else:
                await look(editor, uri, text.position(text.inside(draw)))
            if step % 20 == 19 or step == steps - 1:
                answers = await asyncio.gather(*waiting, return_exceptions=True)
                waiting.clear()
                await look(editor, uri, text.position(0))  # all changes before it were made
                failed = [answer for answer in answers if isinstance(answer, Exception)]
                assert [one for one in failed if not isinstance(one, JsonRpcRequestCancelled)] == []
                for one in uris:
                    assert editor.server.documents.get(one).text == texts[one].text
                assert len(editor.server.completions.following) <= SIZE
                assert len(editor.server.completions.writer._snapshots) <= 2 * 4096
        assert not any("no completion:" in line for line in editor.logs), editor.logs[-5:]


async def shutdown_amid(folder, seed: int) -> float:
    """Seconds until the server answers `shutdown` in the midst of edits and requests."""
    draw = random.Random(seed)
    async with editing(folder, KNOWS, pause=0.02) as editor:
        await editor.ready()
        uri = editor.open("a.py", KNOWS)
        text = Text(KNOWS)
        waiting = []
        for version in range(2, 42):
            place = text.inside(draw)
            identifier = types.VersionedTextDocumentIdentifier(version, uri)
            change = text.replace(place, place, draw.choice(PIECES))
            editor.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
            at = text.position(text.inside(draw))
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


def test_a_short_walk(tmp_path):
    asyncio.run(asyncio.wait_for(fuzz(tmp_path, 200, 0), 60))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_ten_long_walks(tmp_path, seed):
    asyncio.run(fuzz(tmp_path, 1000, seed + 1))
