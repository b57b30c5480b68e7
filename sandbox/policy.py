"""What the inside of a jail can see: system files, interpreters, environment. The same on every level."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

JAIL = Path("/jail")
PACKAGE = Path(__file__).resolve().parent

# Programs, libraries and their data. Symbolic links among them (/bin -> usr/bin) are kept as such.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
# What programs look up in /etc, by name: the directory as a whole holds secrets.
ETC = tuple(
    f"/etc/{name}"
    for name in (
        "alternatives", "ca-certificates", "debian_version", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
        "localtime", "magic", "mime.types", "os-release", "pki/ca-trust", "pki/tls/certs", "protocols", "services",
        "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
    )
)  # fmt: skip
# Without a /dev of its own the jail may use these devices, and not /dev/pts: there are the user's own terminals.
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx"))
# Without a /proc of its own the jail sees these files of the machine's, which say nothing of other processes.
PROC = tuple(f"/proc/{name}" for name in ("self", "cpuinfo", "meminfo", "stat", "filesystems", "version", "sys/kernel"))


def etc_files(uid: int, gid: int) -> dict[str, str]:
    """The files of /etc that are made up for the jail: one ordinary user, and `localhost`."""
    return {
        "/etc/passwd": f"root:x:0:0:root:/nonexistent:/bin/false\ncoder:x:{uid}:{gid}:coder:/tmp/home:/bin/sh\n",
        "/etc/group": f"root:x:0:\ncoder:x:{gid}:\n",
        "/etc/hosts": "127.0.0.1 localhost jail\n::1 localhost jail\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "/etc/resolv.conf": "",
    }


def environment(path: Iterable[Path], temporary: str, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a run: nothing of the caller's, then `extra`. `path` comes first on PATH."""
    system = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
    places = dict.fromkeys((*map(str, path), *system))
    return {
        "PATH": ":".join(places),
        "HOME": f"{temporary}/home",
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        "USER": "coder",
        "LOGNAME": "coder",
        "PYTHONNOUSERSITE": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        **extra,
    }


def interpreter_paths(python: Path | str) -> list[Path]:
    """The directories that the interpreter `python` needs: its virtual environment and the installation under it.

    Found by following links and reading `pyvenv.cfg`; the interpreter, which may come with the repository, is not run.
    """
    found: list[Path] = []
    for program in _links(Path(os.path.abspath(python))):
        prefix = program.parent.parent
        found += _prefix(prefix)
        try:
            settings = (prefix / "pyvenv.cfg").read_text(errors="replace")
        except OSError:
            continue
        for line in settings.splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "home" and value.strip().startswith("/"):
                found += _prefix(Path(value.strip()).parent)
    return list(dict.fromkeys(found))


def _links(path: Path) -> Iterator[Path]:
    for _ in range(40):
        yield path
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / os.readlink(path)))
    if path != path.resolve():
        yield path.resolve()


def _prefix(prefix: Path) -> list[Path]:
    """`prefix`, or only its programs and libraries where it is a place that people also keep other things in.

    Nothing where it is no installation of Python: links and settings may come with the repository and name any place.
    """
    home = Path(os.path.expanduser("~"))
    if str(prefix) == "/" or any(prefix.is_relative_to(place) for place in ("/usr", "/nix/store")):
        return []
    if not (prefix / "pyvenv.cfg").is_file() and not any(prefix.glob("lib*/python3*")):
        return []
    if prefix in home.parents or prefix in (home, home / ".local") or (prefix / ".git").exists():
        return [place for name in ("bin", "lib", "lib64", "pyvenv.cfg") if (place := prefix / name).exists()]
    return [prefix]
