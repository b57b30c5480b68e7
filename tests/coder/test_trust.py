from __future__ import annotations

from coder.trust import Standing, Trust


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
