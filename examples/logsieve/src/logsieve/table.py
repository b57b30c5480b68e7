"""Summaries as a table of text."""

from logsieve.summary import RouteSummary

HEADER = ("route", "requests", "errors", "mean", "p95")


def cell(milliseconds: float | None) -> str:
    return "-" if milliseconds is None else f"{milliseconds:.1f}ms"


def row(summary: RouteSummary) -> tuple[str, ...]:
    return (
        summary.route,
        str(summary.requests),
        f"{summary.error_rate:.1%}",
        cell(summary.mean),
        cell(summary.p95),
    )


def table(summaries: list[RouteSummary]) -> str:
    rows = [HEADER, *map(row, summaries)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(cells, widths)).rstrip() for cells in rows)
