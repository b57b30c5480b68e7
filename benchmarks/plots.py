"""Pictures of the measured tables (benchmarks/results/) under docs/pictures/: `python -m benchmarks.plots`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.tables import RESULTS, ROOT, load

PICTURES = ROOT / "docs" / "pictures"
Rows = list[dict[str, str]]


def drafts(axes: Any, rows: Rows) -> None:
    """Tokens that one pass commits, by what drafts and by the kind of text."""
    rows = [row for row in rows if row["precision"] == "int8"]
    ways = list(dict.fromkeys(row["drafts from, and how many"] for row in rows))
    kinds = list(dict.fromkeys(row["text"] for row in rows))
    height = 0.8 / len(kinds)
    for number, kind in enumerate(kinds):
        found = {row["drafts from, and how many"]: float(row["tokens per pass"]) for row in rows if row["text"] == kind}
        places = [ways.index(way) + number * height for way in found]
        axes.bar_label(axes.barh(places, list(found.values()), height, label=kind), fmt="%.2f", padding=2)
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set_yticks([place + 0.4 - height / 2 for place in range(len(ways))], ways)
    axes.invert_yaxis()
    axes.set(xlabel="tokens that one pass commits (plain decoding: 1)")
    axes.legend(frameon=False)


def memory(axes: Any, rows: Rows) -> None:
    """Bits of a name that is defined elsewhere, by how much of the repository was read and by what remembers it."""
    for way in dict.fromkeys(row["predicted by"] for row in rows):
        found = [row for row in rows if row["predicted by"] == way]
        read = [row["tokens read"] for row in found]
        axes.plot(read, [float(row["bits per token of names defined elsewhere"]) for row in found], "o-", label=way)
    axes.set(xlabel="tokens of the repository that were read", ylabel="bits per token of names defined elsewhere")
    axes.legend(frameon=False)


def latency(axes: Any, rows: Rows) -> None:
    """Milliseconds until a completion is there, half of them and nineteen of twenty, beside a llama.cpp server."""
    shown = [
        row
        for row in rows
        if row["when"] in ("after reading", "llama.cpp") and row["what"].endswith((" hit", " joined", " miss"))
    ]
    names = [f"{'coder' if row['when'] == 'after reading' else row['when']}: {row['what']}" for row in shown]
    for column, alpha in (("p95 ms", 0.35), ("p50 ms", 1.0)):
        colours = ["tab:orange" if row["when"] == "llama.cpp" else "tab:blue" for row in shown]
        axes.barh(names, [float(row[column]) for row in shown], color=colours, alpha=alpha)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set(xlabel="milliseconds (logarithmic): p50, and pale behind it p95")


PLOTS: dict[str, Callable[[Any, Rows], None]] = {
    "sprig-drafts": drafts,
    "sprig-memory": memory,
    "lsp-latency": latency,
}


def draw(results: Path, pictures: Path) -> list[Path]:
    """A picture NAME.svg for every table of PLOTS that was measured; returns what was written."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "coder"  # the same table, the same file
    written = []
    for name, plot in PLOTS.items():
        if not (results / f"{name}.json").exists():
            continue
        table = load(results / f"{name}.json")
        figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
        axes.spines[["top", "right"]].set_visible(False)
        plot(axes, [dict(zip(table.columns, row, strict=True)) for row in table.rows])
        written.append(pictures / f"{name}.svg")
        figure.savefig(written[-1], metadata={"Date": None})
        plt.close(figure)
    return written


if __name__ == "__main__":
    for path in draw(RESULTS, PICTURES):
        print(path.relative_to(ROOT))
