"""Calls that failed, so that none is made again while nothing has changed that could make it succeed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class Failures:
    """Remembers each failed call with the version of the workspace that it failed on."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, str]] = {}

    def add(self, tool: str, arguments: Mapping[str, Any], version: int, reason: str) -> None:
        self._seen[_key(tool, arguments)] = version, reason

    def known(self, tool: str, arguments: Mapping[str, Any], version: int) -> str:
        """Why this very call failed on this very version; "" when it did not."""
        then, reason = self._seen.get(_key(tool, arguments), (-1, ""))
        return reason if then == version else ""


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps([tool, dict(arguments)], sort_keys=True)
