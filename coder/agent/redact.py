"""Taking secrets out of what a model is shown and what is logged: by what they look like, by the names that they are
assigned to, and by their values where the user's own environment holds them.

Too much is as bad as too little: a model cannot work on code of which a half is hidden. So names count where a value
follows that can be one: in quotes, or a bare word that is no call, no attribute and not just another name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from coder.repository import secrets
from coder.repository.secrets import MARK

_AUTH = "auth(?!or)|authori[sz]ation"
_SENSITIVE = (
    "(?:passw(?:or)?d|passphrase|secret|token(?!i[sz])|(?:api|access|private|secret|signing|encryption)[_-]?key"
    f"|credentials?|{_AUTH})"
)
_NAME = re.compile(f"(?i)pass|secret|token|key|credential|cookie|{_AUTH}")
_BARE = r"[^\s'\"$()\[\]{}<>]"
_QUOTED = re.compile(rf"(?i)(\b\w*{_SENSITIVE}\w*['\"]?\s*[:=]\s*)(['\"])([^'\"\s]{{8,}})\2")
# As in a shell: DB_PASSWORD=word. With spaces around the sign it may be code, where a word with a dot or an underscore
# is a name; a word of capitals is one in any case. All may stand behind a line's number or a path.
_VARIABLE = re.compile(
    rf"(?<!\w)([A-Z0-9_]*{_SENSITIVE.upper()}[A-Z0-9_]*(?:=|[ \t]*=[ \t]*(?!\S*[._])))"
    rf"(?!=|[A-Z_]+,?(?!\S)){_BARE}{{8,}}(?![^\s'\"])"
)
# As in YAML and ini files: password: word, password = word. So code assigns one name to another: there must be a digit.
_SETTING = re.compile(
    rf"(?i)(?<!\w)(\w*{_SENSITIVE}['\"]?(?:[ \t]*=(?!=)[ \t]*|:[ \t]+)(?:(?:basic|bearer)[ \t]+)?)"
    rf"(?=\S*\d)(?:(?!\.){_BARE}){{8,}}(?![^\s'\"])"
)
_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@]+:)[^\s/@]+(?=@)")
_SHORTEST = 8


class Redactor:
    """Made once from the user's variables; only values of those whose names say so count as secrets."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        values = {
            value
            for name, value in variables.items()
            if _NAME.search(name) and len(value) >= _SHORTEST and value[0] != "/"
        }
        self._values = sorted(values, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, MARK)
        text = _IN_URL.sub(rf"\1{MARK}", secrets.redact(text))
        text = _QUOTED.sub(rf"\1\2{MARK}\2", text)
        text = _VARIABLE.sub(rf"\1{MARK}", text)
        return _SETTING.sub(rf"\1{MARK}", text)
