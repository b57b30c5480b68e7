"""What happened on each route."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from logsieve.records import Record
from logsieve.routes import route_of
from logsieve.statistics import mean, percentile, share


@dataclass(frozen=True)
class RouteSummary:
    route: str
    requests: int
    error_rate: float
    mean: float | None
    p95: float | None


def summarise(records: Iterable[Record]) -> list[RouteSummary]:
    """Summaries by route, the busiest first."""
    groups = defaultdict(list)
    for record in records:
        groups[f"{record.method} {route_of(record.path)}"].append(record)
    summaries = [summarise_route(route, group) for route, group in groups.items()]
    return sorted(summaries, key=lambda summary: (-summary.requests, summary.route))


def summarise_route(route: str, records: list[Record]) -> RouteSummary:
    times = [record.milliseconds for record in records if record.milliseconds is not None]
    errors = sum(record.failed for record in records)
    return RouteSummary(route, len(records), share(errors, len(records)), mean(times), percentile(times, 95))
