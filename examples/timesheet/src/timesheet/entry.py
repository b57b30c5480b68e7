"""One stretch of work on one task."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta


@dataclass(frozen=True, order=True)
class Entry:
    start: datetime
    end: datetime
    task: str = "work"

    def __post_init__(self):
        if self.end <= self.start:
            raise ValueError(f"an entry must end after it starts: {self.start:%H:%M}-{self.end:%H:%M}")

    @property
    def day(self) -> date:
        return self.start.date()

    @property
    def duration(self) -> timedelta:
        return self.end - self.start

    @property
    def hours(self) -> float:
        return self.duration.total_seconds() / 3600
