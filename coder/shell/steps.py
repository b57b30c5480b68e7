"""Common parts of file commands, each with the words of a question that call for it: what to find, what then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
    (r"\b(?:delete|remove)", " -delete"),
    (r"\b(?:details|long|ls)\b", " -exec ls -l {} +"),
]


def ends(sentence: str, asked: Sequence[Literal]) -> Iterator[str]:
    """What may be done with the files that were found."""
    yield from (step for words, step in _STEPS if re.search(words, sentence, re.IGNORECASE))
    for literal in asked:
        text = literal.text
        if literal.kind is Kind.WORD and "'" not in text:
            yield f" -exec grep -l '{text}' {{}} +"
            yield f" -exec grep '{text}' {{}} +"
            yield f" -exec grep -l '{text}' {{}} + | wc -l"
        elif literal.kind is Kind.MODE:
            yield f" -exec chmod {text} {{}} \\;"
            yield f" -exec chmod {text} {{}} \\; -print | wc -l"
        elif literal.kind is Kind.NUMBER:
            yield f" | head -n {text}"
            if re.search(r"largest|biggest", sentence, re.IGNORECASE):
                yield f" -exec ls -s {{}} + | sort -nr | head -n {text}"
            if re.search(r"smallest", sentence, re.IGNORECASE):
                yield f" -exec ls -s {{}} + | sort -n | head -n {text}"
        elif literal.kind is Kind.PATH and literal.target:
            yield f" -exec cp -r {{}} {text} \\;"
            yield f" -exec mv {{}} {text} \\;"


def starts(sentence: str, asked: Sequence[Literal]) -> Iterator[str]:
    """What to find, in the words of the question alone; the plainest first."""
    place = next((one.text for one in asked if one.kind is Kind.PATH and not one.target), ".")
    if place.startswith("$") or re.search(r"[\s'\"*?]", place):
        return
    names = [f"*.{one.text}" for one in asked if one.kind is Kind.EXTENSION]
    names += [one.text for one in asked if one.kind in (Kind.GLOB, Kind.FILE) and not one.target]
    if re.search(r"\b(?:names?|named|called|path)\b", sentence, re.IGNORECASE):
        exact = re.search(r"\b(?:named|called|by name)\b", sentence, re.IGNORECASE)
        words = [one.text for one in asked if one.kind is Kind.WORD and re.fullmatch(r"[\w.-]+", one.text)]
        names += [word if exact else f"*{word}*" for word in words]
    kind = ""
    if re.search(r"\b(?:files?|scripts?)\b", sentence, re.IGNORECASE):
        kind = " -type f"
    elif re.search(r"\b(?:directories|folders|subdirectories|subfolders)\b", sentence, re.IGNORECASE):
        kind = " -type d"
    tests = " -o ".join(f"-name '{name}'" for name in names if "'" not in name)
    tests = f" \\( {tests} \\)" if " -o " in tests else f" {tests}" if tests else ""
    for extra in dict.fromkeys((*_further(sentence, asked), "")):
        yield f"find {place}{kind}{tests}{extra}"
        if kind:
            yield f"find {place}{tests}{extra}"


def _further(sentence: str, asked: Sequence[Literal]) -> Iterator[str]:
    """Age, size, emptiness and permissions."""
    low = sentence.casefold()
    more = re.search(r"\b(?:more|older|larger|bigger|greater|over|above|least|ago)\b", low)
    sign = "-" if re.search(r"\b(?:less|newer|smaller|within|under|last|past)\b", low) and not more else "+"
    for literal in asked:
        if literal.kind is Kind.NUMBER and re.search(r"\bdays?\b", low):
            yield f" -mtime {sign}{literal.text}"
        elif literal.kind is Kind.NUMBER and re.search(r"\bminutes?\b", low):
            yield f" -mmin {sign}{literal.text}"
        elif literal.kind is Kind.SIZE:
            yield f" -size {sign}{literal.text}"
        elif literal.kind is Kind.MODE:
            yield f" -perm {literal.text}"
    if re.search(r"\bnon-?empty|not empty|ignoring (?:any )?empty", low):
        yield " -not -empty"
    elif re.search(r"\bempty\b", low):
        yield " -empty"
