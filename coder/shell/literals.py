"""What a request names exactly: paths, file names, patterns, numbers, sizes, permissions, words in quotes.

These fill the slots of a command, and leave behind a sentence that says only what is to be done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    PATH = "path"
    FILE = "file"  # a name with an extension, without folders
    EXTENSION = "extension"
    GLOB = "glob"
    SIZE = "size"
    MODE = "mode"
    NUMBER = "number"
    WORD = "word"


@dataclass(frozen=True)
class Literal:
    """A part [start, end) of the sentence. `text`: an extension without its dot, a size as 10M, all else as written."""

    kind: Kind
    text: str
    start: int
    end: int
    target: bool = False
    """It is where something goes: "to X", "into X", "as X"."""


_LANGUAGES = {
    "python": "py", "javascript": "js", "javascripts": "js", "perl": "pl", "ruby": "rb", "text": "txt", "shell": "sh",
    "c++": "cpp",
    "markdown": "md", "jpeg": "jpg", "log": "log", "image": "jpg", "bash": "sh",
}  # fmt: skip
_EXTENSIONS = "php|java|python|javascripts?|perl|ruby|c\\+\\+|cpp|html?|css|js|txt|text|pdf|jpe?g|png|gif|xml|json|csv|mp3|mp4|log|md|sh|shell|yml|yaml|tar|zip|gz|bz2|py|rb|pl|markdown|[ch]"  # noqa: E501
_NUMBERS = {word: str(value) for value, word in enumerate("two three four five six seven eight nine ten".split(), 2)}
_UNITS = {"k": "k", "m": "M", "g": "G", "t": "T", "b": "c"}
_PLAIN = re.compile(r"(?:files?|director(?:y|ies)|folders?|and|or|symlinks?|links?|lines?|words?|input|output)+", re.I)
_STOP = frozenset(
    (
        "the a an of in on to with for and or all any each every this that these those which whose is are be "
        "file files directory directories folder folders tree under from by as at it its current working "
        "given same parent home root name names named path paths content contents text string word pattern "
        "following not only user group first last line lines character characters type size older newer than count "
        "counts"
    ).split()
)


_DOTTED = {"svn", "git", "hg", "bzr", "ssh", "vim", "cache", "config", "bashrc", "profile", "env", "note"}
_AND = r"(?:,| and| or| ?/)"
_LISTED = re.compile(r"[\"'`]?(?:,| or| and)\s+([\w.-]*\w)")  # one more of the same kind
_TARGET = re.compile(
    r"\b(?:to|into|as|onto)(?: (?:the|a|directory|folder|file|new|archive|named|called))*\s*[\"'`]?$", re.I
)


def _quoted(match: re.Match[str]) -> tuple[Kind, str] | None:
    inner = match[2].strip()
    if not inner:
        return None
    if extension := re.fullmatch(r"\*?\.(\w{1,8})", inner):
        return Kind.EXTENSION, extension[1]
    if " " not in inner:
        if re.match(r"[/~$]|\.{1,2}(/|$)", inner) or re.fullmatch(r"[\w.-]+(/[\w.*-]*)+", inner):
            return Kind.PATH, inner
        if re.search(r"[*?]", inner):
            return Kind.GLOB, inner
        if re.fullmatch(r"[\w-]+(?:\.tar)?\.[A-Za-z]\w{0,7}", inner):
            return Kind.FILE, inner
    placed = re.search(r"\b(?:directory|folder|dir|tree)(?: named| called)? $", match.string[: match.start()], re.I)
    return Kind.PATH if placed and " " not in inner else Kind.WORD, match[2]


def _path(match: re.Match[str]) -> tuple[Kind, str] | None:
    text = match[0].rstrip(".,;:")
    parts = [part for part in text.split("/") if part]
    if text[0] not in "/~.$" and all(_PLAIN.fullmatch(part) for part in parts):
        return None
    return Kind.PATH, text


def _mode(match: re.Match[str]) -> tuple[Kind, str] | None:
    return (Kind.MODE, match[0]) if re.search(r"permission|\bmode|chmod|\bperm", match.string, re.I) else None


def _size(match: re.Match[str]) -> tuple[Kind, str]:
    return Kind.SIZE, match[1] + _UNITS[match[2][0].casefold()]


def _extension(match: re.Match[str]) -> tuple[Kind, str]:
    name = match[1].casefold()
    return Kind.EXTENSION, _LANGUAGES.get(name, name)


def _suffix(match: re.Match[str]) -> tuple[Kind, str] | None:
    return None if match[0].casefold() in _STOP | {"no", "other", "but", "where"} else (Kind.EXTENSION, match[0])


def _dotted(match: re.Match[str]) -> tuple[Kind, str]:
    """`.c` is an extension, `.git` a name."""
    return (Kind.FILE, match[0]) if match[1] in _DOTTED else (Kind.EXTENSION, match[1])


def _name(match: re.Match[str]) -> tuple[Kind, str] | None:
    return None if match[0].casefold() in ("e.g", "i.e", "etc.") else (Kind.FILE, match[0])


_PATTERNS: list[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[Kind, str] | None]]] = [
    (re.compile(r"(?<![\w])([\"'`])(.+?)\1(?![\w])"), _quoted),
    (re.compile(r"(?<!\w)([`‘“])([^'`‘’“”\n]+)['’”](?!\w)"), _quoted),
    (re.compile(r"\$\{?\w+\}?(?:/[\w./-]*)?"), lambda match: (Kind.PATH, match[0])),
    (re.compile(r"(?<![\w*?])(?:~|\.{1,2})?/[\w./*{}$+-]*|(?<![\w/])[\w.-]+/[\w./*-]*|(?<!\S)~(?!\S)"), _path),
    (re.compile(r"(?<!\S)\*\.(\w+)(?![\w*?])"), lambda match: (Kind.EXTENSION, match[1])),
    (re.compile(r"(?<!\S)[\w.-]*[*?][\w.*?-]*[\w*]|(?<!\S)[\w.-]+\*"), lambda match: (Kind.GLOB, match[0])),
    (re.compile(r"(?<![\w.])\.([a-zA-Z]\w{0,5})\b"), _dotted),
    (re.compile(r"\b(\d+)\s?(bytes?|[kmgt]i?b|[kmg](?=\b)|kilobytes?|megabytes?|gigabytes?)\b", re.I), _size),
    (re.compile(r"(?<![\w.])[0-7]{3,4}(?![\w.])"), _mode),
    (re.compile(r"(?<![\w.])\d+(?=\b|st|nd|rd|th)"), lambda match: (Kind.NUMBER, match[0])),
    (re.compile(rf"\b({'|'.join(_NUMBERS)})\b", re.I), lambda match: (Kind.NUMBER, _NUMBERS[match[0].casefold()])),
    (re.compile(r"(?<![\w.])[\w-]+(?:\.tar)?\.[A-Za-z]\w{0,7}\b"), _name),
    (re.compile(r"\b([A-Za-z]\w{0,4})(?= extensions?\b)|(?<=\bextension )([A-Za-z]\w{0,4})\b"), _suffix),
    (re.compile(rf"\b({_EXTENSIONS})(?=(?:\s+\w+)?\s+(?:files?|scripts?)\b)", re.I), _extension),
    (re.compile(rf"\b({_EXTENSIONS})(?=(?:{_AND}\s*\w+){{1,4}}\s+(?:files?|scripts?)\b)", re.I), _extension),
    (re.compile(r"\b(?:current(?: working)?|working) (?:directory|folder|dir)\b", re.I), lambda _: (Kind.PATH, ".")),
    (re.compile(r"\bhome (?:directory|folder)\b", re.I), lambda _: (Kind.PATH, "~")),
    (
        re.compile(r"(?<=directory )[\w.-]+|(?<=folder )[\w.-]+|\b[\w.-]+(?= (?:directory|folder|dir)\b)"),
        lambda match: (Kind.PATH, match[0]),
    ),
    (
        re.compile(r"(?<=\bnamed )[\w.-]+|(?<=\bthe name )[\w.-]+|(?<=\bcalled )[\w.-]+|(?<=\bstring )[\w.-]+|(?<=\bword )[\w.-]+|(?<=\btext )[\w.-]+|(?<=\bcontaining )[\w.-]+|(?<=\bcontain )[\w.-]+|(?<=\bcontains )[\w.-]+|(?<=\bpattern )[\w.-]+|(?<=\buser )[\w-]+|(?<=\bgroup )[\w-]+|(?<=\bwith )[A-Z][\w-]+"),  # noqa: E501
        lambda match: (Kind.WORD, match[0]),
    ),
]  # fmt: skip
_NEEDS_NAME = len(_PATTERNS) - 2  # this pattern guesses: it counts only for names that are known


def literals(
    sentence: str, names: Collection[str] = (), common: Callable[[str], bool] = lambda word: False
) -> list[Literal]:
    """In order of appearance, not overlapping. `names`: words that are known to name something here;
    where one is also a `common` word of such sentences, only beside "folder" or "directory"."""
    found: list[Literal] = []
    taken = bytearray(len(sentence))

    def take(kind: Kind, text: str, start: int, end: int) -> None:
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            found.append(Literal(kind, text, start, end, bool(_TARGET.search(sentence[:start]))))

    for at, (pattern, classify) in enumerate(_PATTERNS):
        for match in pattern.finditer(sentence):
            named = re.search(r"\b(?:for|contain\w*) the (?:word|string) $", sentence[: match.start()], re.I)
            unlikely = match[0].casefold() in _STOP or match[0].casefold().endswith("ing")
            if at >= _NEEDS_NAME and unlikely and not named:
                continue
            if at == _NEEDS_NAME and match[0].strip(".") not in names:
                continue
            if any(taken[match.start() : match.end()]):
                continue
            if (literal := classify(match)) is not None:
                take(*literal, *match.span())
    for word in [one for one in found if one.kind is Kind.WORD]:
        further = _LISTED.match(sentence, word.end)
        while further and not common(further[1]) and further[1].casefold() not in _STOP:
            take(Kind.WORD, further[1], *further.span(1))
            further = _LISTED.match(sentence, further.end())
    for match in re.finditer(r"[\w.-]*\w", sentence):
        if match[0] in names and match[0].casefold() not in _STOP and len(match[0]) > 1 and not common(match[0]):
            placed = re.search(r"\b(?:under|in|inside|within|below|from)(?: the)? $", sentence[: match.start()], re.I)
            take(Kind.PATH if placed else Kind.WORD, match[0], *match.span())
    return sorted(found, key=lambda literal: literal.start)
