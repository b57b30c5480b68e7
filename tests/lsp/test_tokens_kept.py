"""Tokens on disk: whatever is wrong with the file or the disk costs time, no more."""

from __future__ import annotations

import errno

import numpy as np

from lsp.tokens_kept import TokensKept


def kept(folder, **texts):
    one = TokensKept(folder, "name")
    for key, tokens in texts.items():
        one.put(key, tokens)
    one.save()
    return TokensKept(folder, "name")


def test_what_was_used_is_there_at_the_next_start(tmp_path):
    one = kept(tmp_path, a=[1, 2], b=[], c=[3])
    assert [list(one.get(key)) for key in "abc"] == [[1, 2], [], [3]]
    assert one.get("d") is None
    two = TokensKept(tmp_path, "name")
    two.get("c")
    two.save()
    assert kept(tmp_path / "other").get("c") is None
    three = TokensKept(tmp_path, "name")
    assert three.get("a") is None and list(three.get("c")) == [3]
    TokensKept(tmp_path, "name").save()
    assert TokensKept(tmp_path, "name").get("c") is None


def test_a_torn_file_counts_as_none(tmp_path):
    kept(tmp_path, a=list(range(1000)))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for torn in (whole[:-30], whole[: len(whole) // 2], whole[:100], b"torn", b""):
        file.write_bytes(torn)
        assert TokensKept(tmp_path, "name").get("a") is None


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(file, **arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(np, "savez", full)
    assert kept(tmp_path, a=[1]).get("a") is None
    assert list(tmp_path.iterdir()) == []
