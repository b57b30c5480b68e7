from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from coder import events
from coder.patch import apply_edits
from coder.repair.candidate import Base
from coder.repair.job import Job
from coder.repair.recall import Recall
from coder.repair.rewrite import Gap, gaps, places
from coder.repair.writing import LONGEST, Writing
from model.protocol import Block
from tests.coder.repair.helpers import region_of
from tests.model.tiny_llama import CONFIG, tiny_llama
from tests.model.toy import END, ByteTokenizer

TEXT = "def f(a, b):\n    c = a\n    if c > 10:\n        return max(a - b, 0)\n    return c\n"


def llama():
    return tiny_llama(config=replace(CONFIG, vocabulary=ByteTokenizer.vocabulary))


class Near:
    """Stands for `model.decoding.near.near`: notes what it was asked and answers with fixed texts."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def __call__(self, model, tokenizer, prefix, old, stop, cache, start, cancel):
        from model.decoding.rewrite import Rewrite

        self.old, self.stop, self.position, self.rest = old, stop, start.position, prefix
        return [Rewrite(text, -float(index)) for index, text in enumerate(self.texts)]

    def read(self, before: str = "# test\n" + TEXT) -> str:
        """All that was read, of a text of which the state has read the beginning."""
        return before[: self.position] + self.rest


class Says:
    """Sees masks; says one text in them, whatever stands around."""

    vocabulary, device = ByteTokenizer.vocabulary, torch.device("cpu")

    def __init__(self, text: str) -> None:
        self._said = [*text.encode(), END]
        self.previews = self.commits = 0

    def start(self) -> int:
        return 0

    def commit(self, tokens: Sequence[int], state: int, *, rows: slice | None = None):
        self.commits += 1
        return torch.zeros(len(tokens), self.vocabulary)[rows or slice(None)], state + len(tokens)

    def preview(self, block: Block, state: int) -> torch.Tensor:
        self.previews += 1
        logits_TV = torch.zeros(len(block.tokens), self.vocabulary)
        ids = (self._said + [END] * len(block.tokens))[: len(block.tokens)]
        logits_TV[torch.arange(len(ids)), torch.tensor(ids)] = 20.0
        return logits_TV


def gap(insert: bool = False, whole: bool = True, text: str = "", function: bool = False) -> Gap:
    return next(
        gap
        for gap in places(region_of(TEXT))
        if (gap.insert, gap.whole_line, gap.function) == (insert, whole, function)
        and TEXT[gap.start :].startswith(text)
    )


def writing(model, **more) -> tuple[Writing, list[events.Event]]:
    seen: list[events.Event] = []
    return Writing(model, ByteTokenizer(), "# test\n", seen.append, threading.Event(), **more), seen


def made(model, place: Gap) -> list[str]:
    region = region_of(TEXT)
    job = Job(region, place, 0)
    return [apply_edits(TEXT, proposal.edits) for proposal in job.proposals(writing(model)[0].texts(job))]


def near(monkeypatch: pytest.MonkeyPatch, *texts: str) -> Near:
    fake = Near(*texts)
    monkeypatch.setattr("model.decoding.near.near", fake)
    return fake


def test_a_line_is_written_near_to_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = near(monkeypatch, "c = a + b", "c = a", "", "c = a + b  ", "# c")
    assert made(llama(), gap(text="c = a")) == [TEXT.replace("c = a", "c = a + b")]
    assert fake.read() == "# test\ndef f(a, b):\n    " and fake.old == "c = a" and fake.stop[0] == "\n"


def test_an_expression_is_written_within_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = near(monkeypatch, "max(b - a, 0)")
    assert made(llama(), gap(whole=False, text="max(a")) == [TEXT.replace("max(a - b, 0)", "max(b - a, 0)")]
    assert fake.read().endswith("    if c > 10:\n        return ")


def test_a_line_is_inserted_at_the_indentation_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = near(monkeypatch, "c += b")
    found = made(llama(), gap(insert=True, text="    if c"))
    assert found == [TEXT.replace("    if c", "    c += b\n    if c")]
    assert fake.read().endswith("    c = a\n    ") and fake.old is None


def kind_of(place: Gap) -> str:
    return "new line" if place.insert else "body" if place.function else "value" if place.value else "line"


def test_a_value_is_written_without_regard_to_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = near(monkeypatch, "a + b")
    (value,) = [place for place in places(region_of(TEXT)) if place.value and TEXT[place.start :].startswith("a\n")]
    assert made(llama(), value) == [TEXT.replace("c = a\n", "c = a + b\n")]
    assert fake.read().endswith("    c = ") and fake.old is None


def test_a_lost_value_is_written_first_and_a_header_with_its_colon() -> None:
    text = "def f(a):\n    for b in 0:\n        a += g(b, 1)\n    return a.c(1)\n"
    found = sorted(places(region_of(text)), key=lambda place: -place.weight)
    assert (found[0].value, found[0].hollow, text[found[0].start : found[0].end]) == (True, True, "0:")
    assert not any(place.hollow for place in found[1:])


@pytest.mark.parametrize("first", ["\n", "\r\n"])
def test_a_place_ends_with_its_line_whatever_ends_that_and_comments_under_a_header_stay(first: str) -> None:
    text = "def f(a):\n    if a > 1:\n        # Why.\n        a = 2\n    return a".replace("\n", first, 1)
    found = {text[place.start : place.end] for place in gaps(region_of(text)) if not place.insert}
    assert found == {"if a > 1:", "a > 1:", "a = 2", "2", "return a", "a"}


def test_suspicious_lines_come_before_expressions_new_lines_and_whole_bodies() -> None:
    region = region_of(TEXT)
    region.suspicion = {2: 0.2, 4: 1.0}
    found = sorted(places(region), key=lambda place: -place.weight)
    assert TEXT[found[0].start :].startswith("return max")
    kinds = [kind_of(place) for place in found if place.suspicion == 1.0 and place.whole_line]
    assert kinds == ["line", "value", "new line", "body"]
    assert not any(TEXT[place.start :].startswith("if c") for place in gaps(region))


def test_a_model_that_sees_masks_fills_an_expression_with_both_sides_in_view() -> None:
    model = Says("abs(b)")
    assert made(model, gap(whole=False, text="max(a")) == [TEXT.replace("max(a - b, 0)", "abs(b)")]
    assert model.previews > 0


BODY = "c = a + b\n    if c > 1000:\n        return 1000\n    return max(c, 0) + a"


def test_a_whole_body_is_filled_block_by_block_each_past_the_gate() -> None:
    model, region = Says(BODY), region_of(TEXT)
    work, seen = writing(model)
    # The double says its text anew in every canvas, so only what fits into one block comes out whole.
    work.listener = seen.append
    texts = work.texts(Job(region, gap(function=True), 0))
    blocks = [event for event in seen if isinstance(event, events.Block)]
    assert blocks and all(event.origin == "blocks" and event.where == "module.py:2" for event in blocks)
    assert blocks[0].index == 1 and blocks[0].of > 1 and blocks[0].text == BODY[:32]
    assert all(text.startswith(BODY[:32]) for text in texts)


def test_what_cannot_be_code_is_dropped_at_its_first_block() -> None:
    model, region = Says("c = (a\n    if )\n" + 60 * "x"), region_of(TEXT)
    work, seen = writing(model)
    assert work.texts(Job(region, gap(function=True), 0)) == {}
    assert seen == []


def test_canvases_are_told_where_somebody_watches() -> None:
    for watched in (False, True):
        work, seen = writing(Says("abs(b)"), watched=watched)
        work.texts(Job(region_of(TEXT), gap(whole=False, text="max(a"), 0))
        assert any(isinstance(event, events.Canvas) for event in seen) == watched


def test_each_place_is_told_with_its_likeliest_text(monkeypatch: pytest.MonkeyPatch) -> None:
    near(monkeypatch, "c = b", "c = a + b")
    work, seen = writing(llama())
    region = region_of(TEXT)
    first = next(found for found in work.candidates([region], Base({"module.py": region.source})) if found)
    assert [candidate.proposal.edits[0].replacement for candidate in first] == ["c = b", "c = a + b"]
    assert all(candidate.score < 0 for candidate in first)
    (block,) = seen
    assert (block.text, block.where, block.proposals) == ("c = b", "module.py:2", 2)


def test_lines_that_the_model_finds_odd_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from model.scoring import Scorer, TokenSurprise

    region, odd = region_of(TEXT), TEXT.index("max")
    monkeypatch.setattr(Scorer, "surprise", lambda self, text: [TokenSurprise(odd, odd + 3, 20.0)])
    near(monkeypatch, "c = b")
    work, seen = writing(llama())
    for found in work.candidates([region], Base({"module.py": region.source})):
        if found:
            break
    assert seen[0].where == "module.py:4"


def test_of_a_long_function_the_part_around_the_suspicious_line_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from model.scoring import Scorer

    lines = [f"    c{number} = a" for number in range(2000)]
    region = replace(region_of("\n".join(["def f(a):", *lines, ""])), suspicion={1500: 1.0, 3: 0.2})
    heard: list[str] = []
    monkeypatch.setattr(Scorer, "surprise", lambda self, text: heard.append(text) or [])
    near(monkeypatch, "c = b")
    work, _ = writing(llama())
    next(work.candidates([region], Base({"module.py": region.source})))
    (text,) = heard
    assert len(text) <= LONGEST and "c1498 = a" in text and text.startswith("    c")


def test_what_was_read_of_the_file_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state stands a little before the place, and the text goes on from there."""
    from coder.reading import FileRead, Read, heading

    model, tokenizer, fake = llama(), ByteTokenizer(), near(monkeypatch, "c = b")
    ids = tokenizer.encode(heading("module.py") + TEXT)
    _, state = model.commit(ids, model.start())
    read = Read(state, (FileRead("module.py", "", len(ids)),), 0, True, tuple(ids), model.start())
    work = writing(model, recall=Recall.of(model, tokenizer, TEXT, read))[0]
    work.texts(Job(region_of(TEXT), gap(text="c = a"), 0))
    before = heading("module.py") + TEXT
    assert fake.rest and fake.read(before) == before[: before.index("c = a")]
