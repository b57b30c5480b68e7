from __future__ import annotations

import pytest

from coder.patch import apply_edits
from coder.repair import rewrite
from tests.coder.repair.helpers import region_of

TEXT = "def f(a, b):\n    c = a\n    if c > 10:\n        return max(a - b, 0)\n    return c\n"


class Written:
    """Stands for `model.decoding.rewrite.rewrite`: notes what it was asked and answers with fixed texts."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.prefix = self.suffix = ""

    def __call__(self, model: object, tokenizer: object, prefix: str, suffix: str, *rest: object) -> list[object]:
        from model.decoding.rewrite import Rewrite

        self.prefix, self.suffix = prefix, suffix
        return [Rewrite(text, -float(index)) for index, text in enumerate(self.texts)]


def written(monkeypatch: pytest.MonkeyPatch, gap: rewrite.Gap, *texts: str) -> tuple[Written, list[str]]:
    region = region_of(TEXT)
    fake = Written(*texts)
    monkeypatch.setattr("model.decoding.rewrite.rewrite", fake)
    proposals = list(rewrite.rewrites(region, gap, None, None, "# test\n", 0, lambda: False))
    assert [proposal.origin for proposal in proposals] == ["rewrite"] * len(proposals)
    return fake, [apply_edits(TEXT, proposal.edits) for proposal in proposals]


def gap(insert: bool = False, whole: bool = True, text: str = "") -> rewrite.Gap:
    region = region_of(TEXT)
    return next(
        gap
        for gap in rewrite.gaps(region)
        if gap.insert == insert and gap.whole_line == whole and TEXT[gap.start :].startswith(text)
    )


def test_a_line_is_rewritten_between_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, texts = written(monkeypatch, gap(text="c = a"), "c = a + b", "c = a", "", "c = a + b", "# c", "c\nd")
    assert texts == [TEXT.replace("c = a", "c = a + b")]
    assert fake.prefix == "# test\ndef f(a, b):\n    "
    assert fake.suffix.startswith("\n    if c > 10:\n")


def test_an_expression_is_rewritten_within_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, texts = written(monkeypatch, gap(whole=False, text="max(a"), "max(b - a, 0)")
    assert texts == [TEXT.replace("max(a - b, 0)", "max(b - a, 0)")]
    assert fake.prefix.endswith("        return ")


def test_a_line_is_inserted_at_the_indentation_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, texts = written(monkeypatch, gap(insert=True, text="    if c"), "c += b")
    assert texts == [TEXT.replace("    if c", "    c += b\n    if c")]
    assert fake.prefix.endswith("    c = a\n    ")
    assert fake.suffix.startswith("\n    if c > 10:")


def test_suspicious_lines_come_before_expressions_and_new_lines() -> None:
    region = region_of(TEXT)
    region.suspicion = {2: 0.2, 4: 1.0}
    found = rewrite.gaps(region)
    assert TEXT[found[0].start :].startswith("return max")
    assert [gap.insert for gap in found] == sorted(gap.insert for gap in found)
    assert not any(TEXT[gap.start :].startswith("if c") for gap in found)
