"""What is to be done with the files: the words that call for an action, and how a command shows that it does it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RUN = r"(?:^|[|;(]\s*|xargs (?:-\S+ )*|-exec(?:dir)? )"  # where a program stands
_NEVER = r"(?!)"


@dataclass(frozen=True)
class Action:
    """Patterns. `calls`: of questions that ask for it; `allows`: of those to which it is at least no stranger.
    `does`: of commands that may do it; `clearly`: of those that do it for certain."""

    calls: str
    does: str
    allows: str = ""
    clearly: str = _NEVER


def _verb(verbs: str) -> str:
    return rf"^\W*(?:\w+ly )?(?:{verbs})|\band (?:then )?(?:{verbs})"


ACTIONS = (
    Action(
        _verb(r"(?:delete|remove|erase|wipe)s?\b"),
        r"\brm\b|-delete\b|\bunlink\b|\brmdir\b|\bsed\b|\btr\b|\bgrep\b.*-v|\bcut\b|\bawk\b|\bperl\b|\bpaste\b",
        r"delet|remov|eras|clean|purg|drop|wip|rid|rm\b|prune|unlink",
        rf"{_RUN}rm\b|-delete\b",
    ),
    Action(
        _verb(r"cop(?:y|ies)\b"),
        r"\bcp\b|\bcpio\b|\brsync\b|\binstall\b|\btar\b|\bcat\b.*>|\bscp\b|\bdd\b|\btee\b",
        r"\bcop(?:y|ies)|backup|back up|duplicate|merg|clone|sync|overwr",
        rf"{_RUN}cp\b",
    ),
    Action(
        _verb(r"(?:move|rename)s?\b"),
        r"\bmv\b|\brename\b|\brsync\b",
        r"\bmov|renam|extension|chang|replac|append|convert",
        rf"{_RUN}(?:mv|rename)\b",
    ),
    Action(
        _verb(r"(?:g?zip|compress(?:es)?)\b(?! file)")
        + r"|\bzip (?:file|archive)|\btar ?ball|\bcreates? .{0,30}\b(?:archive|tar)\b|\barchives?\b(?= all| the| of)",
        r"\bgzip\b|\bbzip2\b|\bxz\b|\bzip\b|\btar\b|\bcompress\b|\bcpio\b",
        r"zip|compress|archiv|tar\b|gz|backup|ball|pack",
        rf"{_RUN}(?:gzip|bzip2|xz|zip|tar)\b",
    ),
    Action(
        r"\b(?:count|how many|total number|number of (?!days|levels|seconds|minutes|times))",
        r"\bwc\b|-c\b|\bNR\b|\+=|\+\+|\bnl\b|grep -\w*c|\bbc\b|\bls\b|\bstat\b|-printf|-links|-n\b",
        r"count|number|how many|total|sum|amount|average|mean|lines|length|words|characters|bytes",
        r"\bwc\b|\buniq -c|\bgrep -\w*c\b",
    ),
    Action(
        r"\bsort(?:ed|s)?\b(?! file)|\bin (?:ascending|descending|reverse|alphabetical) order|\bordered\b",
        r"\bsort\b|\bls\b.*-\w*[tSrXv]|\btac\b|-r\b|\btsort\b|\bcomm\b|\bjoin\b",
        r"sort|order|largest|smallest|biggest|newest|oldest|latest|recent|most|unique|duplicat|distinct|compar|common|"
        r"top|least|last|first|longest|shortest|ascend|descend",
        r"\bsort\b",
    ),
    Action(r"\bmd5", r"md5sum", r"md5|hash|checksum|duplicat|identical|same content", r"\bmd5sum\b"),
    Action(r"\bmd5 ?sums?\b.{0,60}\b(?:md5|and (?:calculate|then) .{0,20}sum)", r"md5sum.*md5sum"),
    Action(r"\b(?:long list|details?\b|detailed|long format)", r"-ls\b|\bls\b|\bstat\b|-printf|\bfile\b|\bdu\b"),
    Action(
        r"\bunique\b|\bdistinct\b|\bduplicate",
        r"\buniq\b|sort (?:-\S+ )*-\w*u|\bcomm\b|awk|-samefile|-u\b|fdupes",
        r"uniq|distinct|duplic|repeat|without|common|occur|count|differ|frequen|each|once",
        r"\buniq\b",
    ),
    Action(
        r"\b(?:change|set|give|add|grant|revoke)\b.{0,30}\bpermissions?|\bchmod\b|\bpermissions? (?:to|of .* to)\b"
        r"|\b(?:make|mark)\b.{0,30}\bexecutable",
        r"\bchmod\b|\bsetfacl\b|\binstall\b",
        r"permiss|chmod|execut|writ|read|mode|access",
        r"\bchmod\b",
    ),
    Action(r"\breplac|\bsubstitut|\bconvert", r"\bsed\b|\btr\b|\bperl\b|\bawk\b|\brename\b|\bmv\b|-i\b|//|\biconv\b|%"),
    Action(
        r"\b(?:first|last|top|bottom)\b(?! (?:modif|access|chang|column|field|name|part|subset))"
        r"(?! \d+ (?:days?|hours?|min))"
        r"(?=.{0,14}\b(?:lines?|files?|results?|entries|ones|rows|bytes|characters|\d+)\b)",
        r"\bhead\b|\btail\b|-quit\b|\bNR\b|\bsed\b|-m ?1|\bcut\b|min\b|time\b|-c\b",
        r"first|last|top|bottom|head|tail|few|one|largest|smallest|biggest|newest|oldest|latest|recent|max|min|only|"
        r"most|begin|excluding|skip|longest|\d",
        r"\bhead\b|\btail\b",
    ),
    Action(
        r"\b(?:count|number of|how many|total)\b.{0,30}\bwords\b",
        r"\bwc\b(?! -?-?[lcmL])|\bNF\b|grep -\w*o|tr\b|uniq -c",
    ),
    Action(
        r"\b(?:newest|oldest|latest|largest|smallest|biggest|most recent(?:ly)?)\b",
        r"\bsort\b|\bls\b.*-\w*[tS]|\bawk\b|-newer|time\b",
    ),
    Action(
        r"\b(?:de|un)compress|\bg?unzip|\bextract(?:s|ed)?\b.{0,20}\barchive",
        r"\bz\w*cat\b|unzip|\btar\b|unxz|\b(?:gzip|bzip2|xz) -\w*d",
    ),
    Action(
        r"\bverbose", r"-\w*v", r"verbose|print|show|display|progress|list|output", rf"{_RUN}(?:cp|mv|rm|chmod) -\w*v"
    ),
    Action(r"\b(?:sum|total size|average|mean)\b", r"\bawk\b|\bbc\b|\bdu\b|\bpaste\b|\bwc\b|\bmd5sum|sum"),
)
_COMPILED = [
    tuple(re.compile(one, re.I) for one in (action.calls, action.allows))
    + tuple(re.compile(one) for one in (action.does, action.clearly))
    for action in ACTIONS
]


def differences(sentence: str, command: str) -> tuple[int, int]:
    """How many of the actions that the words call for the command does not do, and how many it does uncalled."""
    undone = overdone = 0
    for calls, allows, does, clearly in _COMPILED:
        if calls.search(sentence):
            undone += not does.search(command)
        elif clearly.search(command) and not allows.search(sentence):
            overdone += 1
    return undone, overdone
