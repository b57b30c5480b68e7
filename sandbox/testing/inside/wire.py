"""JSON lines over pipes: one object a line, ASCII only."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any


def send(
    fd: int,
    message: dict[str, Any],
    dumps: Callable[..., str] = json.dumps,
    write: Callable[[int, memoryview], int] = os.write,
) -> None:
    """What it calls is bound here: code under test may put other functions into the modules."""
    data = memoryview(dumps(message).encode("ascii") + b"\n")
    while data:
        data = data[write(fd, data) :]


def requests(fd: int) -> Iterator[dict[str, Any]]:
    """Yields each request until the other side closes the pipe."""
    buffer = bytearray()
    while True:
        end = buffer.find(b"\n")
        if end < 0:
            chunk = os.read(fd, 1 << 16)
            if not chunk:
                return
            buffer += chunk
            continue
        line = bytes(buffer[:end])
        del buffer[: end + 1]
        yield json.loads(line)
