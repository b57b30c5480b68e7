"""The thread that writes and judges candidates while another one proves them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from coder import events
from coder.repair import rewrite
from coder.repair.candidate import Base, Candidate, Pool
from coder.repair.context import RepairContext
from coder.repair.localise import Suspicion
from coder.repair.rank import Reader, score
from coder.repair.singles import Singles, waves

BATCH = 16
# So many read candidates are kept ahead of the prover.
AHEAD = 64
# Functions beyond the first few join the search after so many trials each time.
PATIENCE = 300
# Bases that brought a failing test further, at most; each costs a round of single edits.
BASES = 12


class Author(threading.Thread):
    """Fills the pool in rounds of rising cost, as long as the search lasts.

    Round a: single edits of the likeliest functions, then of the next. Round b: edits on top of an edit that brought a
    failing test further. Round c: lines and expressions that the model writes. What costs no model goes into the pool
    at once; the model's time is shared in turn between skimming, reading the best, and writing, so that none starves.
    `warm` is set when the first candidates are in order, `idle` while there is nothing left to do; `failure` holds
    what went wrong, if anything did. The prover sets `prompt` when it waits no longer for `warm`, and tells how many it
    has `tried` and its `pace`, in trials per second.
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
        self._promising: deque[Base] = deque()
        self._unskimmed: deque[list[Candidate]] = deque()
        self._bases = 0
        self._wave = 0
        self._reader: Reader | None = None
        self._rewrites: Iterator[list[Candidate]] = iter(())
        self._turns: deque[Callable[[], bool]] = deque([self._skim, self._read, self._write])
        self._read_s = 0.0
        self._stopped = threading.Event()
        self.tried = 0
        self.pace = 0.0
        self.prompt = threading.Event()
        self.warm = threading.Event()
        self.idle = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            if self._context.strategy.tree_edits:
                self._next_wave()
            self._load()
            while not self.cancelled():
                if self._step():
                    continue
                self.warm.set()
                with self._pool.changed:
                    if not self._promising:
                        self.idle.set()
                    self._pool.changed.notify_all()
                    self._pool.changed.wait(0.2)
        except BaseException as error:
            self.failure = error
        finally:
            self.warm.set()
            self.idle.set()
            with self._pool.changed:
                self._pool.changed.notify_all()

    def stop(self) -> None:
        self._stopped.set()

    def cancelled(self) -> bool:
        return self._stopped.is_set() or self._context.cancel.is_set()

    def promise(self, base: Base) -> bool:
        """Build on this base: an edit that brought a failing test further. False when there are enough already."""
        if self._bases >= BASES or not self._context.strategy.tree_edits:
            return False
        self._bases += 1
        with self._pool.changed:
            self._promising.append(base)
            self.idle.clear()
        return True

    def _load(self) -> None:
        context = self._context
        if context.load_model is None or not (context.strategy.ranking or context.strategy.rewriting):
            return
        import torch

        from model.scoring import Scorer

        model, tokenizer = context.load_model()
        if context.strategy.ranking:
            self._reader = Reader(Scorer(model, tokenizer), self._preface, self.cancelled)
            self._unskimmed.extend(self._reader.windows(self._pool.waiting()))
            # Until the first are in order the tests wait, and both cores are the model's.
            while self._unskimmed and not self.prompt.is_set() and self._skim():
                pass
        self.warm.set()
        # One core judges while the other proves: a pass that wants both would wait for the tests at every layer.
        torch.set_num_threads(1)
        if context.strategy.rewriting:
            self._rewrites = self._written(model, tokenizer)

    def _step(self) -> bool:
        """Do the most useful thing that is due; False when there is nothing to do."""
        if self._promising:
            self._propose(self._first, self._promising.popleft(), "second edit")
            return True
        if (len(self._pool) < AHEAD or self.tried > PATIENCE * self._wave) and self._next_wave():
            return True
        for _ in range(len(self._turns)):
            self._turns.rotate(-1)
            if self._turns[-1]():
                return True
        return False

    def _next_wave(self) -> bool:
        wave = next(self._waves, None)
        if wave is None or not self._context.strategy.tree_edits:
            return False
        self._wave += 1
        self._propose(wave, self._base, "single edit")
        return True

    def _propose(self, suspicions: Sequence[Suspicion], base: Base, origin: str) -> None:
        for index, suspicion in enumerate(suspicions):
            if self.cancelled():
                return
            began = time.monotonic()
            found = self._singles.candidates(suspicion, base, self.cancelled)
            self._pool.add(found)
            if self._reader is not None:
                self._unskimmed.extend(self._reader.windows(found))
            elapsed = 1000 * (time.monotonic() - began)
            self._listener(events.Block(origin, index + 1, len(suspicions), len(found), elapsed))

    def _skim(self) -> bool:
        """Put the next window of candidates into a better order."""
        if not self._unskimmed or self._reader is None:
            return False
        window = [candidate for candidate in self._unskimmed.popleft() if not candidate.taken]
        self._reader.skim(window)
        self._pool.add(window)
        return True

    def _read(self) -> bool:
        """Read the best that the prover will not have tried by then."""
        if self._reader is None or self._pool.ready >= AHEAD:
            return False
        batch = self._pool.unread(BATCH, round(self.pace * self._read_s))
        began = time.monotonic()
        self._reader.read(batch)
        self._read_s = time.monotonic() - began
        self._pool.add(batch)
        return bool(batch)

    def _write(self) -> bool:
        """Let the model write in the next gap; what it wrote is read at once."""
        written = next(self._rewrites, None)
        if written is None:
            return False
        if self._reader is not None:
            self._reader.read(written)
        self._pool.add(written)
        return True

    def _written(self, model: Any, tokenizer: Any) -> Iterator[list[Candidate]]:
        """Round c, one gap at a time: the most suspicious places of the likeliest functions in turn."""
        regions = [self._singles.region(suspicion, self._base) for suspicion in self._first]
        queues = [(region, deque(rewrite.gaps(region))) for region in regions if region is not None]
        seed = self._context.seed
        while any(queue for _, queue in queues):
            for region, queue in queues:
                if not queue:
                    continue
                gap = queue.popleft()
                seed += 1
                began = time.monotonic()
                written = rewrite.rewrites(region, gap, model, tokenizer, self._preface, seed, self.cancelled)
                found = [Candidate(self._base, proposal, gap.suspicion) for proposal in written]
                for candidate in found:
                    candidate.score = score(candidate)
                elapsed = 1000 * (time.monotonic() - began)
                self._listener(events.Block("rewrite", 1, 1, len(found), elapsed))
                yield found
