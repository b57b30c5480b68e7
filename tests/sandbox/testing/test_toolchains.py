from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.testing.toolchains import installed, node_modules


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
    assert installed(f"{node}/bin/node test.js", "") == [node]
    assert installed("bin/node test.js", str(node / "bin")) == []


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


def test_packages_for_node_beside_what_was_copied(tmp_path: Path) -> None:
    origin, tree, elsewhere = tmp_path / "origin", tmp_path / "tree", tmp_path / "elsewhere"
    for folder in (origin / "node_modules" / "a", origin / "web" / "node_modules", origin / "old" / "node_modules"):
        folder.mkdir(parents=True)
    for folder in (tree / "web", tree / "linked", elsewhere, origin / "linked"):
        folder.mkdir(parents=True)
    (origin / "linked" / "node_modules").symlink_to(elsewhere)
    assert node_modules(tree, origin) == {
        "node_modules": origin / "node_modules",
        "web/node_modules": origin / "web" / "node_modules",
    }
