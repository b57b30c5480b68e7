from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import landlock

pytestmark = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")


def confined(code: str, read: list[Path], write: list[Path], network: bool = False) -> subprocess.CompletedProcess[str]:
    """Run `code` in a process that has given up all but these paths, with Landlock loaded as a plain file."""
    prelude = f"""
import importlib.util, os, signal, socket
spec = importlib.util.spec_from_file_location("landlock", {landlock.__file__!r})
landlock = importlib.util.module_from_spec(spec)
spec.loader.exec_module(landlock)
landlock.restrict({[str(path) for path in read]!r}, {[str(path) for path in write]!r}, network={network})
"""
    return subprocess.run([sys.executable, "-I", "-S", "-c", prelude + code], capture_output=True, text=True)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    for name in ("readable", "writable", "secret"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    return tmp_path / "readable", tmp_path / "writable", tmp_path / "secret"


def test_what_is_listed_works(places: tuple[Path, Path, Path]) -> None:
    readable, writable, _ = places
    code = f"print(open('{readable}/file').read()); os.chdir('{writable}'); os.mkdir('d'); os.rename('file', 'd/file')"
    assert confined(code, [readable], [writable]).stdout == "readable\n"
    assert (writable / "d/file").read_text() == "writable"


@pytest.mark.parametrize(
    "code",
    [
        "open('{secret}/file')",
        "os.listdir('{secret}')",
        "open('{readable}/file', 'a')",
        "os.truncate('{readable}/file', 0)",
        "os.unlink('{readable}/file')",
        "os.mkdir('{secret}/new')",
        "os.link('{secret}/file', '{writable}/hard')",
        "os.symlink('{secret}/file', '{writable}/soft'); open('{writable}/soft')",
        "os.execv('/bin/true', ['true'])",
        "landlock.restrict(['/'], ['/']); open('{secret}/file')",
    ],
)
def test_what_is_not_listed_is_refused(places: tuple[Path, Path, Path], code: str) -> None:
    readable, writable, secret = places
    done = confined(code.format(readable=readable, writable=writable, secret=secret), [readable], [writable])
    assert "Error: [Errno" in done.stderr
    assert (secret / "file").read_text() == "secret"
    assert (readable / "file").read_text() == "readable"


def test_paths_that_do_not_exist_are_passed_over(places: tuple[Path, Path, Path]) -> None:
    assert confined("print('fine')", [Path("/no/such")], [places[1]]).stdout == "fine\n"


@pytest.mark.skipif(landlock.abi() < 4, reason="network rules came with ABI 4")
def test_ports_are_closed_unless_asked_for(places: tuple[Path, Path, Path]) -> None:
    code = "socket.socket().bind(('127.0.0.1', 0)); print('bound')"
    assert "PermissionError" in confined(code, [], []).stderr
    assert confined(code, [], [], network=True).stdout == "bound\n"


@pytest.mark.skipif(landlock.abi() < 6, reason="scopes came with ABI 6")
def test_signals_stay_inside() -> None:
    assert "PermissionError" in confined("os.kill(os.getppid(), 0)", [], []).stderr
    inside = "pid = os.fork()\nif not pid: signal.pause()\nos.kill(pid, 9); os.wait(); print('killed')"
    assert confined(inside, [], []).stdout == "killed\n"
