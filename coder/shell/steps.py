"""Common parts of file commands, each with the words of a question that call for it: what to find, what then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coder.shell.criteria import DEPTH, TYPE, Criterion, criteria, name_of
from coder.shell.literals import Kind, Literal

_STEPS = [  # (words of the question, what follows `find`)
    (r"\b(?:count|number|how many|total)", " | wc -l"),
    (r"\b(?:count|number|total).*\b(?:lines?|words?)\b", " | xargs cat | wc -l"),
    (r"\b(?:count|number|total).*\blines?\b", " | xargs wc -l"),
    (r"\bwords?\b.*\b(?:count|number)|\b(?:count|number).*\bwords?\b", " | xargs cat | wc -w"),
    (r"\blines?\b.*\b(?:descending|reverse|most)", " | xargs wc -l | sort -nr"),
    (r"\bdecompress|\bgz", " | xargs zcat | wc -l"),
    (r"\bempty lines?|non-?empty|non-?blank", " | xargs cat | grep -vc '^$'"),
    (r"\bsort", " | sort"),
    (r"\bunique|distinct", " | sort -u"),
    (r"\bduplicate", " | sort | uniq -d"),
    (r"\bcompress|gzip", " | xargs gzip"),
    (r"\bmd5.*\bmd5", " | md5sum"),
    (r"\bmd5", " -exec md5sum {} +"),
    (r"\bmd5.*\bmd5", " -exec md5sum {} + | awk '{print $1}' | sort | md5sum"),
    (r"\bmd5.*\bmd5.*|sorted.*md5", " | sort | xargs md5sum | md5sum"),
    (r"\b(?:base|file ?)names?\b", " -printf '%f\\n'"),
    (r"\b(?:director(?:y|ies)|folders?) (?:where|that|which|contain)", " -printf '%h\\n' | sort -u"),
    (r"\b(?:delete|remove|get rid)", " -delete"),
    (r"\b(?:delete|remove|get rid)", " -exec rm -rf {} +"),
    (r"\b(?:details?|long|ls|information|permissions)\b", " -exec ls -l {} +"),
    (r"\b(?:details?|long|ls|information)\b", " -ls"),
    (r"\b(?:details?|long|ls|information)\b", " -exec ls -ld {} +"),
    (r"\b(?:largest|biggest)\b", " -printf '%s %p\\n' | sort -nr | head -n 1"),
    (r"\b(?:newest|latest|most recent)", " -printf '%T@ %p\\n' | sort -nr | head -n 1"),
    (r"\boldest\b", " -printf '%T@ %p\\n' | sort -n | head -n 1"),
    (r"\bsmallest\b", " -printf '%s %p\\n' | sort -n | head -n 1"),
    (r"\bsort\w*\b.*\bsize|by size", " -exec ls -s {} + | sort -n"),
    (r"\b(?:first|top)\b", " | head"),
    (r"\blast\b", " | tail"),
    (r"\bdisk usage|\bsizes?\b", " -exec du -h {} +"),
    (r"\b(?:types?|kind)\b", " -exec file {} +"),
    (r"\b(?:contents?|display|show|print) (?:of|the)", " -exec cat {} +"),
    (r"\b(?:executable)\b.*\b(?:make|set)|\b(?:make|set)\b.*\bexecutable", " -exec chmod +x {} +"),
]


def ends(sentence: str, asked: Sequence[Literal]) -> Iterator[str]:
    """What may be done with the files that were found."""
    yield from (step for words, step in _STEPS if re.search(words, sentence, re.IGNORECASE))
    for literal in asked:
        text = literal.text
        if literal.kind is Kind.WORD and "'" not in text and name_of(sentence, literal) is None:
            yield from _greps(sentence, text)
        elif literal.kind is Kind.MODE and (
            literal.target or len([one for one in asked if one.kind is Kind.MODE]) == 1
        ):
            yield f" -exec chmod {text} {{}} \\;"
            yield f" -exec chmod {text} {{}} \\; -print | wc -l"
        elif literal.kind is Kind.NUMBER:
            yield from _firsts(sentence, text)
        elif literal.kind in (Kind.PATH, Kind.FILE) and literal.target:
            yield f" -exec cp -r {{}} {text} \\;"
            yield f" -exec mv {{}} {text} \\;"
            yield f" > {text}"


def _greps(sentence: str, text: str) -> Iterator[str]:
    case = "i" if re.search(r"insensitiv|ignor\w+ (?:the )?case|regardless of", sentence, re.IGNORECASE) else ""
    if re.search(r"\b(?:not|n't|without) (?:contain|hav|includ)", sentence, re.IGNORECASE):
        yield f" -exec grep -{case}L '{text}' {{}} +"
        return
    number = "n" if re.search(r"line numbers?", sentence, re.IGNORECASE) else ""
    yield f" -exec grep -{case}l '{text}' {{}} +"
    yield f" -exec grep -{case}{number} '{text}' {{}} +".replace("- ", "")
    yield f" -exec grep -{case}l '{text}' {{}} + | wc -l"
    if not number:
        yield f" -exec grep -{case}n '{text}' {{}} +"
    yield f" -exec grep -{case}H '{text}' {{}} \\;"


def _firsts(sentence: str, text: str) -> Iterator[str]:
    last = re.search(r"\blast\b", sentence, re.IGNORECASE)
    yield f" | {'tail' if last else 'head'} -n {text}"
    if re.search(r"\blines?\b", sentence, re.IGNORECASE):
        yield f" -exec {'tail' if last else 'head'} -n {text} {{}} \\;"
    if re.search(r"largest|biggest", sentence, re.IGNORECASE):
        yield f" -exec ls -s {{}} + | sort -nr | head -n {text}"
    if re.search(r"smallest", sentence, re.IGNORECASE):
        yield f" -exec ls -s {{}} + | sort -n | head -n {text}"
    if re.search(r"newest|latest|recent", sentence, re.IGNORECASE):
        yield f" -printf '%T@ %p\\n' | sort -nr | head -n {text}"


def starts(sentence: str, asked: Sequence[Literal]) -> Iterator[str]:
    """What to find, from the conditions that the question names; the plainest first."""
    places = [one.text for one in asked if one.kind is Kind.PATH and not one.target] or ["."]
    if any(place.startswith("$") or re.search(r"[\s'\"*?]", place) for place in places):
        return
    wanted = criteria(sentence, asked)
    first = [one.tests[0] for one in wanted]
    yield _find(places[:1], wanted, first)
    if len(places) > 1:
        yield _find(places, wanted, first)
    for at, one in enumerate(wanted):
        for other in one.tests[1:4]:
            yield _find(places[:1], wanted, [*first[:at], other, *first[at + 1 :]])
    if not any(one.family == TYPE for one in wanted):
        yield _find(places[:1], wanted, [*first, "-type f"])


def _find(places: Sequence[str], wanted: Sequence[Criterion], tests: Sequence[str]) -> str:
    """A depth comes first: `find` warns where it does not."""
    order = sorted(range(len(tests)), key=lambda at: at < len(wanted) and wanted[at].family != DEPTH)
    return " ".join(["find", *places, *(tests[at] for at in order if tests[at])])
