"""What a text holds that could be a parameter's value: numbers, quoted text, names, dates, times, addresses, codes.

By form alone, with regular expressions; a mention may be inside a longer one.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from model.calling.dates import dates, times
from model.calling.words import LIGHT

Kind = Literal["number", "quoted", "name", "code", "date", "time", "list", "phrase", "rest"]

_LONGEST = 6  # words of a phrase
_WORDS = {
    word: float(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
}
_FACTORS = {"hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "M": 1e6, "billion": 1e9, "bn": 1e9, "B": 1e9}
_NUMBER = re.compile(
    r"(?<![\w.])(?P<money>[$€£]\s?)?(?P<digits>(?:(?<![\d)])-)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"(?:\s?(?P<percent>%|percent\b)|\s(?P<word>hundred|thousand|million|billion)\b|(?P<short>k|M|B|bn)\b)?"
    r"(?!\d|\.\d|-\d+-)"
)
_QUOTED = re.compile(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w)){1,400})'(?!\w)|«([^»\n]{1,400})»"
)
_CODE = re.compile(
    r"https?://[^\s\"'<>]*[\w/]"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # mail
    r"|(?:[A-Za-z]:)?[\w.~-]*(?:[/\\][\w.~-]+)+"  # paths
    r"|(?<![\w^/-])(?=[\w.^*-]*[A-Za-z])(?=[\w.^*-]*[\d_])\w[\w.^*-]*(?:\s?[-+*]\s?[\w.^*-]*[\w^]+)*(?<![.-])"
    r"|\b\d{4}[-/–]\d{2,4}\b(?![-/])"  # seasons
    r"|\b\w+\.[a-z]{2,4}\b|\b\w+(?:-\w+){2,}\b|\b[\w.]+[\^*][\w^*+/()-]+"  # files, slugs, formulas
)
_MEASURE = re.compile(r"-?[\d.,]+[A-Za-z]{1,3}|[\d.]+-[a-z]+")  # `5kg`, `3-day`: a number with its unit
_CAPITAL = r"(?:(?:[A-Z]\.){2,}|[A-ZÀ-ÖØ-Þ][\w’'&+-]*(?:(?<=\b[A-Z])\.|(?<=Inc|Ltd|Cor)\.)?)"
_NAME = (
    rf"{_CAPITAL}(?:\s(?:of|de|la|du|van|von|the|del|for)(?=\s{_CAPITAL})|\s?&(?=\s?{_CAPITAL})|\s{_CAPITAL}"
    r"|\s\d{1,3}(?![\d%:/]|[.,]\d|\s?(?:am|pm)))*"
)
_SENTENCE = re.compile(r"(?:^|[.!?:]\s+|\n\s*|^[\"“'])(?=\w)")
_BRACKETED = re.compile(r"\[([^\[\]]*)\]|\(((?:\s*-?[\d.]+\s*,)+\s*-?[\d.]+\s*)\)")
_PHRASE = re.compile(r"[^\W\d_][\w’'/%-]*(?:\s[^\W_][\w’'/%-]*)*")
_BESIDE = re.compile(
    r"[)\]]?,?\s(?:and|or)\s(?:the\s|for\s|\w+\sof\s|the\s\w+\sof\s)?[(\[]?|,\s?(?:the\s(?:\w+\sof\s)?)?|,?\s?&\s"
    r"|(?<=\d)\s\w+(?:,?\sand\s|,\s)",
    re.IGNORECASE,
)  # what may stand between values of one row
_REST = re.compile(r"(?::\s+|\s[-–]\s)(?=\S)(.{3,400})\Z", re.DOTALL)  # what is announced, up to the end
_BREAK = LIGHT | frozenset(
    "over under near around after before during without within through per not no same "
    "another other following next last past".split()
)


@dataclass(frozen=True)
class Mention:
    """The characters [start, end) of a text, what form they have, and the value that they write: a float for numbers,
    a list for lists, else text. `percent`, `money` and `spelt` (in letters) say how a number was
    written. Values side by side are a list of `parts`."""

    start: int
    end: int
    kind: Kind
    value: object
    percent: bool = False
    money: bool = False
    spelt: bool = False
    parts: tuple[Mention, ...] = ()


def mentions(text: str, today: datetime.date | None = None) -> list[Mention]:
    """All mentions of a text, in its order. A number is not looked for in quoted text, dates, times or codes. `today`:
    what relative dates count from; without it they stay as they are written."""
    quoted = [one for one in quotations(text) if str(one.value).strip()]
    found = list(quoted)
    found += [Mention(start, end, "date", date) for start, end, date in dates(text, today)]
    found += [Mention(start, end, "time", time) for start, end, time in times(text)]
    taken = [one for one in found if not (one.kind == "quoted" and _NUMBER.fullmatch(str(one.value)))]
    codes = [Mention(*hit.span(), "code", hit[0]) for hit in _CODE.finditer(text) if not _MEASURE.fullmatch(hit[0])]
    codes = [one for one in codes if not _within(one, taken)]
    found += codes
    rests = (hit for hit in _REST.finditer(text) if not meets(Mention(*hit.span(), "rest", hit[0]), quoted))
    found += [Mention(*hit.span(1), "rest", hit[1].strip()) for hit in rests]
    found += [_list(hit) for hit in _BRACKETED.finditer(text)]
    found += [one for one in _numbers(text) if not _within(one, [*taken, *codes])]
    found += [one for one in _names(text) if not _within(one, [*taken, *codes])]
    found += [one for one in _phrases(text) if not _within(one, quoted)]
    bracketed = [one for one in found if one.kind == "list"]
    found += [one for one in _sequences(text, found) if not _within(one, bracketed)]
    return sorted(found, key=lambda one: (one.start, -one.end))


def quotations(text: str) -> list[Mention]:
    """What stands in quotes."""
    return [Mention(*hit.span(), "quoted", next(filter(None, hit.groups()))) for hit in _QUOTED.finditer(text)]


def _within(one: Mention, others: list[Mention]) -> bool:
    return any(other.start <= one.start and one.end <= other.end for other in others)


def meets(one: Mention, others: Sequence[Mention]) -> bool:
    """Whether a mention, or a part of it, shares characters with one of the others."""
    own, foreign = one.parts or (one,), [part for other in others for part in other.parts or (other,)]
    return any(part.start < other.end and other.start < part.end for part in own for other in foreign)


def _numbers(text: str) -> Iterator[Mention]:
    for hit in _NUMBER.finditer(text):
        value = float(hit["digits"].replace(",", ""))
        short = hit["short"] if hit["money"] or hit["short"] == "k" else ""  # else perhaps a unit: 5M
        value *= _FACTORS.get(hit["word"] or short or "", 1)
        yield Mention(*hit.span(), "number", value, bool(hit["percent"]), bool(hit["money"]))
    for hit in re.finditer(r"[A-Za-z]+", text):
        pronoun = hit[0].lower() == "one" and text.startswith(("-", " way", " of"), hit.end())
        if hit[0].lower() in _WORDS and not pronoun:
            yield Mention(*hit.span(), "number", _WORDS[hit[0].lower()], spelt=True)
    for hit in re.finditer(r"\b(?:just|only)(?: for)? me\b|\bmyself\b", text, re.IGNORECASE):
        yield Mention(*hit.span(), "number", 1.0, spelt=True)


def _list(hit: re.Match[str]) -> Mention:
    items = [item.strip().strip("\"'") for item in (hit[1] if hit[1] is not None else hit[2]).split(",")]
    values = [number if (number := _as_number(item)) is not None else item for item in items if item]
    return Mention(hit.start(), hit.end(), "list", values)


def _sequences(text: str, found: list[Mention]) -> Iterator[Mention]:
    """Values that stand side by side: `a, b and c`."""
    items = [one for one in found if one.kind in ("number", "quoted", "name", "code")]
    items += [one for one in found if one.kind == "phrase" and _maximal(one, text) and not meets(one, items)]
    items.sort(key=lambda one: (one.start, -one.end))
    for at, first in enumerate(items):
        row = [first]
        for one in items[at + 1 :]:
            grouped = ")" in text[row[-1].end : one.start] and first.kind == "number"  # `(1, 2) and (3, 4)`
            if one.kind == first.kind and _BESIDE.fullmatch(text, row[-1].end, one.start) and not grouped:
                row.append(one)
        placed = len(row) == 2 and first.kind == "name" and text[first.end : row[1].start].strip() == ","
        if len(row) > 1 and not placed:  # a name, and where that is, are one
            yield Mention(first.start, row[-1].end, "list", [one.value for one in row], parts=tuple(row))


def _maximal(one: Mention, text: str) -> bool:
    """Whether a phrase is the whole run of words between light ones."""
    before = re.search(r"(?:^|[^\w\s]\s*|(\w+)\s)$", text[: one.start])
    after = re.match(r"$|\s*[^\w\s]|\s([\w]+)", text[one.end :])
    return bool(before and after) and all(
        hit is None or hit[1] is None or hit[1].casefold() in _BREAK for hit in (before, after)
    )


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _names(text: str) -> Iterator[Mention]:
    """Runs of capitalised words, alone and with the place that they lie in. The word that begins a sentence belongs to
    none."""
    begins = {hit.end() for hit in _SENTENCE.finditer(text)}
    for hit in re.finditer(_NAME, text):
        start, end = hit.span()
        if start in begins:
            rest = re.search(r"\s(?=[A-ZÀ-Þ])", hit[0])  # behind the first word, and `the` and the like
            if not rest:
                continue
            yield Mention(start, end, "phrase", _trimmed(hit[0]))
            start += rest.end()
        value = _trimmed(text[start:end])
        within = re.fullmatch(r"[A-Z]{2}", value) and re.search(
            rf"{_CAPITAL},\s$", text[:start]
        )  # the NY of `Albany, NY`
        if not value or value.casefold() in LIGHT or within:
            continue
        yield Mention(start, end, "name", value)
        wider = re.match(rf",\s({_NAME})", text[end:])
        if wider and (re.fullmatch(r"[A-Z]{2,3}", wider[1]) or not _goes_on(text[end + wider.end() :])):
            yield Mention(start, end + wider.end(), "name", _trimmed(text[start : end + wider.end()]))


def _goes_on(text: str) -> bool:
    """Whether a list of names goes on here."""
    return re.match(rf",?\s(?:and|or|&)\s(?:the\s)?{_CAPITAL}|,\s{_CAPITAL}", text) is not None


def _trimmed(text: str) -> str:
    text = text.strip(' ,;:!?"“”()')
    text = text.removesuffix("'s").removesuffix("’s")
    return text if re.search(r"(?:[A-Z]\.|\b(?:Inc|Ltd|Co|Corp|Jr|Sr|St)\.)$", text) else text.rstrip(".")


def _phrases(text: str) -> Iterator[Mention]:
    """Runs of words between light ones and punctuation, and parts of them."""
    for piece in _PHRASE.finditer(text):
        run: list[tuple[int, int]] = []
        spans = [(piece.start() + hit.start(), piece.start() + hit.end()) for hit in re.finditer(r"\S+", piece[0])]
        for start, end in [*spans, (-1, -1)]:
            if start >= 0 and text[start:end].casefold() not in _BREAK:
                run.append((start, end))
                continue
            for at in range(len(run)):
                for to in range(at, min(at + _LONGEST, len(run))):
                    yield Mention(run[at][0], run[to][1], "phrase", _trimmed(text[run[at][0] : run[to][1]]))
            run = []
