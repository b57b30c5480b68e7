"""The body of a function that has none, as the model writes it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from coder.completion.functions import Stub, stub_at
from coder.completion.gates import judge
from coder.completion.prompt import prompt_behind
from coder.completion.situation import Situation
from coder.completion.stopping import Extent
from coder.completion.writer import Writer

LINES, TOKENS = 40, 256


def parted(text: str, stub: Stub) -> tuple[str, str]:
    """A text before and behind a stub, with "\\n" for every end of line."""
    before, after = (part.replace("\r\n", "\n") for part in (text[: stub.start], text[stub.end :]))
    return before + stub.opening, after


def write_body(
    writer: Writer, situation: Situation, stub: Stub, modules: Collection[str], cancel: Any, variant: int = 0
) -> str:
    """What is to replace the stub where `situation` is; empty where nothing was written that parses there, whose names
    mean something, and that is more than another stub. Variants above 0 are other bodies, sampled."""
    extent = Extent(True, len(stub.indentation), len(stub.indentation), LINES)
    draft = writer.write(prompt_behind(situation), situation, extent, TOKENS, cancel, variant=variant)
    body = "" if draft is None else judge(draft, situation, 0.0, modules).text
    # Asked for where the head or the docstring ends: the body may begin with a function of its own.
    if stub_at(situation.before + body + situation.after, len(situation.before.rstrip())) is not None:
        return ""
    return body and stub.opening + body
