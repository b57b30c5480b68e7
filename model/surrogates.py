"""Halves of surrogate pairs that stand alone: a byte of a file that is not UTF-8, or half a character from an editor.
Python's strings hold them; no encoding can spell them."""

from __future__ import annotations

import re

LONE = re.compile("[\ud800-\udfff]")


def replaced(text: str) -> str:
    """The text, as long as before, with U+FFFD for each of them."""
    return LONE.sub("\N{REPLACEMENT CHARACTER}", text)
