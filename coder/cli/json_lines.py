"""What `--json` prints: events as lines."""

from __future__ import annotations

import json
import threading
from typing import TextIO

from coder import events


class JsonLines:
    """Writes each event as one line of JSON, whatever thread it comes from. What looks like an access token is taken
    out: lines end up in logs."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.lock = threading.Lock()

    def __call__(self, event: events.Event) -> None:
        from coder.repository.secrets import redact

        with self.lock:
            self.stream.write(redact(json.dumps(event.to_json())) + "\n")
            self.stream.flush()
