"""What kind of request it is, for a model too small to be asked: a shell question, a repair, or work for the agent."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["shell", "fix", "agent"]

_REPAIR = re.compile(
    r"\b(fix|repair|debug|make)\b.*\b(tests?|suite|bugs?|failures?|failing|broken)\b|\bfix (it|this)\b", re.IGNORECASE
)
_QUESTION = re.compile(
    r"^\s*(how (do|can|would|to)\b|what command|which command|show me (how|the command))", re.IGNORECASE
)
_ACTS = re.compile(
    r"\W*(archive|calculate|change|check|combine|compare|compress|compute|concatenate|convert|copy|count|create"
    r"|decompress|delete|determine|display|download|execute|extract|find|get|give|kill|list|locate|look"
    r"|make|merge|monitor|move|output|print|pull|rank|read|recursively|remove|rename|replace|report|return"
    r"|run|save|search|select|set|show|size|sort|split|sum|tail|tar|truncate|uncompress|unzip|view|write"
    r"|zip)(s|es)?\b",
    re.IGNORECASE,
)
_THINGS = re.compile(
    r"\b(files?|folders?|director(y|ies)|lines?|words?|permissions?|process(es)?|disk|archives?|owners?|users?|extensions?"
    r"|symlinks?|links?|paths?|bytes?|csv|logs?|hidden|executables?|host(name)?|ip|date|ports?|commands?)\b|[*~]|\.\w{1,4}\b",
    re.IGNORECASE,
)
_PROGRAMMING = re.compile(
    r"\b(functions?|class(es)?|methods?|modules?|refactor|implement|feature|docstrings?|unit tests?|api|endpoint|parser"
    r"|readme|page|website|html|latex|document|type hints?|bugs?)\b",
    re.IGNORECASE,
)


def route(request: str) -> Kind:
    """By the words of `request` alone: nothing is run, no model is asked."""
    if _REPAIR.search(request):
        return "fix"
    if _QUESTION.search(request):
        return "shell"
    if _ACTS.match(request) and _THINGS.search(request) and not _PROGRAMMING.search(request):
        return "shell"
    return "agent"
