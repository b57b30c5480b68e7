"""Access log lines: `GET /users/17 200 12.5ms`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    method: str
    path: str
    status: int
    milliseconds: float | None

    @property
    def failed(self) -> bool:
        return self.status >= 500


def parse(line: str) -> Record:
    method, path, status, elapsed = line.split()
    milliseconds = None if elapsed == "-" else float(elapsed.removesuffix("ms"))
    return Record(method, path, int(status), milliseconds)


def read(lines: Iterable[str]) -> Iterator[Record]:
    for line in lines:
        if line.strip():
            yield parse(line)
