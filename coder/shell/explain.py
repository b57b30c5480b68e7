"""A command told in words, program by program and option by option."""

from __future__ import annotations

from dataclasses import dataclass

from coder.shell.features import inner_programs
from coder.shell.manual import Manual
from coder.shell.syntax import parse


@dataclass(frozen=True)
class Part:
    """A piece of the command and what it means; `meaning` is empty where the manual says nothing."""

    text: str
    meaning: str


def explain(command: str, manual: Manual) -> list[Part]:
    """In the order of the command. Words that are neither programs nor options are left out."""
    parts = []
    for one in parse(command).commands:
        owner = one.program or ""
        parts.append(Part(owner, manual.page(owner).about))
        inner = {at: name for name, at in inner_programs(one)}
        for at, word in enumerate(one.words):
            if at in inner:
                owner = inner[at]
                parts.append(Part(owner, manual.page(owner).about))
            elif word.text in ("\\;", ";", "+"):
                owner = one.program or ""
            elif word.text.startswith("-") and len(word.text) > 1:
                meaning = manual.option(owner, word)
                parts.append(Part(word.text, meaning if isinstance(meaning, str) else ""))
    return parts
