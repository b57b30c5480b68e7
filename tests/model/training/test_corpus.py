from __future__ import annotations

import json
import zipfile

import pytest

from model.training import corpus
from tests.model.toy import ByteTokenizer


def test_what_is_imported_comes_first():
    files = {
        "pkg/app.py": "from pkg.store import Store\nfrom . import errors\n",
        "pkg/store.py": "from .errors import Missing\n",
        "pkg/errors.py": "class Missing(Exception): ...\n",
        "README.md": "# words\n",
    }
    order = corpus.reading_order(files)
    assert sorted(order) == sorted(files)
    assert order.index("pkg/errors.py") < order.index("pkg/store.py") < order.index("pkg/app.py")


def test_a_cycle_of_imports_is_read_once():
    files = {"a.py": "import b\n", "b.py": "import a\n"}
    assert sorted(corpus.reading_order(files)) == ["a.py", "b.py"]


def test_an_archive_is_known_however_its_name_is_spelled(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus.subprocess, "run", lambda *command, **more: pytest.fail("fetched again"))
    there = tmp_path / "Ruamel_yaml-0.19.1-py3-none-any.whl"
    there.write_bytes(b"")
    assert corpus.fetch(corpus.Package("ruamel.yaml", "0.19.1", "MIT", "train"), tmp_path) == there


def archive(tmp_path, files: dict[str, str]):
    path = tmp_path / "pkg-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as bundle:
        for name, text in files.items():
            bundle.writestr(name, text)
    return path


def test_only_files_worth_reading_are_read(tmp_path):
    good = "x = 1  # a line that is long enough to count\n" * 8
    path = archive(
        tmp_path,
        {
            "pkg/good.py": good, "pkg/tiny.py": "x = 1\n", "pkg/lib.min.js": good, "pkg/_vendor/other.py": good,
            "pkg/long.py": "x = '" + "a" * 500 + "'\n", "pkg/data.bin": good,
        },
    )  # fmt: skip
    assert [name for name, _ in corpus.source_files(path)] == ["pkg/good.py"]


def test_a_file_that_overlaps_the_evaluation_data_is_dropped(tmp_path):
    shared = "def solve(a, b): return the sum of both numbers and then some more words to be long\n"
    evaluation = tmp_path / "evaluation"
    evaluation.mkdir()
    (evaluation / "cases.jsonl").write_text(json.dumps({"prompt": [shared]}) + "\n")
    filler = "value = other + another  # nothing that anybody would ask for in a test of repair\n" * 5
    path = archive(tmp_path, {"pkg/clean.py": filler, "pkg/seen.py": filler + shared})
    forbidden = corpus.evaluation_ngrams(evaluation)
    ids, dropped, kept = corpus.encode_package(path, ByteTokenizer(), 0, forbidden)
    assert (dropped, kept) == (1, 1)
    assert ByteTokenizer().decode(ids[:-1].tolist()) == "# pkg/clean.py\n" + filler


def test_the_list_names_licence_and_split_of_every_package():
    packages = corpus.packages()
    assert {package.split for package in packages} == {"train", "validation", "test"}
    assert len({package.name.lower() for package in packages}) == len(packages)
    assert all(package.licence and package.version for package in packages)


@pytest.mark.parametrize("folder", ["missing", "."])
def test_without_evaluation_data_nothing_is_prepared(tmp_path, folder):
    (tmp_path / "README.md").write_text("no data")
    with pytest.raises(ValueError, match="no evaluation data"):
        corpus.evaluation_ngrams(tmp_path / folder)
