from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from model.memory import MemoryState, StateFileError
from model.memory_store import MemoryStore
from model.window import Window


def a_state(position: int = 7, model_id: str = "m", size: int = 16) -> MemoryState:
    draw = torch.Generator().manual_seed(position)
    tensors = {
        "0.delta": torch.randn(2, size, size, generator=draw),
        "0.tail": torch.randn(3, 8, generator=draw).bfloat16(),
    }
    keys, values = torch.randn(2, 1, 2, position, 4, generator=draw)
    return MemoryState(model_id, position, tensors, {"attention": Window.of(keys, values)})


def assert_same(one: MemoryState, other: MemoryState) -> None:
    assert (one.model_id, one.position) == (other.model_id, other.position)
    assert one.tensors.keys() == other.tensors.keys() and one.windows.keys() == other.windows.keys()
    assert all(torch.equal(one.tensors[name], other.tensors[name]) for name in one.tensors)
    for name, window in one.windows.items():
        assert torch.equal(window.keys_LKTD, other.windows[name].keys_LKTD)
        assert torch.equal(window.values_LKTD, other.windows[name].values_LKTD)


def test_saved_and_loaded_bit_for_bit(tmp_path: Path) -> None:
    state = a_state()
    state.save(tmp_path / "s")
    assert_same(MemoryState.load(tmp_path / "s", "m"), state)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_state_of_another_model_is_refused(tmp_path: Path) -> None:
    a_state().save(tmp_path / "s")
    with pytest.raises(StateFileError, match="belongs to the model m, not to n"):
        MemoryState.load(tmp_path / "s", "n")


@pytest.mark.parametrize("kept", [0, 5, 200, 0.5, 0.99])
def test_a_torn_file_is_refused(tmp_path: Path, kept: float) -> None:
    a_state().save(tmp_path / "s")
    whole = (tmp_path / "s").read_bytes()
    (tmp_path / "s").write_bytes(whole[: int(kept if kept >= 1 or kept == 0 else kept * len(whole))])
    with pytest.raises(StateFileError, match="torn"):
        MemoryState.load(tmp_path / "s", "m")


def test_one_changed_bit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    a_state().save(tmp_path / "s")
    whole = (tmp_path / "s").read_bytes()
    for place in range(0, len(whole), 97):
        changed = bytearray(whole)
        changed[place] ^= 4
        (tmp_path / "s").write_bytes(changed)
        try:
            loaded = MemoryState.load(tmp_path / "s", "m")
        except StateFileError:
            continue
        assert_same(loaded, a_state())  # only the header's layout was touched, not what it says


def test_a_changed_position_is_noticed(tmp_path: Path) -> None:
    a_state().save(tmp_path / "s")
    whole = (tmp_path / "s").read_bytes()
    assert whole.count(b'"position":"7"') == 1
    (tmp_path / "s").write_bytes(whole.replace(b'"position":"7"', b'"position":"8"'))
    with pytest.raises(StateFileError, match="checksum"):
        MemoryState.load(tmp_path / "s", "m")


def test_foreign_files_and_other_versions_are_refused(tmp_path: Path) -> None:
    save_file({"x": torch.ones(1)}, tmp_path / "foreign")
    with pytest.raises(StateFileError, match="not a saved memory"):
        MemoryState.load(tmp_path / "foreign", "m")
    save_file({"x": torch.ones(1)}, tmp_path / "old", {"format": "coder-memory", "version": "0"})
    with pytest.raises(StateFileError, match="version 0; this program reads version 1"):
        MemoryState.load(tmp_path / "old", "m")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(StateFileError):
        MemoryState.load(tmp_path / "text", "m")


def test_a_crash_while_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_state(7).save(tmp_path / "s")

    def crash(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        a_state(9).save(tmp_path / "s")
    assert MemoryState.load(tmp_path / "s", "m").position == 7


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore(tmp_path / "memory", budget_bytes=1 << 20)


def test_longest_prefix_of_the_reading_order_is_found(store: MemoryStore) -> None:
    for count in (1, 2, 3):
        assert store.put(["a", "b", "c"][:count], a_state(count * 10))
    assert store.longest_prefix("m", ["a", "b", "c", "d"])[1] == 3
    state, count = store.longest_prefix("m", ["a", "b", "x", "d"])
    assert count == 2 and state is not None and state.position == 20
    assert store.longest_prefix("m", ["b", "a"]) == (None, 0)
    assert store.longest_prefix("other", ["a"]) == (None, 0)
    assert store.longest_prefix("m", ["ab"]) == (None, 0)
    assert store.longest_prefix("m", []) == (None, 0)


def test_a_damaged_state_is_deleted_and_a_shorter_one_used(
    store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.put(["a"], a_state(10))
    store.put(["a", "b"], a_state(20))
    longest = next(entry for entry in store.entries() if entry.position == 20)
    longest.path.write_bytes(longest.path.read_bytes()[:-1])
    with caplog.at_level(logging.WARNING):
        state, count = store.longest_prefix("m", ["a", "b"])
    assert count == 1 and state is not None and state.position == 10
    assert "read again" in caplog.text and not longest.path.exists()
    assert store.put(["a", "b"], a_state(20)) and store.longest_prefix("m", ["a", "b"])[1] == 2


def test_the_least_recently_used_go_when_the_budget_is_full(tmp_path: Path) -> None:
    state = a_state(10, size=64)
    store = MemoryStore(tmp_path, budget_bytes=3 * (state.fixed_bytes + 4096))
    for age, name in enumerate("abc"):
        store.put([name], state)
        used = 1_000_000 + age
        os.utime(store.entries()[0].path, (used, used))
    assert store.longest_prefix("m", ["a"])[1] == 1  # now the most recently used
    store.put(["d"], state)
    assert [store.longest_prefix("m", [name])[1] for name in "abcd"] == [1, 0, 1, 1]


def test_a_state_larger_than_the_budget_is_not_kept(tmp_path: Path) -> None:
    assert not MemoryStore(tmp_path, budget_bytes=100).put(["a"], a_state())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    store = MemoryStore(tmp_path / "file" / "memory", 1 << 20)
    assert not store.put(["a"], a_state())
    assert "could not be kept" in caplog.text
    assert store.longest_prefix("m", ["a"]) == (None, 0) and store.entries() == []


def test_listing_and_clearing(store: MemoryStore) -> None:
    assert store.entries() == [] and store.clear() == 0
    store.put(["a", "b"], a_state(20))
    (store.directory / "stray.state.safetensors").write_text("no state")
    (entry,) = store.entries()
    assert (entry.model_id, entry.position, entry.pieces) == ("m", 20, 2)
    assert entry.bytes == entry.path.stat().st_size
    assert store.clear() > entry.bytes and list(store.directory.iterdir()) == []


def test_what_a_crash_left_half_written_goes_after_a_while(store: MemoryStore) -> None:
    store.put(["a"], a_state())
    old, fresh = store.directory / "x.1.partial", store.directory / "x.2.partial"
    for path in (old, fresh):
        path.write_text("half")
    os.utime(old, (1, 1))
    store.put(["b"], a_state())
    assert not old.exists() and fresh.exists()


def test_what_belongs_to_another_user_is_used_and_left_alone(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(["a"], a_state(10))
    store.put(["a", "b"], a_state(20))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert store.longest_prefix("m", ["a", "b"])[1] == 2
    longest = next(entry for entry in store.entries() if entry.position == 20)
    longest.path.write_bytes(b"damaged")
    assert store.longest_prefix("m", ["a", "b"])[1] == 1
