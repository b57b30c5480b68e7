"""What `--json` prints: events as lines."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any, TextIO

from coder import events


class JsonLines:
    """Writes each event as one line of JSON, whatever thread it comes from. What looks like an access token is taken
    out: lines end up in logs."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.lock = threading.Lock()

    def __call__(self, event: events.Event) -> None:
        line = json.dumps(_redacted(event.to_json()))
        with self.lock:
            self.stream.write(line + "\n")
            self.stream.flush()


def _redacted(value: Any) -> Any:
    """Before it is encoded: behind the `\\t` that JSON makes of a tab, a token no longer begins a word."""
    from coder.repository.secrets import redact

    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {_redacted(key): _redacted(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(one) for one in value]
    return value
