"""What the words around a mention say: names of parameters before and behind it, and prepositions."""

from __future__ import annotations

import re

from model.calling.mentions import Mention
from model.calling.slots import Slot
from model.calling.words import LIGHT, stem, stems

_ROLES = {
    preposition: frozenset(map(stem, parameters.split()))
    for prepositions, parameters in {
        "from leaving departing": "from origin start source begin departure depart initial base old",
        "between": "from origin start source begin min minimum lower",
        "to until till through into returning": "to destination end target stop until arrival final return new",
        "and": "to destination end target until max maximum upper",
        "in at near around within": "location city place country state region area address venue compartment where",
        "by": "author artist director actor writer person creator name",
        "for": "name species item product topic subject company person location days duration",
        "of": "name species particle item president product",
        "on about regarding": "date day platform topic subject query",
        "above over after exceeding": "min minimum lower least start from",
        "under below before than": "max maximum upper most end limit",
        "with called named": "name title",
    }.items()
    for preposition in prepositions.split()
}
_DETERMINERS = ("the", "a", "an", '"', "'", "“")
_UP_TO = re.compile(r"\s?(?:to|-|–)\s?[$€£]?\d")
_FROM = re.compile(r"\d\s?(?:to|-|–)\s?[$€£]?$")
_TOKEN = re.compile(r"\w+(?:[’'.-]\w+)*|[^\w\s]")


def label(slot: Slot, mention: Mention, text: str, rivals: list[Mention]) -> float:
    """From 0 on: how much the words around the mention, up to the next of its `rivals`, name the slot."""
    before = text[: mention.start]
    name = re.escape(" ".join(re.findall(r"[^\W_]+", slot.name)))
    assigned = (
        r"\s*(?:=|:|is)\s*" if slot.name.casefold() in LIGHT else r"\s*(?:=|:|[-–]|is|of|as|to|are|at)?\s*[\"'“]?"
    )
    if re.search(rf"(?<![\w'’]){name}{assigned}$", before, re.IGNORECASE):
        return 4.0
    left = max((one.end for one in rivals if one.end <= mention.start), default=0)
    right = min((one.start for one in rivals if one.start >= mention.end), default=len(text))
    ahead = _TOKEN.findall(re.split(r"[.!?]\s", text[left : mention.start])[-1])[-7:]
    behind = _TOKEN.findall(re.split(r"[,.;!?]|\band\b|\bor\b", text[mention.end : right])[0])[:3]
    score = 0.0
    seen: set[str] = set()
    for tokens, least, fade in ((ahead[::-1], 1.0, 0.8), (behind, 0.8, 0.75)):
        for distance, token in enumerate(tokens):
            word = stem(token)
            if token.casefold() not in LIGHT and word not in seen:
                seen.add(word)
                score += slot.weights.get(word, 0.0) * least * fade**distance
    preposition = next((token.casefold() for token in ahead[::-1] if token.casefold() not in _DETERMINERS), "")
    roles = _ROLES.get(preposition, frozenset())
    begins = mention.kind == "number" and _UP_TO.match(text, mention.end) is not None
    ends = mention.kind == "number" and _FROM.search(before) is not None
    roles |= _ROLES["between" if begins else "and"] if begins or ends else frozenset()
    if roles & (slot.parts | set(stems(slot.name))):
        score += 2.0 if begins or ends else 1.5
    elif roles & slot.weights.keys() and not slot.numeric:
        score += 0.6
    return score
