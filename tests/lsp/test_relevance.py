"""Which files of a workspace are read first."""

from __future__ import annotations

from coder.repository import Repository
from lsp.relevance import relevant_first


def folder(path, files=()):
    path.mkdir(exist_ok=True)
    for name, text in dict(files).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return Repository(path)


def paths(places):
    return [path for _, path in places]


def test_open_files_come_first_then_their_neighbours_then_code(tmp_path):
    names = ["z/other.py", "a/b/far.py", "src/app/near.py", "src/app/open.py", "src/app/notes.md"]
    here = folder(tmp_path)
    ordered = relevant_first([(here, name) for name in names], [(here, "src/app/open.py")])
    assert paths(ordered)[:3] == ["src/app/open.py", "src/app/near.py", "src/app/notes.md"]


def test_what_open_files_import_comes_before_their_neighbours(tmp_path):
    files = {
        "app/open.py": "from far.away import thing\nfrom .. import lost\nimport os\n",
        "app/near.py": "",
        "far/away/__init__.py": "",
        "far/away/thing.py": "",
        "far/away/more.py": "",
        "web/main.js": "import { draw } from '../deep/er/draw.js'\n",
        "deep/er/draw.js": "",
    }
    here = folder(tmp_path / "here", files)
    ordered = relevant_first([(here, name) for name in files], [(here, "app/open.py"), (here, "web/main.js")])
    assert set(paths(ordered)[:2]) == {"app/open.py", "web/main.js"}
    assert set(paths(ordered)[2:5]) == {"far/away/__init__.py", "far/away/thing.py", "deep/er/draw.js"}
    assert paths(ordered)[5] == "app/near.py"


def test_all_folders_are_put_in_one_order(tmp_path):
    names = ["app/open.py", "app/near.py", "part.py"]
    one, two = (folder(tmp_path / name) for name in ("one", "two"))
    places = [(here, name) for here in (one, two) for name in names]
    ordered = relevant_first(places, [(two, "app/open.py")])
    assert ordered[0] == (two, "app/open.py"), "the same path in the other folder is not open"
    assert {here for here, _ in ordered[:3]} == {two}
    assert paths(relevant_first(places, []))[:2] == ["part.py", "part.py"], "what is open nowhere: from the top"
