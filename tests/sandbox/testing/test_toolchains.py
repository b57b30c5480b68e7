from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.testing.toolchains import installed


def program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


@pytest.fixture(autouse=True)
def no_rustup(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path / "rustup"))


def test_an_installation_of_its_own_is_shown(tmp_path: Path) -> None:
    node = tmp_path / "versions" / "v22"
    program(node / "bin" / "node")
    (node / "include" / "node").mkdir(parents=True)
    assert installed("cd x && node test.js", str(node / "bin")) == [node]
    assert installed("cd x && ls", str(node / "bin")) == []


def test_a_link_leads_to_it(tmp_path: Path) -> None:
    go = tmp_path / "opt" / "go"
    program(go / "bin" / "go")
    (go / "src" / "runtime").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "go").symlink_to(go / "bin" / "go")
    assert installed("go test ./...", str(tmp_path / "bin")) == [go]


def test_what_else_lies_beside_a_program_stays_hidden(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "node")
    (tmp_path / ".ssh").mkdir()
    assert installed("node test.js", str(tmp_path / "bin")) == []


def test_the_proxies_of_rustup_stand_for_its_default_toolchain(tmp_path: Path) -> None:
    program(tmp_path / "cargo" / "bin" / "cargo")
    toolchain = tmp_path / "rustup" / "toolchains" / "stable-x"
    program(toolchain / "bin" / "cargo")
    (toolchain / "lib" / "rustlib").mkdir(parents=True)
    (tmp_path / "rustup" / "settings.toml").write_text('default_toolchain = "stable-x"\n')
    assert installed("cargo test", str(tmp_path / "cargo" / "bin")) == [toolchain]
