"""What happens at a keystroke: cache, running generation, model, gates, one item; and cancelling all the way down."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from lsprotocol import types

from coder.completion.gates import Shown, judge
from coder.completion.prompt import Prompt
from coder.completion.situation import Situation, lines_wanted
from coder.completion.stopping import extent_of
from coder.completion.writer import Draft, Writer
from lsp.answer import answer
from lsp.documents import Document, Documents
from lsp.following import Following, typed_since
from lsp.ranges import item
from lsp.settings import Settings
from lsp.situating import prompt_at, situate
from lsp.worker import Job, Urgency, Worker
from lsp.workspace import Workspace

_log = logging.getLogger(__name__)
GRACE = 0.06  # seconds that a cancelled generation goes on: the next keystroke may agree with it
SOON = 0.12  # seconds after which whole lines, or ENOUGH tokens, are answered though more is being written
LATE = 0.30  # seconds after which whatever may be shown is
ENOUGH = 8
_LOOK = 0.02  # seconds between two looks at what is being written
VARIANTS = 3  # items when the user asks for a completion


@dataclass
class _Running:
    """A generation, what it came to step by step, and how many requests wait for it."""

    situation: Situation
    job: Job
    steps: list[Draft]
    waiting: int = 0

    @property
    def text(self) -> str:
        return self.steps[-1].text if self.steps else ""

    def agrees(self, situation: Situation) -> bool:
        """Whether what was typed since goes along with the text so far."""
        if situation.uri != self.situation.uri:
            return False
        typed = typed_since(self.situation.before, situation.before)
        if typed is None or situation.after[:200] != self.situation.after[:200]:
            return False
        return self.text.startswith(typed) or (not self.job.future.done() and typed.startswith(self.text))


@dataclass
class Completions:
    """Answers `textDocument/inlineCompletion`. `writer` is None until the model is loaded. Lives on the event loop."""

    documents: Documents
    workspace: Workspace
    worker: Worker
    settings: Callable[[], Settings]
    modules: Callable[[], Collection[str]] = tuple
    writer: Writer | None = None
    following: Following = field(default_factory=Following)
    counts: Counter[str] = field(default_factory=Counter)
    _running: _Running | None = None
    _guess: _Running | None = None

    async def complete(self, params: types.InlineCompletionParams) -> types.InlineCompletionList | None:
        """None where there is nothing to show."""
        document = self.documents.get(params.text_document.uri)
        notebook = self.documents.notebook_of(params.text_document.uri)
        if document is None or self.writer is None or not self.workspace.admits(document.uri, notebook):
            return None
        begun, version = time.monotonic(), document.version
        invoked = params.context.trigger_kind == types.InlineCompletionTriggerKind.Invoked
        selected = params.context.selected_completion_info
        place = document.place(params.position)
        situation = situate(self.documents, self.workspace, document, place, selected)
        try:
            texts, outcome = await self._texts(document, situation, invoked, place[0])
        except asyncio.CancelledError:
            self.counts["cancelled"] += 1
            raise
        if document.version != version or self.documents.get(document.uri) is not document:
            texts, outcome = [], "stale"
        self.counts[outcome] += 1
        self.counts["answered" if texts else "silent"] += 1
        _log.debug("completion %s, %d items, %.0f ms", outcome, len(texts), 1000 * (time.monotonic() - begun))
        return types.InlineCompletionList([item(document, place, text, selected) for text in texts]) if texts else None

    def forget(self) -> None:
        """Drops what was completed and read so far."""
        self.forget_answers()
        if self.writer is not None:
            writer = self.writer
            self.worker.submit(lambda cancel: writer.clear())

    def forget_answers(self) -> None:
        """Drops what was completed: it would be judged otherwise now."""
        self.following.clear()
        self._running = self._guess = None

    async def _texts(self, document: Document, situation: Situation, invoked: bool, line: int) -> tuple[list[str], str]:
        """The texts to show, and what happened: "hit", "joined", "miss", "stale" or "dropped"."""
        settings, version = self.settings(), document.version
        known = None if invoked else self.following.get(situation)
        if known is not None:
            if known and not situation.line_before.strip():  # a guess that came true: it is likely to be accepted
                self._ahead(situation, known, prompt_at(self.documents, document, situation, line), settings)
            return ([known] if known else []), "hit"
        prompt = prompt_at(self.documents, document, situation, line)
        running, outcome = self._running, "joined"
        if invoked or running is None or running.job.cancel.is_set() or not running.agrees(situation):
            if settings.debounce_ms and not invoked:
                await asyncio.sleep(settings.debounce_ms / 1000)
                if document.version != version:
                    return [], "stale"
            running, outcome = self._begin(situation, prompt, settings), "miss"
        text = await self._wait_for(running, situation, None if invoked else settings)
        if text == "" and not running.agrees(situation):
            if document.version != version or self._running not in (None, running):
                return [], "stale"
            running, outcome = self._begin(situation, prompt, settings), "miss"
            text = await self._wait_for(running, situation, settings)
        if text is None:
            return [], "dropped"
        if invoked:
            return await self._variants(situation, prompt, settings, text), outcome
        return ([text] if text else []), outcome

    def _begin(self, situation: Situation, prompt: Prompt, settings: Settings) -> _Running:
        """Begins to write, in place of what was being written; what comes of it is kept, and what may be wanted after
        it is begun."""
        if self._running is not None:
            self._running.job.cancel.set()
        steps: list[Draft] = []
        job = self._submit(situation, prompt, settings, Urgency.NOW, steps.append)
        self._running = running = _Running(situation, job, steps)
        loop = asyncio.get_running_loop()

        def ended() -> None:
            if self._running is not running:
                return  # another took its place, or all was forgotten
            self._running = None
            shown = job.future.result() if job.future.exception() is None else None
            if shown is None:
                return
            self.following.put(situation, shown.text)
            if shown.text:
                self._ahead(situation, shown.text, prompt, settings)

        job.future.add_done_callback(lambda _: loop.is_closed() or loop.call_soon_threadsafe(ended))
        return running

    def _submit(
        self,
        situation: Situation,
        prompt: Prompt,
        settings: Settings,
        urgency: Urgency,
        heard: Callable[[Draft], None] = lambda draft: None,
        variant: int = 0,
    ) -> Job:
        extent = extent_of(situation, lines_wanted(situation, settings.multiline))

        def work(cancel: object) -> Shown | None:
            assert self.writer is not None
            asked = replace(settings, threshold=0.0) if variant else settings
            return answer(self.writer, prompt, situation, extent, asked, self.modules(), cancel, heard, variant)

        return self.worker.submit(work, urgency)

    async def _wait_for(self, running: _Running, situation: Situation, settings: Settings | None) -> str | None:
        """What to show in a situation that the generation agrees with: its outcome, or, with `settings`, so much of it
        as is there when it takes long. Empty as soon as it no longer agrees, None where it was dropped. Where the last
        request that waits for it is cancelled, it ends soon after."""
        running.waiting += 1
        begun, looked = time.monotonic(), 0
        future = asyncio.wrap_future(running.job.future)
        try:
            while not future.done():
                await asyncio.wait([future], timeout=_LOOK if settings else None)
                if not running.agrees(situation) and not running.job.future.done():
                    return ""
                waited = time.monotonic() - begun
                if settings and not future.done() and waited > SOON and len(running.steps) > looked:
                    looked, enough = len(running.steps), 1 if waited > LATE or running.steps[-1].whole else ENOUGH
                    text = self._so_far(running, situation, settings, enough)
                    if text:
                        return text
            shown: Shown | None = future.result()
            return None if shown is None else _left(running.situation, situation, shown.text)
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(GRACE, _end_if_alone, running)
            raise
        except Exception as error:
            _log.error("no completion: %s in the model's thread", type(error).__name__)
            return None
        finally:
            running.waiting -= 1

    def _so_far(self, running: _Running, situation: Situation, settings: Settings, enough: int) -> str:
        """What may be shown of a text that is still being written; empty where that is less than `enough` tokens."""
        draft = running.steps[-1].closed()
        typed = typed_since(running.situation.before, situation.before) or ""
        if sum(piece.end > len(typed) for piece in draft.pieces) < enough:
            return ""
        shown = judge(draft, running.situation, settings.threshold, self.modules())
        if sum(len(typed) < piece.end <= len(shown.text) for piece in draft.pieces) < enough:
            return ""
        return _left(running.situation, situation, shown.text)

    async def _variants(self, situation: Situation, prompt: Prompt, settings: Settings, text: str) -> list[str]:
        """Several texts to choose from: the greedy one first, then sampled ones."""
        texts = [text] if text else []
        jobs = [self._submit(situation, prompt, settings, Urgency.NOW, variant=n) for n in range(1, VARIANTS)]
        try:
            for job in jobs:
                shown = await asyncio.shield(asyncio.wrap_future(job.future))
                if shown is not None and shown.text and shown.text not in texts:
                    texts.append(shown.text)
        except asyncio.CancelledError:
            for job in jobs:
                job.cancel.set()
            raise
        return texts

    def _ahead(self, situation: Situation, text: str, prompt: Prompt, settings: Settings) -> None:
        """Guesses what is wanted once the text was accepted in a situation and the next line begun, in place of what
        was guessed before; not where that is known already."""
        written = situation.typed(text)
        if written.line_after.strip():
            return
        opened = written.line_before.rstrip().endswith((":", "{"))
        begun = "\n" + written.indentation + (written.indent_unit if opened else "")
        below, guess = written.typed(begun), self._guess
        waiting = guess is not None and guess.situation == below and not guess.job.cancel.is_set()
        if waiting or self.following.knows(below):
            return
        if guess is not None:
            guess.job.cancel.set()
        job = self._submit(below, prompt.extended(text + begun), settings, Urgency.AHEAD)
        self._guess = latest = _Running(below, job, [])
        loop = asyncio.get_running_loop()

        def keep() -> None:
            if self._guess is not latest:
                return
            self._guess = None
            shown = job.future.result() if job.future.exception() is None else None
            if shown is not None:
                self.following.put(below, shown.text)

        job.future.add_done_callback(lambda _: loop.is_closed() or loop.call_soon_threadsafe(keep))


def _left(old: Situation, new: Situation, text: str) -> str:
    """What is left to write in a new situation of a text for an old one; empty where they do not agree."""
    typed = typed_since(old.before, new.before)
    return text[len(typed) :] if typed is not None and text.startswith(typed) else ""


def _end_if_alone(running: _Running) -> None:
    if running.waiting == 0:
        running.job.cancel.set()
