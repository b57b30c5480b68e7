"""A memory drawn in the terminal: how the norm of each gated-delta head grew over the files that were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from coder.reading import FileRead

_SHADES = " ░▒▓█"
_LABEL = 5  # columns for the number of a row


def columns(files: Sequence[FileRead], width: int) -> list[tuple[float, ...]]:
    """The norms after each file, or, where there are more files than columns, after each equal share of them."""
    noted = [file.norms for file in files if file.norms]
    count = min(len(noted), max(width, 1))
    return [noted[(at + 1) * len(noted) // count - 1] for at in range(count)]


def heat_map(files: Sequence[FileRead], width: int) -> Text | None:
    """Rows are heads, columns are files in reading order, darkness and colour the norm; None where there is none.

    Shades alone carry the picture where there is no colour.
    """
    from rich.text import Text

    drawn = columns(files, width - _LABEL - 1)
    if not drawn or max(map(max, drawn)) <= 0:
        return None
    most = max(map(max, drawn))
    text = Text(f"\nnorm of each head over {len(files)} files, {_SHADES[-1]} = {most:.3g}\n", no_wrap=True)
    for row in range(len(drawn[0])):
        text.append(f"{row:>{_LABEL}} ", "dim")
        for norms in drawn:
            share = norms[row] / most
            shade = _SHADES[min(int(share * len(_SHADES)), len(_SHADES) - 1)]
            text.append(shade, f"rgb({int(40 + 215 * share)},{int(60 + 120 * share)},{int(140 * (1 - share))})")
        text.append("\n")
    return text
