from __future__ import annotations

import pytest

from coder.config import load
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Version
from coder.repository.gate import PathGate
from coder.trust import Standing, Trust, covered_files


def test_trust_is_for_a_real_path_and_for_these_bytes(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in one, two:
        folder.mkdir()
        (folder / "coder.toml").write_text("timeout = 1\n")
    trust = Trust(tmp_path / "state")
    assert trust.standing(one) is Standing.UNKNOWN
    trust.grant(one)
    (tmp_path / "link").symlink_to(one)
    assert trust.standing(tmp_path / "link") is Standing.TRUSTED
    assert trust.standing(two) is Standing.UNKNOWN
    (one / "AGENTS.md").write_text("new\n")
    assert trust.standing(one) is Standing.CHANGED
    trust.grant(one)
    assert Trust(tmp_path / "state").standing(one) is Standing.TRUSTED
    assert (tmp_path / "state/trust.json").stat().st_mode & 0o077 == 0
    assert trust.revoke(one) and not trust.revoke(one)


def test_a_linked_settings_file_counts_as_none(tmp_path):
    (tmp_path / "elsewhere").write_text("timeout = 1\n")
    (tmp_path / "coder.toml").symlink_to("elsewhere")
    assert Trust(tmp_path / "state").standing(tmp_path) is Standing.EMPTY


def test_trust_is_granted_to_the_bytes_that_were_shown(tmp_path):
    (tmp_path / "coder.toml").write_text("timeout = 1\n")
    trust, shown = Trust(tmp_path / "state"), covered_files(tmp_path)
    (tmp_path / "coder.toml").write_text("timeout = 2\n")
    trust.grant(tmp_path, shown)
    assert trust.standing(tmp_path) is Standing.CHANGED
    assert trust.standing(tmp_path, shown) is Standing.TRUSTED


def test_settings_are_taken_only_from_bytes_that_are_trusted(tmp_path, monkeypatch):
    """The file is another one at the moment of reading than before and after."""
    (tmp_path / "coder.toml").write_text("timeout = 1\n")
    trust = Trust(tmp_path / "state")
    trust.grant(tmp_path)
    assert load(tmp_path / "config", trust, tmp_path).timeout == 1.0

    class Swapped(PathGate):
        def read(self, path):
            return Version(b"timeout = 2\n")

    monkeypatch.setattr("coder.config.PathGate", Swapped)
    with pytest.raises(Failure) as caught:
        load(tmp_path / "config", trust, tmp_path)
    assert caught.value.status is ExitStatus.UNTRUSTED
