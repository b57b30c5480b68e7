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
_FUNCTION = rf"(?P<the>the\s+)?{_KIND}{_NAME}(?P<said>\s+(?:function|method)\b)?"
_WHERE = (
    r"(?:\s+(?:in|of|from|inside)\s+(?!order\b)(?:the\s+)?(?:(?:file|module|class)\s+)?[`'\"]?"
    r"(?P<path>[\w./-]+)[`'\"]?)?"
)
_GOAL = r"(?:,?\s+(?P<goal>(?:so|such|to|using|with|without|as|into|by|in\s+order)\b.+))?"
_TO = r"(?:\(\))?[`'\"]?\s+(?:to|as|into|->|→)\s+[`'\"]?(?P<new>\w+)(?:\(\))?[`'\"]?"
_OLD_NEW = rf"[`'\"]?(?P<old>[^\W\d]\w*){_TO}"
_EVERYWHERE = r"(?:\s+(?:everywhere|throughout|in\s+the\s+(?:whole\s+)?(?:project|repository|code\s?base)))?"
_FORMS: tuple[tuple[Verb, str], ...] = (
    ("rename in", rf"rename\s+(?:the\s+)?(?:parameter|param|argument|arg|(?:local\s+)?variable)\s+{_OLD_NEW}"
                  rf"\s+(?:in|of|inside)\s+{_FUNCTION}{_WHERE}"),
    ("rename", rf"rename\s+(?:the\s+)?{_KIND}{_OLD_NEW}{_EVERYWHERE}"),
    ("rename", rf"rename\s+(?:the\s+)?{_KIND}[`'\"]?(?P<old>[^\W\d][\w.]*){_TO}"
               r"\s+(?:in|of|from)\s+(?P<path>[\w./-]+\.py)"),
    ("rename in", rf"rename\s+{_OLD_NEW}\s+in\s+{_FUNCTION}{_WHERE}"),
    ("describe", r"(?:add|write|put)\s+(?:(?:a|the)\s+)?(?:short\s+)?docstring(?:\s+[\"'“](?P<goal>.+?)[\"'”])?"
                 rf"\s+(?:to|for|in|on)\s+{_FUNCTION}{_WHERE}"),
    ("describe", rf"document\s+(?=the\s+(?:function|method)|\S+\(){_FUNCTION}{_WHERE}"),
    ("complete", r"(?:complete|finish|implement|fill\s+in|write)\s+the\s+(?:body|rest|implementation)\s+"
                 rf"(?P<body>of|for)\s+{_FUNCTION}{_WHERE}{_GOAL}"),
    ("complete", rf"(?:complete|finish|implement|fill\s+in)\s+{_FUNCTION}{_WHERE}{_GOAL}"),
    ("rewrite", r"(?:rewrite|reimplement|refactor|simplify)\s+(?:the\s+body\s+(?P<body>of)\s+)?"
                rf"{_FUNCTION}{_WHERE}{_GOAL}"),
    ("rewrite", r"(?:change|modify|edit)\s+(?=(?:the\s+)?(?:function|method)\s|[`'\"]?[\w.]+\()"
                rf"{_FUNCTION}{_WHERE}{_GOAL}"),
)  # fmt: skip
_PATTERNS = tuple((verb, re.compile(form, re.IGNORECASE | re.DOTALL)) for verb, form in _FORMS)
_POLITE = re.compile(r"^\W*(?:(?:please|can you|could you|would you)\W+)*", re.IGNORECASE)
_NO_NAMES = frozenset("it this that them these all everything something here code tests test".split())


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
    """Whether a function is meant by the name: not a file, a pronoun, nor "the parser" that is not said to be one."""
    name = part.get("name")
    if name is None:
        return True
    if name.endswith(".py") or name.lower() in _NO_NAMES:
        return False
    return not part["the"] or any(part.get(sign) for sign in ("kind", "said", "call", "path", "body", "old"))
