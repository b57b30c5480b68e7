"""The thread that writes and judges candidates while another one proves them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from types import SimpleNamespace

from coder import events
from coder.failure import Failure
from coder.patch import Proposal
from coder.repair.candidate import Base, Candidate, Pool
from coder.repair.context import RepairContext
from coder.repair.described import question
from coder.repair.describer import Describer
from coder.repair.localise import Suspicion
from coder.repair.pairs import pairs
from coder.repair.rank import Reader
from coder.repair.recall import Recall
from coder.repair.singles import Singles, waves
from coder.repair.writing import Writing

BATCH = 16
# Of the best candidates so many are read before the prover comes to them. Most lose by it, and others take their place.
AHEAD = 128
# How much of the model's time each kind of work may take beside the others.
READING, SKIMMING, WRITING = 2.0, 1.0, 1.0
# Functions beyond the first few join the search after so many trials each time.
PATIENCE = 600
# Bases that wait to be built on, at most; each costs a round of single edits.
BASES = 60
# Trials up to the first such round, or seconds where trials are slow, and more each time to the next; the likeliest
# edits of each function in one.
SPACING, SPACING_S = 150, 10.0
SECOND_EDITS = 500
# Windows of each function of a base that are skimmed at once.
SKIMMED_AT_ONCE = 2
# What each base before it takes off the score of what is built on a base (nats).
LATER_BASE = 0.25
# The likeliest edits of each function beyond the first few.
LATER_EDITS = 1000
# Edits of the first functions that are skimmed before all else: the likeliest without the model's word.
SKIMMED_FIRST = 6000
# Places that the model writes anew on each of them.
SECOND_PLACES = 3
# The score of a patch that a chat model described: it is tried before all else.
DESCRIBED = 10.0


class Author(threading.Thread):
    """Fills the pool in rounds of rising cost, as long as the search lasts.

    Round a: single edits of the likeliest functions, then of the next, and the best of them in pairs. Round b: edits
    on top of an edit that brought a failing test further. Round c: lines, expressions and functions that the model
    writes, once it has read what it needs. A chat model is asked for described patches meanwhile. What costs no model
    goes into the pool at once; the model's time is shared between skimming, reading the best, and writing, so that none
    starves.
    `warm` is set when the first candidates are in order, `idle` while there is nothing left to do; `failure` holds
    what went wrong, if anything did. The prover sets `prompt` when it waits no longer for `warm`, and tells how many it
    has `tried`.
    """

    def __init__(
        self,
        context: RepairContext,
        singles: Singles,
        base: Base,
        pool: Pool,
        preface: str,
        listener: events.Listener = events.ignore,
    ) -> None:
        super().__init__(name="author", daemon=True)
        self._context = context
        self._singles = singles
        self._base = base
        self._pool = pool
        self._preface = preface
        self._listener = listener
        self._waves = waves(singles.suspicions)
        self._first: Sequence[Suspicion] = singles.suspicions[:4]
        self._promising: list[Base] = []
        self._unskimmed: deque[list[Candidate]] = deque()
        self._unskimmed_later: deque[list[Candidate]] = deque()
        self._skimmed: list[Candidate] = []
        self._paired: set[tuple[Candidate, Candidate]] = set()
        self._built = 0
        self._began = time.monotonic()
        self._wave = 0
        self._reader: Reader | None = None
        self._rewrites: Iterator[list[Candidate]] = iter(())
        self._share = {self._skim: SKIMMING, self._read: READING, self._write: WRITING}
        self._spent: dict[Callable[[], bool], float] = dict.fromkeys(self._share, 0.0)
        self._describer: Describer | None = None
        self._writing: Writing | None = None
        self._stopped = threading.Event()
        self.tried = 0
        self.prompt = threading.Event()
        self.warm = threading.Event()
        self.idle = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            if self._context.strategy.tree_edits:
                self._next_wave()
            self._ask()
            self._load()
            while not self.cancelled():
                if self._step():
                    continue
                self.warm.set()
                with self._pool.changed:
                    if not self._promising and not self._asking:
                        self.idle.set()
                    self._pool.changed.notify_all()
                    self._pool.changed.wait(0.2)
        except BaseException as error:
            self.failure = error
        finally:
            if self._describer is not None:
                self._describer.stop()
            self.warm.set()
            self.idle.set()
            with self._pool.changed:
                self._pool.changed.notify_all()

    def stop(self) -> None:
        self._stopped.set()

    def cancelled(self) -> bool:
        return self._stopped.is_set() or self._context.cancel.is_set()

    def promise(self, base: Base) -> None:
        """Build on this base, in its turn: an edit that brought a failing test further. Of very many, the best."""
        if self._context.strategy.tree_edits:
            with self._pool.changed:
                self._promising = sorted([*self._promising, base], key=lambda one: -one.merit)[:BASES]
                self.idle.clear()

    @property
    def _asking(self) -> bool:
        """Whether a chat model may still answer. Raises Failure where it could not be asked."""
        if self._describer is None:
            return False
        if self._describer.failure is not None:
            raise self._describer.failure
        return self._describer.is_alive()

    def _ask(self) -> None:
        """Begin to ask for described patches."""
        context = self._context
        if context.load_chat is None or not context.strategy.rewriting:
            return
        places: dict[str, int] = {}
        for suspicion in self._first:
            places.setdefault(suspicion.path, max(suspicion.lines, key=lambda line: suspicion.lines[line]))
        sources = {path: self._base.sources[path] for path in reversed(places)}
        failing = [context.baseline.tests[node] for node in context.targets]
        chat = context.load_chat()
        more = {path: text for path, text in chat.more.items() if path not in sources}
        asked = question(failing, sources, places, more)

        def propose(proposal: Proposal) -> None:
            candidate = Candidate(self._base, proposal, 1.0, exact=True)
            candidate.score = DESCRIBED
            self._pool.add([candidate])

        self._describer = Describer(chat, asked, sources, propose, self._listener)
        self._describer.start()

    def _load(self) -> None:
        context = self._context
        if context.load_model is None or not (context.strategy.ranking or context.strategy.rewriting):
            return
        import torch

        from model.block_scoring import scorer_of

        # One core judges while the other proves: a pass that wants both would wait for the tests at every layer.
        torch.set_num_threads(1)
        model, tokenizer = context.load_model()
        if context.strategy.ranking:
            self._reader = Reader(scorer_of(model, tokenizer), self.cancelled)
            likeliest = sorted(self._pool.waiting(), key=lambda candidate: -candidate.score)
            self._unskimmed.extend(self._reader.windows(likeliest[:SKIMMED_FIRST]))
            self._unskimmed_later.extend(self._reader.windows(likeliest[SKIMMED_FIRST:]))
            # The tests wait for the first to be in order.
            while self._unskimmed and not self.prompt.is_set() and self._skim():
                pass
        self.warm.set()
        if context.strategy.rewriting:
            cancel = SimpleNamespace(is_set=self.cancelled)
            self._writing = Writing(
                model, tokenizer, self._preface, self._listener, cancel, context.seed, context.watched
            )
            self._rewrites = chain(self._recalled(self._writing), self._written(self._writing, self._base))

    def _step(self) -> bool:
        """Do the most useful thing that is due; False when there is nothing to do."""
        round_ = (self._built + 1) * (self._built + 2) / 2
        due = self.tried >= SPACING * round_ or time.monotonic() - self._began >= SPACING_S * round_
        if self._promising and (due or not len(self._pool)):
            with self._pool.changed:
                base = self._promising.pop(0)
            base.handicap += LATER_BASE * self._built
            self._built += 1
            self._propose(self._singles.concerned(base) or self._first, base, "second edit", SECOND_EDITS)
            if self._writing is not None:
                self._rewrites = chain(islice(self._written(self._writing, base), SECOND_PLACES), self._rewrites)
            return True
        if (len(self._pool) < AHEAD or self.tried > PATIENCE * self._wave) and self._next_wave():
            return True
        for work in sorted(self._spent, key=lambda work: self._spent[work] / self._share[work]):
            began = time.monotonic()
            done = work()
            self._spent[work] += time.monotonic() - began
            if done:
                return True
        return False

    def _next_wave(self) -> bool:
        wave = next(self._waves, None)
        if wave is None or not self._context.strategy.tree_edits:
            return False
        self._wave += 1
        self._propose(wave, self._base, "single edit", None if self._wave == 1 else LATER_EDITS)
        return True

    def _propose(self, suspicions: Sequence[Suspicion], base: Base, origin: str, most: int | None = None) -> None:
        for index, suspicion in enumerate(suspicions):
            if self.cancelled():
                return
            began = time.monotonic()
            found = self._singles.candidates(suspicion, base, self.cancelled)[:most]
            self._pool.add(found)
            if self._reader is not None:
                windows = self._reader.windows(found)
                if base.depth:
                    self._unskimmed.extendleft(windows[:SKIMMED_AT_ONCE])
                    self._unskimmed_later.extend(windows[SKIMMED_AT_ONCE:])
                else:
                    self._unskimmed.extend(windows)
            elapsed = 1000 * (time.monotonic() - began)
            self._listener(events.Block(origin, index + 1, len(suspicions), len(found), elapsed))

    def _skim(self) -> bool:
        """Put the next window of candidates into a better order."""
        windows = self._unskimmed or self._unskimmed_later
        if not windows or self._reader is None:
            return False
        window = [candidate for candidate in windows.popleft() if not candidate.taken]
        self._reader.skim(window)
        self._pool.add(window)
        first = [candidate for candidate in window if not candidate.base.depth]
        self._skimmed += first
        if first and not self._unskimmed:
            self._pool.add(pairs(self._skimmed, self._paired))
        return True

    def _read(self) -> bool:
        """Read some of the best."""
        if self._reader is None:
            return False
        batch = self._pool.unread(BATCH, AHEAD)
        self._reader.read(batch)
        self._pool.add(batch)
        return bool(batch)

    def _write(self) -> bool:
        """Let the model write in the next place; the best of it will be read."""
        written = next(self._rewrites, None)
        if written is None:
            return False
        self._pool.add(written)
        return True

    def _written(self, writing: Writing, base: Base) -> Iterator[list[Candidate]]:
        """What the model writes on a base, one place at a time, the most suspicious ones first."""
        regions = [self._singles.region(suspicion, base) for suspicion in self._first]
        yield from writing.candidates([region for region in regions if region is not None], base)

    def _recalled(self, writing: Writing) -> Iterator[list[Candidate]]:
        """Reads what the writing needs, a little each time that it is asked for candidates, of which it has none."""
        if self._context.read is None or not self._context.strategy.memory:
            return
        paths = [suspicion.path for suspicion in self._singles.suspicions]
        try:
            steps = self._context.read(writing.reader, writing.tokenizer, paths)
            while True:
                now = next(steps)
                self._listener(events.Reading(now.path, now.tokens, now.all_tokens))
                yield []
        except StopIteration as end:
            done = end.value
        except Failure:
            return  # this model keeps no memory
        source = self._base.sources.get(done.files[-1].path) if done.files else None
        if source is not None:
            writing.recall = Recall.of(writing.reader, writing.tokenizer, source.text, done)
