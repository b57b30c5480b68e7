"""Which edit a request asks for, by its words alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Verb = Literal["complete", "rewrite", "describe", "rename", "rename in"]

FORMS = (
    'coder do "complete the function NAME in FILE.py"',
    'coder do "rewrite the function NAME in FILE.py to …"',
    'coder do "add a docstring to NAME"',
    'coder do "rename the function OLD to NEW"',
    'coder do "rename the parameter OLD to NEW in NAME"',
)
"""One example of each."""

_KIND = r"(?P<kind>(?:function|method|class)\s+)?"
_NAME = r"[`'\"]?(?P<name>[^\W\d][\w.]*)(?P<call>\([^()]*\))?[`'\"]?"
_ANY = r"(?!(?:an?|any|each|every|my|our|some)\s+(?:function|method)\b)"  # no name, but which of all functions
_FUNCTION = rf"(?P<the>the\s+)?{_KIND}{_ANY}{_NAME}(?P<said>\s+(?:function|method)\b)?"
_WHERE = (
    r"(?:\s+(?:in|of|from|inside)\s+(?!order\b)(?:the\s+)?(?:(?:file|module|class)\s+)?[`'\"]?"
    r"(?P<path>[\w./-]+)[`'\"]?)?"
)
_GOAL = r"(?:,?\s+(?P<goal>(?:so|such|to|using|with|without|as|into|by|in\s+order)\b.+))?"
_TO = r"(?:\(\))?[`'\"]?\s+(?:to|as|into|->|→)\s+[`'\"]?(?P<new>\w+)(?:\(\))?[`'\"]?"
_OLD = r"[`'\"]?(?P<old>[^\W\d]\w*)"
_DOTTED = r"[`'\"]?(?P<old>[^\W\d][\w.]*)"
_FILE = r"(?:in|of|from)\s+(?P<path>[\w./-]+\.py)"
_OLD_NEW = rf"{_OLD}{_TO}"
_EVERYWHERE = (
    r"(?:\s+(?:everywhere|throughout|(?:in|across|throughout)\s+(?:the|this)\s+(?:(?:whole|entire)\s+)?"
    r"(?:project|repository|code\s?base)))?"
)
_INNER = r"(?:parameter|param|argument|arg|(?:local\s+)?variable)"
_FORMS: tuple[tuple[Verb, str], ...] = (
    ("rename in", rf"rename\s+(?:the\s+)?{_INNER}\s+{_OLD_NEW}"
                  rf"\s+(?:in|of|inside)\s+{_FUNCTION}{_WHERE}"),
    ("rename", rf"rename\s+(?:the\s+)?{_KIND}{_OLD_NEW}{_EVERYWHERE}"),
    ("rename in", rf"rename\s+(?:the\s+)?{_INNER}\s+{_OLD}[`'\"]?\s+(?:in|of|inside)\s+{_FUNCTION}{_WHERE}{_TO}"),
    ("rename", rf"rename\s+(?:the\s+)?{_KIND}{_DOTTED}{_TO}\s+{_FILE}"),
    ("rename", rf"rename\s+(?:the\s+)?{_KIND}{_DOTTED}(?:\(\))?[`'\"]?\s+{_FILE}{_TO}"),
    ("rename in", rf"rename\s+{_OLD_NEW}\s+in\s+{_FUNCTION}{_WHERE}"),
    ("describe", r"(?:add|write|put)\s+(?:(?:a|the)\s+)?(?:short\s+)?docstring(?:\s+[\"'“](?P<goal>.+?)[\"'”])?"
                 rf"\s+(?:to|for|in|on)\s+{_FUNCTION}{_WHERE}"),
    ("describe", rf"document\s+(?=the\s+(?:function|method)|\S+\(){_FUNCTION}{_WHERE}"),
    ("complete", r"(?:complete|finish|implement|fill\s+in|write)\s+the\s+(?:body|rest|implementation)\s+"
                 rf"(?P<body>of|for)\s+{_FUNCTION}{_WHERE}{_GOAL}"),
    ("complete", r"(?:complete|finish|implement|fill\s+in|write(?=\s+the\s+(?:function|method)\s))\s+"
                 rf"{_FUNCTION}{_WHERE}{_GOAL}"),
    ("rewrite", r"(?:rewrite|reimplement|refactor|simplify)\s+(?:the\s+body\s+(?P<body>of)\s+)?"
                rf"{_FUNCTION}{_WHERE}{_GOAL}"),
    ("rewrite", r"(?:change|modify|edit|update)\s+(?=(?:the\s+)?(?:function|method)\s|[`'\"]?[\w.]+\()"
                rf"{_FUNCTION}{_WHERE}{_GOAL}"),
)  # fmt: skip
_PATTERNS = tuple((verb, re.compile(form, re.IGNORECASE | re.DOTALL)) for verb, form in _FORMS)
_POLITE = re.compile(r"^\W*(?:(?:please|can you|could you|would you)\W+)*", re.IGNORECASE)
_NO_NAMES = frozenset("it this that them these all everything something here".split())
_NOUNS = frozenset(
    "class code directories directory file files folder folders function history image images line lines list method"
    " parameter project test tests variable".split()
)
_FILES = frozenset("cfg css csv html ini js json log md sh sql toml ts txt xml yaml yml".split())
"""How names end that are more often files, where nothing says that a function is called so; `_NOUNS`: likewise."""


@dataclass(frozen=True)
class Wish:
    """What is to be done to the function (or class) `name`, which may be qualified. `path` is where it was said to be:
    a file, a module or a class, or nothing. `goal` is what a rewriting is for, or a docstring's text."""

    verb: Verb
    name: str
    path: str = ""
    goal: str = ""
    old: str = ""
    new: str = ""

    def retold(self, name: str, path: str) -> str:
        """The request as it could be typed for the function `name` in `path`."""
        match self.verb:
            case "rename":
                return f"rename {name} to {self.new} in {path}"
            case "rename in":
                return f"rename the parameter {self.old} to {self.new} in {name} of {path}"
            case "describe":
                return f"add a docstring to {name} in {path}"
        return " ".join(f"{self.verb} the function {name} in {path} {self.goal}".split())


def understand(request: str) -> Wish | None:
    """None for what is no such request."""
    words = _POLITE.sub("", request.strip(), 1).rstrip(" .!?")
    for verb, pattern in _PATTERNS:
        if (found := pattern.fullmatch(words)) and _is_named(found.groupdict()):
            part = {key: value or "" for key, value in found.groupdict().items()}
            name = part["old"] if verb == "rename" else part["name"]
            goal = part.get("goal", "") or ("to be simpler" if words.lower().startswith("simplify") else "")
            return Wish(verb, name, part.get("path", ""), goal, part.get("old", ""), part.get("new", ""))
    return None


def _is_named(part: dict[str, str | None]) -> bool:
    """Whether a function or class is meant by the name: not a file, a pronoun, nor a plain word or "the parser" that
    are not said to be one."""
    name = (part.get("name") or part["old"] or "").lower()
    if name.endswith(".py") or name in _NO_NAMES:
        return False
    said = any(part.get(sign) for sign in ("kind", "said", "call", "body")) or (part.get("path") or "").endswith(".py")
    if not said and (name in _NOUNS or not _FILES.isdisjoint(name.split(".")[1:])):
        return False
    return said or not part.get("the") or bool(part.get("path") or part.get("old"))
