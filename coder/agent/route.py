"""What kind of request it is, for a model too small to be asked: a shell question, a repair, an edit of a function,
or work for the agent."""

from __future__ import annotations

import re
from typing import Literal

from coder.verbs.asked import understand

Kind = Literal["shell", "fix", "edit", "agent"]

_BROKEN = r"\b(?:tests?(?! folder| director)|suite|bugs?|failures?|failing|broken)\b"
_MEND = r"(?<![\w./-])(?:fix|repair|debug)(?![\w./-])"  # the verb, not a file that is called so
_REPAIR = re.compile(
    rf"(?:^\W*(?:please\W+)?|[,;:.]\s+|\b(?:and|then|I|we)\s+){_MEND}(?:.*{_BROKEN}|\s+(?:it|this|them)\b)"
    r"|\bmake\b.*\b(?:tests?|suite)(?: (?:in|of|under) \S+)?(?: all)? (?:pass|green|work)",
    re.IGNORECASE,
)  # said as an order: what is to be done, not what is looked for
_PERHAPS_REPAIR = re.compile(rf"{_MEND}.*{_BROKEN}|{_MEND}\s+(?:it|this|them)\b", re.IGNORECASE)
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
    r"|readme|page|website|html|latex|document|type hints?|bugs?|rename (?:the )?(?:parameter|argument|variable))\b",
    re.IGNORECASE,
)


def route(request: str) -> Kind:
    """By the words of `request` alone: nothing is run, no model is asked."""
    if _REPAIR.search(request):
        return "fix"
    if understand(request) is not None:
        return "edit"
    if _QUESTION.search(request):
        return "shell"
    if _ACTS.match(request) and _THINGS.search(request) and not _PROGRAMMING.search(request):
        return "shell"
    return "fix" if _PERHAPS_REPAIR.search(request) else "agent"
