from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from coder.completion.situation import Situation
from coder.completion.trimming import trim

CASES = tomllib.loads((Path(__file__).parent / "golden" / "trimming.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_golden(case):
    before, _, rest = case["text"].partition("├")
    text, _, after = rest.partition("┤")
    assert trim(text, Situation("u", "a.py", "python", before, after)) == case["shown"]
