"""Text of others made safe to show: no control characters, no escape sequences, no hidden reordering."""

from __future__ import annotations

import re

_SEQUENCES = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"  # OSC: titles, links, the clipboard
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c|$)"  # DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor, screen
    r"|\x1b[ -/]*[0-~]?"  # the other escapes
)
# C0 but for tab and newline, DEL, C1; marks that reorder or hide text (bidirectional controls, zero width).
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def clean(raw: bytes | str) -> str:
    """`raw` as text (UTF-8, bad bytes replaced) without control characters other than tab and newline."""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    text = _SEQUENCES.sub("", text.replace("\r\n", "\n"))
    return _CONTROLS.sub("", text)


def visible(raw: bytes | str) -> str:
    """As `clean`, but each such character is written out (`\\x1b`) and nothing is left out: for what somebody is to
    judge. What begins like an escape sequence could else hide all that comes after it."""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text.replace("\r\n", "\n"))
