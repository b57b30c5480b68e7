from __future__ import annotations

import json

from benchmarks import tables

PAGE = "# Title\n<!-- table speed -->\nstale\n<!-- end speed -->\ntext\n<!-- table other -->\n<!-- end other -->\n"


def test_tables_are_filled_from_their_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    tables.save("speed", ["way", "a minute"], [["fork", 1500], ["cold", 60]], "n=3.", "make speed")
    page = tables.render(PAGE, tmp_path)
    assert "| way | a minute |\n| --- | --- |\n| fork | 1500 |\n| cold | 60 |\n" in page
    assert "n=3. `make speed` on " in page
    assert "stale" not in page
    assert page.endswith("<!-- table other -->\n<!-- end other -->\n")
    assert tables.render(page, tmp_path) == page


def test_a_table_names_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    saved = json.loads(tables.save("speed", ["a"], [["b"]], "", "").read_text())
    assert "core" in saved["machine"]
    assert len(saved["date"]) == 10


def test_pages_are_up_to_date():
    shown = {match["name"] for page in tables.PAGES for match in tables.MARKED.finditer(page.read_text())}
    assert {path.stem for path in tables.RESULTS.glob("*.json")} <= shown, "what was measured stands in a page"
    for page in tables.PAGES:
        assert tables.render(page.read_text(), tables.RESULTS) == page.read_text(), f"run `make tables` ({page.name})"
