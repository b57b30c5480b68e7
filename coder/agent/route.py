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
_LOOKS = re.compile(
    r"\W*(?:calculate|change (?:the )?(?:owner|permission|group|mode)|check|compare|compress|copy|count|delete"
    r"|determine|display|find|get|give|kill|list|locate|look|move|open|output|page|print|read|recursively|remove|report"
    r"|return|run|save|search|show|sort|tar|view|zip)(?:s|es)?\b",
    re.IGNORECASE,
)  # these act on files as they are, whatever they are about
_PROGRAMMING = re.compile(
    r"(?<![*./\w'\"-])(?:functions?|class(?:es)?|methods?|modules?|refactor|implement|feature|docstrings?|unit tests?"
    r"|(?:a|some|more|new) tests?|(?:the|this|my) code|a script|faster|cleaner|optimi[sz]e|api|endpoint|parser|readme"
    r"|page|website|html|latex|document|type hints?|bugs?"
    r"|rename (?:the )?(?:parameter|argument|variable))\b",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"^\W*(?:explain|summari[sz]e|describe|review|why|what|who|which|translate|suggest|recommend|hello|hi|thanks)\b",
    re.IGNORECASE,
)
_THINGS = re.compile(
    r"\b(files?|folders?|director(y|ies)|lines?|words?|permissions?|process(es)?|disk|archives?|owners?|users?"
    r"|extensions?|symlinks?|links?|paths?|bytes?|csv|logs?|hidden|executables?|host(name)?|ip|date|ports?|commands?)\b|[*~]|\.\w{1,4}\b",
    re.IGNORECASE,
)


def route(request: str) -> Kind:
    """By the words of `request` alone: nothing is run, no model is asked."""
    if _REPAIR.search(request):
        return "fix"
    if understand(request) is not None:
        return "edit"
    if _QUESTION.search(request) or _LOOKS.match(request):
        return "shell"
    if _PERHAPS_REPAIR.search(request):
        return "fix"
    if _PROGRAMMING.search(request):
        return "agent"
    if _TALK.match(request) and not _THINGS.search(request):
        return "agent"
    # Most of what is left asks for a command; who answers it says so where none is known.
    return "shell"
