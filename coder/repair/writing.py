"""What the model writes: lines, expressions and whole functions of the suspicious code, one place at a time.

How a place is written depends on the model. A Llama-family trunk (alone, or Sprig's) lists the likeliest lines near to
the old one, which are read with their right context before they are tried; it writes a function from the left, drafted
from the old one. A model that was taught masks fills the place block by block with both sides in view. What settles
goes through a syntax gate, and what cannot become code any more is dropped before the next block is begun.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coder import events
from coder.repair.candidate import Base, Candidate
from coder.repair.files import AnyRegion
from coder.repair.job import Job
from coder.repair.rank import score
from coder.repair.recall import Place, Recall
from coder.repair.rewrite import places
from coder.repair.singles import trial_cost

if TYPE_CHECKING:
    from model.decoding.blockwise import Filling

# Texts of one place that are handed on, at most.
KEPT = 80
# Texts of a place that a model which sees masks writes, or of a function that any writes; tokens of one.
SAMPLES, TOKENS, FUNCTION_TOKENS = 4, 48, 320
BLOCK = 32
# Functions, the likeliest first, whose lines are compared by how odd they are. A token surprises by what it costs
# beyond so many nats; a line that surprises by NATS is worth twice as much, at most 1 + SURPRISED times.
LOOKED_AT, EXPECTED, NATS, SURPRISED = 2, 3.0, 10.0, 1.5
# Code before a place that the model sees, in characters.
CONTEXT = 2400
# Characters of a function, with what stands before it, that are read at once; and readings that are kept.
LONGEST, READINGS = 8000, 6
WARM = 0.7  # the temperature of all samples but the first
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)


@dataclass
class Writing:
    """A model at work on suspicious functions. `cancel` is asked with `is_set`; `recall` knows a file that was read
    before; with `watched`, blocks are told too while they fill."""

    model: Any
    tokenizer: Any
    preface: str
    listener: events.Listener
    cancel: Any
    seed: int = 0
    watched: bool = False
    recall: Recall | None = None
    _caches: dict[str, Any] = field(default_factory=dict)
    _read: dict[tuple[str, int, str], Recall] = field(default_factory=dict)

    def candidates(self, regions: Sequence[AnyRegion], base: Base) -> Iterator[list[Candidate]]:
        """One list for each place, the most suspicious and least likely ones first; a list may be empty."""
        unlikely: dict[int, dict[int, float]] = {}
        for number, region in enumerate(regions[:LOOKED_AT]):
            unlikely[number] = self._surprise(region)
            yield []
        queue = [
            (gap.weight * (1 + unlikely.get(number, {}).get(region.source.line_of(gap.start), 0.0)), region, gap)
            for number, region in enumerate(regions)
            for gap in places(region)
        ]
        for number, (_, region, gap) in enumerate(sorted(queue, key=lambda place: -place[0])):
            if self.cancel.is_set():
                return
            began, job = time.monotonic(), Job(region, gap, self.seed + number)
            texts = self.texts(job)
            cost = trial_cost(region)
            found = [Candidate(base, proposal, gap.suspicion, cost=cost) for proposal in job.proposals(list(texts))]
            for candidate, gain in zip(found, texts.values()):
                candidate.skimmed = gain is not None
                candidate.likelihood = gain or 0.0
                candidate.score = score(candidate)
            self._tell(job, "rewrite", 1, 1, next(iter(texts), "").strip(), began, len(found))
            yield found

    def _surprise(self, region: AnyRegion) -> dict[int, float]:
        """How odd the model finds each line of a function, or of its part around the most suspicious line: 0 to
        SURPRISED. Within a straight run of lines, where the tests say no more, this says where to write first."""
        from model.block_scoring import scorer_of

        source, function = region.source, region.function
        if function is None or self.cancel.is_set():
            return {}
        start, end = source.line_start(function.lineno), source.line_start((function.end_lineno or function.lineno) + 1)
        worst = source.line_start(max(region.suspicion, key=lambda line: region.suspicion[line], default=1))
        low = source.line_start(source.line_of(max(0, start - CONTEXT // 2, worst - LONGEST // 4)))
        high = min(end, low + LONGEST // 2)
        found: dict[int, float] = defaultdict(float)
        for token in scorer_of(self.model, self.tokenizer).surprise(source.text[low:high]):
            if token.start >= start - low:
                found[source.line_of(low + token.start)] += max(0.0, token.nats - EXPECTED) / NATS
        return {line: min(odd, SURPRISED) for line, odd in found.items()}

    def texts(self, job: Job) -> dict[str, float | None]:
        """What the model would write in the gap, likeliest first; and by how much likelier than what stands there it
        finds each, in nats, where it was asked."""
        trunk = self._trunk
        texts: dict[str, float | None]
        if job.gap.function:
            texts = dict.fromkeys(self._continued(job) if trunk is not None else self._filled(job, FUNCTION_TOKENS))
        elif trunk is not None and (job.gap.whole_line or trunk is self.model):
            texts = self._near(trunk, job)
        else:
            texts = dict.fromkeys(self._filled(job, TOKENS))
        return dict(list(job.clean(texts).items())[:KEPT])

    @property
    def reader(self) -> Any:
        """What reads: the trunk where there is one, so that whatever stands on it can go on from there."""
        return self._trunk or self.model

    @property
    def _trunk(self) -> Any | None:
        """The Llama-family model that this one is or stands on."""
        from model.llama import trunk_of

        return trunk_of(self.model)

    def _place(self, model: Any, job: Job) -> Place:
        """What `model` has read, and the text from there up to the gap."""
        source, start = job.region.source, job.gap.start
        for recalled in (lambda: self.recall, lambda: self._around(model, job.region)):
            place = self._recalled(recalled(), model, source.text, start)
            if place is not None:
                return Place(place.state, place.text + job.indentation)
        return Place(None, self.preface + source.text[max(0, start - CONTEXT) : start] + job.indentation)

    @staticmethod
    def _recalled(recall: Recall | None, model: Any, text: str, start: int) -> Place | None:
        """A place in the text, where `model` has read it as it is now."""
        if recall is None or recall.model is not model or recall.low > start:
            return None
        same = recall.text == text[recall.low : recall.low + len(recall.text)]
        return recall.at(start) if same else None

    def _around(self, model: Any, region: AnyRegion) -> Recall | None:
        """The tests, the code before a function and the function, read at once for all its places, where the model can
        go back."""
        source, function = region.source, region.function
        if function is None or model is not self._trunk:
            return None
        start, end = (source.line_start(line) for line in (function.lineno, (function.end_lineno or 0) + 1))
        low = max(0, start - CONTEXT // 2)
        if end - low > LONGEST:
            return None
        key = (source.path, low, source.text[low:end])
        if key not in self._read:
            while len(self._read) >= READINGS:
                del self._read[next(iter(self._read))]
            self._read[key] = Recall.now(model, self.tokenizer, self.preface, source.text[low:end], low)
        return self._read[key]

    def _near(self, trunk: Any, job: Job) -> dict[str, float | None]:
        """Lines, or expressions, near to the old one; values without regard to it."""
        from model.decoding.near import near, worth
        from model.repository_cache import RepositoryCache

        source, place = job.region.source, self._place(trunk, job)
        cache = self._caches.get(source.path)
        if cache is None:
            cache = self._caches[source.path] = RepositoryCache()
            cache.add(source.path, self.tokenizer.encode(source.text))
        old = None if job.gap.insert or job.gap.value else job.old
        stop = tuple(dict.fromkeys((job.stop, "\n")))
        found = near(trunk, self.tokenizer, place.text, old, stop, cache, place.state, cancel=self.cancel.is_set)
        now = next((worth(written) for written in found if written.text == job.old), None)
        if now is None and job.gap.value:
            now = self._worth_of_old(job)
        return {written.text: None if now is None else worth(written) - now for written in found}

    def _worth_of_old(self, job: Job) -> float:
        """What the model finds the text in the gap worth, read with a little of what stands before."""
        from model.block_scoring import scorer_of
        from model.decoding.near import worth
        from model.decoding.rewrite import Rewrite

        before = job.region.source.text[max(0, job.gap.start - CONTEXT // 2) : job.gap.start]
        (logprob,) = scorer_of(self.model, self.tokenizer).spans(before, [job.old + job.stop], "")
        return worth(Rewrite(job.old, logprob))

    def _filled(self, job: Job, limit: int) -> list[str]:
        """Blocks of masks between both sides; the first text is the likeliest, the others are drawn."""
        from model.decoding import blockwise
        from model.decoding.request import Generation

        place, filling = self._place(self.model, job), self._filling(job)
        prompt, suffix = self.tokenizer.encode(place.text), self.tokenizer.encode(job.suffix)
        found = []
        for sample in range(SAMPLES):
            request = Generation(
                prompt=prompt,
                max_tokens=limit,
                stop=() if job.gap.function else (job.stop,),
                temperature=WARM if sample else 0.0,
                seed=job.seed + sample,
                start=place.state,
                cancel=self.cancel,
            )
            written = blockwise.generate(self.model, self.tokenizer, request, suffix, job.gate, filling)
            text = blockwise.written_text(self._told(job, written))
            if text is not None:
                found.append(text)
        return found

    def _filling(self, job: Job) -> Filling:
        from model.decoding.blockwise import Filling

        count = len(self.tokenizer.encode(job.old))
        if job.gap.function:
            return Filling((max(1, 3 * count // 4), count, 5 * count // 4), BLOCK)
        return Filling(tuple(length for length in LENGTHS if length <= max(8, 2 * count)), BLOCK)

    def _told(self, job: Job, written: Iterator[Any]) -> Iterator[Any]:
        """The same events; blocks are told as they settle."""
        from model.decoding.blockwise import BlockEnd
        from model.decoding.request import Denoised

        began, settled = time.monotonic(), ""
        for event in written:
            if isinstance(event, BlockEnd):
                settled = event.text
                self._tell(job, "blocks", event.index, event.of, settled, began)
            elif self.watched and isinstance(event, Denoised):
                rows = zip(event.tokens, event.masked)
                canvas = "".join("·" if masked else self.tokenizer.decode([token]) for token, masked in rows)
                self.listener(events.Canvas(job.where, settled + canvas))
            yield event

    def _continued(self, job: Job) -> list[str]:
        """Bodies written from the left, with the old one's tokens as drafts."""
        from model.decoding import draft_verify
        from model.decoding.healing import cut_back
        from model.decoding.request import Generation

        place, old = self._place(self.model, job), self.tokenizer.encode(job.old)
        kept, forced = cut_back(place.text)
        found = []
        for sample in range(SAMPLES):
            request = Generation(
                prompt=self.tokenizer.encode(kept),
                max_tokens=min(FUNCTION_TOKENS, 2 * len(old) + BLOCK),
                begin=forced.encode(),
                temperature=WARM if sample else 0.0,
                seed=job.seed + sample,
                start=place.state,
                sources=(old,),
                cancel=self.cancel,
            )
            events_ = draft_verify.generate(self.model, self.tokenizer, request)
            text = self._body(job, events_, len(forced), max(1, -(-len(old) // BLOCK)))
            if text is not None:
                found.append(text)
        return found

    def _body(self, job: Job, written: Iterator[Any], skipped: int, blocks: int) -> str | None:
        """One body, up to where it ends by its indentation; None where it never is code."""
        from model.decoding.request import Settled

        began, whole, checked, settled = time.monotonic(), "", 0, 0
        for event in written:
            if not isinstance(event, Settled):
                continue
            whole += event.text
            settled += len(event.tokens)
            text = whole[skipped:]
            end = text.rfind("\n") + 1
            if end > checked:
                checked, ended = end, job.ended(text)
                if not job.gate(text[:ended]):
                    return None
                if ended is not None:
                    return text[:ended].rstrip()
            if settled >= BLOCK:
                settled = 0
                index = min(blocks, 1 + len(text) * blocks // max(len(job.old), 1))
                self._tell(job, "function", index, blocks, text, began)
        text = whole[skipped:].rstrip()
        return text if text and job.gate(text + "\n") else None

    def _tell(self, job: Job, origin: str, index: int, of: int, text: str, began: float, count: int = 0) -> None:
        elapsed = 1000 * (time.monotonic() - began)
        self.listener(events.Block(origin, index, of, count, elapsed, text, job.where))
