"""Programs and options that exist on this machine, and what they mean: from man pages and `--help`, kept in a cache.

Both are output of programs, so they are asked in the jail, in an empty folder; without a jail nothing is asked.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coder.shell.features import inner_programs
from coder.shell.safety import READERS, WRITERS
from coder.shell.syntax import Command, ShellSyntaxError, Word, parse

if TYPE_CHECKING:
    from sandbox.jail import Sandbox

BUILTINS = frozenset("cd echo printf test [ read true false export let local declare set pwd type : exit".split())
_BUNDLED = {"tar", "ps", "ar", "dd", "test", "[", "expr", "echo", "printf", "date"}  # options of another form
_SECONDS = 10
_SETTINGS = (Path("/etc/manpath.config"), Path("/etc/man_db.conf"))  # `man` does not start without its own
_SHORT = {  # what a machine without man pages still gets told, and what the pages tell in another form
    "find": {
        "-name": "the file's name matches the pattern", "-iname": "as -name, without regard to case",
        "-type": "f for files, d for directories, l for links", "-size": "of this size; + for more, - for less",
        "-mtime": "changed so many days ago; + for more, - for less", "-exec": "run a command on what was found",
        "-print0": "print names ended by a zero byte", "-delete": "delete what was found",
        "-maxdepth": "go down so many levels at most", "-perm": "permissions are these",
        "-o": "or", "-or": "or", "-a": "and", "-and": "and",
    },
    "grep": {"-r": "read all files under a directory", "-l": "print only names of files", "-i": "ignore case",
             "-c": "count lines", "-n": "with line numbers", "-v": "lines that do not match"},
    "wc": {"-l": "count lines", "-w": "count words", "-c": "count bytes"},
    "sort": {"-n": "by number", "-r": "in reverse", "-u": "without repetitions", "-k": "by this field"},
    "xargs": {"-0": "names end with a zero byte", "-I": "put each name in the place of this text"},
}  # fmt: skip


@dataclass(frozen=True)
class Page:
    """What a program is for and its options; both may be empty where nothing is known."""

    about: str = ""
    options: dict[str, str] = field(default_factory=dict)


class Manual:
    """Looks programs up, once each per machine and version of the program. `folder`: where what was read is kept."""

    def __init__(self, folder: Path, sandbox: Sandbox | None = None) -> None:
        self._folder, self._sandbox = folder, sandbox
        self._pages: dict[str, Page] = {}

    @classmethod
    def of_user(cls, sandbox: Sandbox | None = None) -> Manual:
        from platformdirs import user_cache_path

        return cls(user_cache_path("coder", appauthor=False) / "manual", sandbox)

    def has(self, program: str) -> bool:
        return program in BUILTINS or shutil.which(program, path=_PATH) is not None

    def page(self, program: str) -> Page:
        """An empty page for what has neither a man page nor `--help`. Only programs known as harmless are asked.

        Raises SandboxUnavailable when the jail breaks.
        """
        name = program.rsplit("/", 1)[-1]
        if name not in self._pages:
            page = self._kept(name) or Page()
            self._pages[name] = Page(page.about, _SHORT.get(name, {}) | page.options)
        return self._pages[name]

    def _kept(self, name: str) -> Page | None:
        place = shutil.which(name, path=_PATH)
        if place is None or (name not in READERS and name not in WRITERS):
            return None
        status = os.stat(place)
        kept = self._folder / f"{name}-{status.st_size}-{status.st_mtime_ns}.json"
        with suppress(OSError, ValueError):
            data = json.loads(kept.read_text())
            return Page(data["about"], data["options"])
        page = _read(self._sandbox, place, name) if self._sandbox is not None else None
        if page is not None:
            with suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps({"about": page.about, "options": page.options}))
        return page

    def possible(self, command: str) -> bool:
        """Whether every program of the command is installed here and has the options that it is given."""
        try:
            script = parse(command)
        except ShellSyntaxError:
            return False
        return bool(script.commands) and all(self._possible(one) for one in script.commands)

    def _possible(self, command: Command) -> bool:
        if command.program is None or not self.has(command.program):
            return False
        inner = list(inner_programs(command))
        if not all(self.has(name) for name, _ in inner):
            return False
        words = command.words[: inner[0][1]] if inner else command.words
        return all(self.option(command.program, word) is not False for word in words)

    def option(self, program: str, word: Word) -> str | bool:
        """What the option means; True for what is no option or cannot be told, False for one that does not exist."""
        name, text = program.rsplit("/", 1)[-1], word.text
        if len(text) < 2 or text[0] != "-" or text == "--" or not re.match(r"--?[A-Za-z0-9]", text):
            return True
        options = self.page(name).options
        stem = text.split("=")[0]
        if stem in options:
            return options[stem]
        if name in _BUNDLED or name not in READERS | WRITERS or re.match(r"-\d", text) or len(options) < 3:
            return True
        if text.startswith("--"):
            longer = [option for option in options if option.startswith(stem)]
            return options[longer[0]] if longer else False
        if name == "find" or f"-{text[1]}" not in options:
            return False
        meanings = [options[f"-{letter}"] for letter in text[1:] if f"-{letter}" in options]
        return "; ".join(dict.fromkeys(meanings))


_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


def _read(sandbox: Sandbox, place: str, name: str) -> Page | None:
    texts = (_output(sandbox, ["man", name]), _output(sandbox, [place, "--help"]))
    options: dict[str, str] = {}
    about = ""
    for text in texts:
        if not about and (match := re.search(r"NAME\n\s+\S.*? - (.+?)\n\n", text, re.DOTALL)):
            about = " ".join(match[1].split())
        for option, meaning in _options(text).items():
            options.setdefault(option, meaning)
    return Page(about, options) if options else None


def _options(text: str) -> dict[str, str]:
    """Lines that begin with options, and the first sentence of what stands beside or below them."""
    found: dict[str, str] = {}
    lines = text.splitlines()
    for at, line in enumerate(lines):
        match = re.match(r"\s{1,14}(-{1,2}[\w?#@-].*)", line)
        if not match:
            continue
        head, _, meaning = re.sub(r"(\S) {2,}", "\\1\x00", match[1], count=1).partition("\x00")
        below = 1
        while not meaning and at + below < len(lines) and below < 4:
            meaning = lines[at + below].strip() if not re.match(r"\s{1,14}-", lines[at + below]) else ""
            below += 1
        while meaning and not re.search(r"[.;:]", meaning) and at + below < len(lines) and len(meaning) < 120:
            following = lines[at + below].strip()
            if not following or following.startswith("-"):
                break
            meaning, below = f"{meaning} {following}", below + 1
        for option in re.findall(r"(?:^|(?<=[\s,\[|]))--?[A-Za-z0-9][\w-]*", head):
            if option not in found or not found[option]:
                found[option] = re.split(r"(?<=[a-z)])[.;](?:\s|$)", " ".join(meaning.split()))[0]
    return found


def _output(sandbox: Sandbox, argv: list[str]) -> str:
    from sandbox.contract import Limits
    from sandbox.working_copy import WorkingCopy

    variables = {"PATH": _PATH, "LC_ALL": "C.UTF-8", "TERM": "dumb", "MANPAGER": "cat", "MANWIDTH": "120"}
    with WorkingCopy.of("/", ()) as nothing, suppress(FileNotFoundError):
        limits = Limits(wall_s=_SECONDS, output=4 << 20)
        return sandbox.run(argv, nothing, limits, variables, [one for one in _SETTINGS if one.exists()]).stdout
    return ""
