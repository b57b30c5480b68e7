from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import policy


def installation(prefix: Path) -> Path:
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib/python3.12").mkdir(parents=True)
    python = prefix / "bin/python3.12"
    python.write_text("#!/bin/sh\nexit 99\n")
    python.chmod(0o755)
    return python


def environment(place: Path, base: Path) -> Path:
    (place / "bin").mkdir(parents=True)
    (place / "bin/python").symlink_to("python3")
    (place / "bin/python3").symlink_to(base)
    (place / "pyvenv.cfg").write_text(f"home = {base.parent}\nversion = 3.12.1\n")
    return place / "bin/python"


def test_an_installation_is_its_prefix(tmp_path: Path) -> None:
    assert policy.interpreter_paths(installation(tmp_path / "python")) == [tmp_path / "python"]


def test_a_virtual_environment_needs_what_it_was_made_from(tmp_path: Path) -> None:
    base = installation(tmp_path / "base")
    assert set(policy.interpreter_paths(environment(tmp_path / "venv", base))) == {tmp_path / "venv", tmp_path / "base"}


def test_installations_behind_linked_directories_are_seen_under_both_names(tmp_path: Path) -> None:
    """As uv keeps them: a name for the minor version that points to the one with the patch version."""
    installation(tmp_path / "cpython-3.12.8")
    (tmp_path / "cpython-3.12").symlink_to("cpython-3.12.8")
    python = environment(tmp_path / "venv", tmp_path / "cpython-3.12/bin/python3.12")
    found = policy.interpreter_paths(python)
    assert {tmp_path / "venv", tmp_path / "cpython-3.12", tmp_path / "cpython-3.12.8"} <= set(found)


def test_a_home_is_never_shown_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    python = installation(home)
    (home / ".ssh").mkdir()
    assert policy.interpreter_paths(python) == [home / "bin", home / "lib"]
    local = installation(home / ".local")
    (home / ".local/share").mkdir()
    assert policy.interpreter_paths(local) == [home / ".local/bin", home / ".local/lib"]


def test_a_repository_that_is_its_own_environment_is_not_shown_as_a_whole(tmp_path: Path) -> None:
    python = environment(tmp_path / "repository", installation(tmp_path / "base"))
    (tmp_path / "repository/.git").mkdir()
    shown = policy.interpreter_paths(python)
    assert set(shown) == {tmp_path / "repository/bin", tmp_path / "repository/pyvenv.cfg", tmp_path / "base"}


def test_links_and_settings_cannot_name_a_place_that_is_no_installation(tmp_path: Path) -> None:
    (tmp_path / "private/bin").mkdir(parents=True)
    (tmp_path / "private/bin/python3").write_text("secret")
    python = environment(tmp_path / "venv", tmp_path / "private/bin/python3")
    assert policy.interpreter_paths(python) == [tmp_path / "venv"]


def test_the_systems_own_python_needs_nothing_more() -> None:
    assert policy.interpreter_paths("/usr/bin/python3") == []


def test_the_environment_is_whole_and_the_callers_additions_win() -> None:
    made = policy.environment([Path("/venv/bin"), Path("/usr/bin")], "/tmp", {"LANG": "it_IT.UTF-8", "X": "1"})
    assert made["PATH"].split(":")[:3] == ["/venv/bin", "/usr/bin", "/usr/local/bin"]
    assert (made["HOME"], made["TMPDIR"], made["LANG"], made["X"]) == ("/tmp/home", "/tmp", "it_IT.UTF-8", "1")


@pytest.mark.parametrize(
    "secret", ["/etc", "/etc/shadow", "/etc/ssl/private", "/run", "/var/run", "/home", "/root", "/sys"]
)
def test_secrets_and_sockets_are_not_among_what_every_jail_sees(secret: str) -> None:
    shown = [Path(place) for place in (*policy.SYSTEM, *policy.ETC)]
    assert not any(Path(secret).is_relative_to(place) for place in shown)
    assert Path(secret) not in shown
