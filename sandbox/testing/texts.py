"""Texts of the pristine tree and of changes to it, each in the encoding that the file declares."""

from __future__ import annotations

import tokenize
from io import BytesIO

from sandbox.working_copy import WorkingCopy


def read(tree: WorkingCopy, path: str) -> str:
    """The text of a pristine file; "" where there is none."""
    try:
        data = (tree.root / path).read_bytes()
    except OSError:
        return ""
    return data.decode(_encoding(path, data), "surrogateescape")


def encode(tree: WorkingCopy, path: str, text: str) -> bytes:
    """`text` in the encoding that the file has now."""
    try:
        data = (tree.root / path).read_bytes()
    except OSError:
        data = b""
    return text.encode(_encoding(path, data), "surrogateescape")


def _encoding(path: str, data: bytes) -> str:
    if not path.endswith(".py"):
        return "utf-8"
    try:
        return tokenize.detect_encoding(BytesIO(data).readline)[0].replace("utf-8-sig", "utf-8")
    except SyntaxError:
        return "utf-8"
