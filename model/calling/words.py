"""Words of requests, names and descriptions, cut so that their forms compare equal."""

from __future__ import annotations

import re

LIGHT = frozenset(
    "a an the of to for in on at by with from into and or but is are was were be been it its this that these those "
    "my your me i you we us our he she his her they their can could would will should shall may please help need want "
    "like do does did done have has had having what which who whom whose when where how why there here as so if then "
    "than also given about known named called titled made least between using use used some any all each both just let "
    "tell give get find show know i'm i'd i've i'll finally lastly secondly thirdly additionally however "
    "curious interested planning trying thinking looking wondering considering".split()
)
"""Words that name nothing by themselves."""

_SUFFIXES = (
    "ations ation ating ators ator ated ates ate ings ing ities ity ions ion ers er ors or ies ed es ly al s "
    "e y".split()
)
_IRREGULAR = {
    "children": "child",
    "people": "person",
    "men": "man",
    "women": "woman",
    "feet": "foot",
    "mice": "mouse",
    "news": "news",
}
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")


def stem(word: str) -> str:
    """The word without its most common endings, in lower case. Two different words may share one."""
    word = word.casefold().removesuffix("'s").removesuffix("’s")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word.removesuffix(suffix)
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def stems(text: str) -> list[str]:
    """Stems of a text's words in their order; identifiers (`snake_case`, `camelCase`) are divided, light words left
    out."""
    return [stem(part) for part in _PARTS.findall(text) if part.casefold() not in LIGHT]
