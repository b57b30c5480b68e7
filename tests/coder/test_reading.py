from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch

from coder.config import Settings
from coder.engine import Engine
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.reading import Piece, Reading, files_of, open_store, stale, state_format
from coder.reading_plan import NEAR, TREE, ReadingTask, is_source, plan, readable
from coder.repository import Repository
from model.sprig import Sprig
from model.weights.clover_files import load_clover
from model.weights.synthetic import TINY, write_random
from tests.model.tiny_sprig import CONFIG, tiny_side, tiny_trunk
from tests.model.toy import ByteTokenizer, ToyModel

FILES = {
    "shop/cart.py": "from shop.price import total\n\n\ndef checkout(cart):\n    return total(cart)\n",
    "shop/price.py": "def total(cart):\n    return sum(cart)\n",
    "shop/mail.py": "def send(text):\n    print(text)\n",
    "tests/test_cart.py": "from shop.cart import checkout\n\n\ndef test_checkout():\n    assert checkout([1]) == 1\n",
    "README.md": "# Shop\n\nSells things.\n",
}


class Letters:
    """One id per character, within the tiny model's vocabulary."""

    end_id = 1
    vocabulary = CONFIG.vocabulary

    def encode(self, text: str) -> list[int]:
        return [2 + ord(letter) % 94 for letter in text]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def model() -> Sprig:
    return Sprig(tiny_trunk(), tiny_side())


@pytest.fixture
def store(tmp_path: Path):
    return open_store(tmp_path / "state")


class Counting:
    """Counts the tokens that a model commits."""

    def __init__(self, model) -> None:
        self._model, self.tokens = model, 0
        self._commit, model.commit = model.commit, self.commit

    def commit(self, tokens, state, **more):
        self.tokens += len(tokens)
        return self._commit(tokens, state, **more)


def reading(root: Path, model, order=tuple(FILES)) -> Reading:
    return Reading.of(Repository(root), state_format(model).model_id, order)


def same_future(model, one, other) -> None:
    probe = Letters().encode("def f(): return")
    assert torch.equal(model.commit(probe, one)[0], model.commit(probe, other)[0])


def test_what_was_read_is_not_read_again_and_goes_on_to_the_bit(project, model, store) -> None:
    count = Counting(model)
    first = reading(project, model).read(model, Letters(), store)
    assert count.tokens == first.tokens == sum(len(piece.text) for piece in reading(project, model).pieces)
    assert (first.resumed, first.complete, len(first.files)) == (0, True, len(FILES))
    again = reading(project, model).read(model, Letters(), store)
    assert count.tokens == first.tokens, "nothing was read"
    assert (again.resumed, again.files) == (len(FILES), first.files)
    same_future(model, again.state, first.state)


def test_one_changed_file_costs_only_what_comes_after_it(project, model, store) -> None:
    order = tuple(FILES)
    reading(project, model, order[:3]).read(model, Letters(), store)
    reading(project, model).read(model, Letters(), store)
    (project / order[3]).write_text("def test_other(): pass\n")
    changed = reading(project, model)
    assert changed.stored(store) == 3
    read = changed.read(model, Letters(), store)
    assert read.resumed == 3
    fresh = changed.read(model, Letters(), open_store(project.parent / "other"))
    assert fresh.resumed == 0
    same_future(model, read.state, fresh.state)


def test_stale_files_are_noticed_by_hash(project, model, store) -> None:
    read = reading(project, model).read(model, Letters(), store)
    assert stale(Repository(project), read.files) == []
    (project / "shop/price.py").write_text("def total(cart): return 0\n")
    (project / "README.md").unlink()
    assert stale(Repository(project), read.files) == ["README.md", "shop/price.py"]
    (project / "shop/price.py").write_text(FILES["shop/price.py"])
    assert stale(Repository(project), read.files) == ["README.md"]


def test_interrupted_it_keeps_whole_files_and_resumes_there(project, model, store) -> None:
    cancel = threading.Event()

    def progress(now) -> None:
        if now.files == 2:
            cancel.set()

    first = reading(project, model).read(model, Letters(), store, progress=progress, cancel=cancel)
    assert not first.complete
    assert [file.path for file in first.files] == list(FILES)[:2]
    assert reading(project, model).stored(store) == 2
    second = reading(project, model).read(model, Letters(), store)
    assert (second.resumed, second.complete) == (2, True)
    whole = reading(project, model).read(model, Letters(), open_store(project.parent / "other"))
    same_future(model, second.state, whole.state)


def test_progress_ends_with_all_and_never_goes_back(project, model, store) -> None:
    seen = []
    read = reading(project, model).read(model, Letters(), store, progress=seen.append)
    assert [now.tokens for now in seen] == sorted(now.tokens for now in seen)
    assert (seen[-1].files, seen[-1].tokens, seen[-1].all_tokens) == (len(FILES), read.tokens, read.tokens)
    resumed = []
    reading(project, model).read(model, Letters(), store, progress=resumed.append)
    assert {now.tokens for now in resumed} == {read.tokens}


def test_states_are_stored_where_asked_and_at_the_end(project, model, store) -> None:
    reading(project, model).read(model, Letters(), store, keep=(2,))
    assert sorted(entry.pieces for entry in store.entries()) == [2, len(FILES)]
    entry = next(entry for entry in store.entries() if entry.pieces == 2)
    files = files_of(dict(entry.notes))
    assert entry.notes["root"] == str(project)
    assert [file.path for file in files] == list(FILES)[:2]
    assert sum(file.tokens for file in files) == entry.position
    assert all(len(file.norms) == 2 * CONFIG.heads and max(file.norms) > 0 for file in files)


def test_a_long_reading_stores_on_the_way_within_its_budget(project, model, monkeypatch) -> None:
    monkeypatch.setattr("coder.reading._BETWEEN", 1)
    plenty = open_store(project.parent / "plenty")
    reading(project, model).read(model, Letters(), plenty)
    assert len(plenty.entries()) == len(FILES)
    largest = max(entry.bytes for entry in plenty.entries())
    tight = open_store(project.parent / "tight", budget=2 * largest)
    reading(project, model).read(model, Letters(), tight)
    assert sum(entry.bytes for entry in tight.entries()) <= 2 * largest
    assert reading(project, model).stored(tight) == len(FILES), "the newest stays"


def test_the_window_stays_short_however_much_is_read(project, model, store, monkeypatch) -> None:
    monkeypatch.setattr("coder.reading.WINDOW", 24)
    read = reading(project, model).read(model, Letters(), store)
    assert read.tokens > 300
    assert read.state.trunk.window.length == 24 + model.trunk.sinks
    same_future(model, reading(project, model).read(model, Letters(), store).state, read.state)


def test_a_torn_memory_is_read_again(project, model, store) -> None:
    first = reading(project, model).read(model, Letters(), store)
    path = store.entries()[0].path
    path.write_bytes(path.read_bytes()[:-7])
    again = reading(project, model).read(model, Letters(), store)
    assert again.resumed == 0
    same_future(model, again.state, first.state)


@pytest.mark.parametrize("name", [".env", "secrets.json", "id_rsa", "hidden/a.py", "kept_out.py", "build/made.py"])
def test_hidden_and_secret_files_are_never_read(project, model, name) -> None:
    (project / ".gitignore").write_text("build/\n")
    (project / ".coderignore").write_text("hidden/\nkept_out.py\n")
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("password = 'swordfish'\n")
    repository = Repository(project)
    task = ReadingTask({name: 1.0})
    assert name not in plan(repository, task).order
    assert readable(repository, name) is None
    asked = reading(project, model, (*FILES, name, TREE))
    assert all("swordfish" not in piece.text for piece in asked.pieces)
    assert len(asked.pieces) == len(FILES) + 1
    assert name not in asked.pieces[-1].text


def test_links_and_paths_outside_are_never_read(project, model) -> None:
    (project.parent / "outside.py").write_text("password = 'swordfish'\n")
    (project / "link.py").symlink_to(project.parent / "outside.py")
    assert reading(project, model, ("link.py", "../outside.py", "/etc/passwd", ".git/config", "none.py")).pieces == ()


def test_a_token_in_the_text_does_not_reach_the_model(project, model) -> None:
    (project / "shop/mail.py").write_text(f"KEY = 'ghp_{'a1' * 20}'\n")
    (piece,) = reading(project, model, ("shop/mail.py",)).pieces
    assert "ghp_" not in piece.text and "[redacted]" in piece.text


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"a = 1\0", b"\xff\xfe\xfa", b"x = '" + b"a" * 3000 + b"'\n", b"a = 1\n" * 30_000],
    ids=["empty", "blank", "null", "no text", "long line", "large"],
)  # fmt: skip
def test_what_is_no_source_is_left_out(project, data) -> None:
    (project / "odd.py").write_bytes(data)
    assert readable(Repository(project), "odd.py") is None
    assert "odd.py" not in plan(Repository(project)).order


def test_which_files_are_source() -> None:
    assert all(map(is_source, ("a.py", "b/Makefile", "README", "README.md", "c.rs", "pyproject.toml")))
    assert not any(map(is_source, ("data.csv", "a.json", "package-lock.json", "image.png", "uv.lock", "x")))


def test_a_piece_begins_with_its_path_and_ends_with_a_line() -> None:
    assert Piece.of("a/b.py", "x = 1").text == "# a/b.py\nx = 1\n"
    assert Piece.of("a.ts", "x\n").text == "// a.ts\nx\n"
    assert Piece.of("a.md", "x\n").text == "<!-- a.md -->\nx\n"
    assert Piece.of("a.py", "x").digest != Piece.of("b.py", "x").digest


def test_the_base_does_not_depend_on_the_task_and_the_task_comes_last(project) -> None:
    repository = Repository(project)
    base = plan(repository).order
    assert sorted(base) == sorted(FILES)
    edited = plan(repository, ReadingTask({"shop/cart.py": 1.0, "shop/mail.py": 2.0}))
    assert edited.base == base and edited.near[-2:] == ("shop/cart.py", "shop/mail.py")
    task = plan(repository, ReadingTask.terminal("explain shop/price.py and mail.py.", repository.files))
    assert task.base == base and task.near[0] == TREE
    assert set(task.near[-2:]) == {"shop/price.py", "shop/mail.py"} and task.near[-3] == "README.md"
    assert plan(repository, ReadingTask({"gone.py": 1.0})).near == ()


def test_a_large_repository_is_cut_to_what_is_needed_most(project) -> None:
    for number in range(40):
        (project / f"leaf_{number:02}.py").write_text("from shop.price import total\n" + "x = total([1])\n" * 20)
    repository = Repository(project)
    small = plan(repository, ReadingTask({"leaf_07.py": 1.0}), limit=2_000)
    assert small.base[-1] == "shop/price.py", "what the others need is read last of the base"
    assert 1 < len(small.base) < 10
    assert small.near[-1] == "leaf_07.py" and len(small.near) <= NEAR


def test_an_empty_project_reads_nothing(tmp_path, model, store) -> None:
    (tmp_path / "empty").mkdir()
    read = reading(tmp_path / "empty", model, plan(Repository(tmp_path / "empty")).order).read(model, Letters(), store)
    assert (read.tokens, read.files, read.complete) == (0, (), True)
    assert store.entries() == []


def test_the_engine_reads_the_base_once_for_all_tasks(project, model, tmp_path) -> None:
    count = Counting(model)
    engine = Engine(Repository(project), Settings(), tmp_path / "state", Path(), load_model=lambda: (model, Letters()))
    base = engine.read()
    assert count.tokens == base.tokens
    for path in ("shop/mail.py", "shop/price.py"):
        before = count.tokens
        read = engine.read(ReadingTask({path: 1.0}))
        assert read.resumed >= len(FILES)
        assert read.files[-1].path == path
        assert count.tokens - before == read.tokens - read.resumed_tokens <= base.tokens
    before = count.tokens
    other = Engine(Repository(project), Settings(), tmp_path / "state", Path())
    read = other.read(ReadingTask({"shop/mail.py": 1.0}), loaded=(model, Letters()))
    assert count.tokens == before, "another engine goes on from what this one has read"
    assert read.resumed == len(read.files)


def test_a_task_first_still_leaves_the_base_for_others(project, model, tmp_path) -> None:
    engine = Engine(Repository(project), Settings(), tmp_path / "state", Path(), load_model=lambda: (model, Letters()))
    engine.read(ReadingTask({"shop/mail.py": 1.0}))
    read = engine.read(ReadingTask({"README.md": 1.0}))
    assert read.resumed >= len(FILES)


def test_a_random_clover_reads_and_resumes_through_its_delta_memory(project, tmp_path) -> None:
    model = load_clover(write_random(tmp_path / "clover", TINY))
    tokenizer = ByteTokenizer()
    engine = Engine(Repository(project), Settings(), tmp_path / "state", Path(), load_model=lambda: (model, tokenizer))
    task = ReadingTask({"shop/cart.py": 1.0})
    read = engine.read(task)
    assert read.state.position == read.tokens > 300
    fresh = load_clover(tmp_path / "clover")
    again = Engine(Repository(project), Settings(), tmp_path / "state", Path()).read(task, (fresh, tokenizer))
    assert again.resumed == len(read.files)
    probe = tokenizer.encode("def checkout")
    assert torch.equal(fresh.commit(probe, again.state)[0], model.commit(probe, read.state)[0])
    assert len(read.files[0].norms) == 3 * TINY["linear_num_value_heads"]
    assert read.files[0].norms != read.files[-1].norms


def test_a_model_without_a_memory_says_so(project, tmp_path) -> None:
    engine = Engine(Repository(project), Settings(), tmp_path, Path(), load_model=lambda: (ToyModel(), ByteTokenizer()))
    with pytest.raises(Failure, match="ToyModel keeps no memory") as failed:
        engine.read()
    assert failed.value.status is ExitStatus.MODEL_FAILED


def test_a_reading_for_another_model_is_refused(project, model, store) -> None:
    with pytest.raises(Failure, match="the reading is for somebody"):
        Reading.of(Repository(project), "somebody", FILES).read(model, Letters(), store)
