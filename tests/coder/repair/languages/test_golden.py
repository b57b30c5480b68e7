"""Every language table: an edit of each listed family turns `before` into the file that is named after the family."""

from __future__ import annotations

from pathlib import Path

import pytest

from coder.patch import apply_edits
from coder.repair.edits.base import Hints
from coder.repair.edits.priors import SHARES
from coder.repair.files import parse
from coder.repair.languages.edits import FAMILIES
from coder.repair.languages.region import TreeRegion
from coder.repair.languages.tree import TreeSource

GOLDEN = Path(__file__).parent / "golden"
LANGUAGES = sorted(folder.name for folder in GOLDEN.iterdir())


def made(path: str, text: str) -> dict[str, set[str]]:
    """By family, every text that a single edit of some function makes of a file."""
    source = parse(path, text)
    assert isinstance(source, TreeSource)
    texts: dict[str, set[str]] = {}
    for function in source.functions():
        lines = dict.fromkeys(range(function.lineno, function.end_lineno + 1), 1.0)
        region = TreeRegion.of(source, function, lines, Hints())
        for draft in (draft for family in FAMILIES for draft in family.propose(region)):
            assert draft.family in SHARES
            texts.setdefault(draft.family, set()).add(apply_edits(text, draft.edits))
    return texts


def family_of(path: Path) -> str:
    return path.name.partition(".")[0].replace("_", " ")


@pytest.mark.parametrize("language", LANGUAGES)
def test_edits_of_each_family(language: str) -> None:
    (before,) = (GOLDEN / language).glob("before.*")
    texts = made(before.name, before.read_text())
    expected = [path for path in sorted((GOLDEN / language).iterdir()) if path != before]
    missing = [path.name for path in expected if path.read_text() not in texts[family_of(path)]]
    assert expected
    assert not missing


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_edits_parse(language: str) -> None:
    (before,) = (GOLDEN / language).glob("before.*")
    texts = {text for group in made(before.name, before.read_text()).values() for text in group}
    broken = 0
    for text in texts:
        try:
            parse(before.name, text)
        except SyntaxError:
            broken += 1
    assert len(texts) > 200
    assert broken < 0.03 * len(texts)
