"""The benchmarks of next lines ask as an editor does: what they show is what the server would."""

from __future__ import annotations

import random

import pytest

from benchmarks import lsp_growth
from benchmarks.held_out import Desk, Place, Score, Store, Written, answered, lay_out, timed
from benchmarks.next_line import WAYS, Silent, scores, ways_of
from coder.completion.knowledge import Knowledge
from coder.completion.writer import Writer
from tests.lsp.parrot import Parrot
from tests.model.toy import ByteTokenizer

WORDS = "prices = []\n\n\ndef total():\n    amount = sum(prices)\n    return amount\n"
FAR = "import numpy as np\n\n\n" + "".join(f"value_{number} = {number}\n" for number in range(3000))
FILES = {"shop/one.py": FAR + "x = np.zeros(3)\n", "shop/two.py": WORDS, "shop/three.py": "import requests\n"}


@pytest.fixture
def desk(tmp_path):
    lay_out(tmp_path, FILES.items())
    return Desk(tmp_path, ByteTokenizer())


def test_a_folder_is_read_and_the_open_file_is_left_out(desk):
    assert desk.files == 3 and {"requests", "shop", "two"} <= set(desk.modules)
    context = list(b"amount = sum(")
    assert desk.knowledge.find(context) is not None
    desk.open("shop/two.py")
    assert desk.knowledge.find(context) is None
    desk.close("shop/two.py")
    desk.open("shop/three.py")
    assert desk.knowledge.find(context) is not None


def test_a_line_is_cut_behind_its_indentation(desk):
    assert desk.cut("shop/two.py", 4, WORDS) == ("amount = sum(prices)", "\n    return amount\n")
    situation, prompt = desk.ask()
    assert situation.before == "prices = []\n\n\ndef total():\n    " and situation.after == "\n    return amount\n"
    assert prompt.text == "# shop/two.py\nprices = []\n\n\ndef total():\n    "


def test_names_far_above_are_known_as_the_server_knows_them(desk):
    """The import is outside of the window: without what stands elsewhere the line would be held back."""
    text = FILES["shop/one.py"]
    truth, _ = desk.cut("shop/one.py", text.count("\n") - 1, text)
    assert "numpy" not in desk.ask()[0].before
    assert answered(Writer(Parrot(text), ByteTokenizer(), desk.knowledge), desk, "never") == truth


def test_each_way_of_a_place(desk):
    desk.open("shop/two.py")
    desk.cut("shop/two.py", 4, WORDS)
    found = ways_of(Writer(Parrot(WORDS), ByteTokenizer(), Knowledge()), Silent(), desk)
    texts = {way: one.text for way, one in found.items()}
    assert texts == {way: "amount = sum(prices)" for way in WAYS}
    table = scores({Place("p", "shop/two.py", 4): found}, {"p": FILES})
    assert {way: (score.exact, score.kept, score.vain) for way, score in table.items()} == {
        way: (1, 20, 0) for way in WAYS
    }


def test_what_is_right_of_further_lines_is_kept():
    score = Score()
    score.add(Written("a = 1\nb = 3", 6, 0.2), "a = 1 ", "\nb = 2\n")
    score.add(Written("", 0, 0.4), "c()", "\n")
    assert score.row("x") == ("x", "2", "50.0 %", "50.0 %", "50.0 %", "10", "1", "6", "300")


def test_nothing_of_the_surroundings_is_kept_between_two_timings(desk):
    writer = Writer(Parrot(WORDS), ByteTokenizer(), desk.knowledge)
    desk.knowledge.focus("a", ("amount = 1",), ByteTokenizer().encode)
    seen = timed(lambda: str(desk.knowledge._around), writer)
    assert seen.text == str(("", ())) and seen.tokens == len(seen.text)


def test_a_store_goes_on_behind_a_torn_line(tmp_path):
    path = tmp_path / "runs" / "store.jsonl"
    store, place = Store(path), Place("p", "a.py", 3)
    store.put(place, {"way": Written("x", 1, 0.5)})
    path.write_text(path.read_text() + '{"place": {"pack')
    assert Store(path).written == {place: {"way": Written("x", 1, 0.5)}}


def test_growth_asks_in_folders_of_each_size(tmp_path, monkeypatch):
    monkeypatch.setattr(lsp_growth, "SIZES", (3, 6))
    places = [Place("p", "shop/two.py", 4), Place("p", "shop/two.py", 5)]
    own = lsp_growth.own_files({"p": FILES}, {("p", "shop/two.py")})
    filler = {f"q/{number}.py": f"other = {number}\n" for number in range(9)}
    growth = lsp_growth.Growth(tmp_path, ByteTokenizer(), own, ["p/shop/two.py"], filler, tmp_path / "kept")
    desks = growth.desks("p")
    assert {size: desk.files for size, desk in desks.items()} == {3: 3, 6: 6}
    assert [desk.knowledge.find(list(b"other = ")).order for desk in desks.values()] == [3, 8]
    writer = Writer(Parrot(WORDS), ByteTokenizer(), Knowledge())
    written = dict(lsp_growth.write(writer, growth, {"p": FILES}, places, float("inf"), random.Random(0)))
    assert {place.number: {size: one.text for size, one in ways.items()} for place, ways in written.items()} == {
        4: {"3": "amount = sum(prices)", "6": "amount = sum(prices)"},
        5: {"3": "return amount", "6": "return amount"},
    }
    assert list(lsp_growth.write(writer, growth, {"p": FILES}, places, 0.0, random.Random(0))) == []
