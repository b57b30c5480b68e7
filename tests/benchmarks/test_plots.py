from __future__ import annotations

from benchmarks import plots, tables


def test_a_measured_table_is_drawn_and_the_same_one_gives_the_same_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    columns = ["tokens read", "predicted by", "bits per token of names defined elsewhere"]
    tables.save("sprig-memory", columns, [["0", "the cache", "3.35"], ["2,000", "the cache", "2.64"]], "", "")
    columns = ["when", "what", "n", "p50 ms", "p95 ms"]
    rows = [["after reading", "typing on, miss", 42, 114, 398], ["after reading", "cancelled", "3 of 5", "", ""]]
    tables.save("lsp-latency", columns, rows, "", "")
    columns = ["precision", "text", "drafts from, and how many", "tokens per pass"]
    rows = [["int8", "continuing", "n-gram", "2.21"], ["int8", "rewriting", "n-gram", "6.96"]]
    tables.save("sprig-drafts", columns, rows, "", "")
    written = plots.draw(tmp_path, tmp_path)
    assert sorted(path.name for path in written) == ["lsp-latency.svg", "sprig-drafts.svg", "sprig-memory.svg"]
    first = [path.read_bytes() for path in written]
    assert all(data.startswith(b"<?xml") for data in first)
    assert [path.read_bytes() for path in plots.draw(tmp_path, tmp_path)] == first


def test_what_was_not_measured_is_not_drawn(tmp_path):
    assert plots.draw(tmp_path, tmp_path) == []
