"""Taking secrets out of what a model is shown and what is logged: by what they look like, by the names that they are
assigned to, and by their values where the user's own environment holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from coder.repository import secrets
from coder.repository.secrets import MARK

_SENSITIVE = r"(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key|private_?key|credentials?|auth)"
_NAME = re.compile(r"(?i)pass|secret|token|key|credential|auth|cookie")
_QUOTED = re.compile(rf"(?i)(\b\w*{_SENSITIVE}\w*['\"]?\s*[:=]\s*)(['\"])([^'\"\s]{{8,}})\2")
_ASSIGNED = re.compile(rf"(?m)(^\s*(?:export\s+)?[A-Z0-9_]*{_SENSITIVE.upper()}[A-Z0-9_]*\s*=\s*)([^\s'\"$]{{8,}})")
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
        return _ASSIGNED.sub(rf"\1{MARK}", text)
