"""What a command touches outside its arguments. Tests put another one in its place and run the program in-process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from coder.failure import Failure

if TYPE_CHECKING:
    from rich.console import Console


@dataclass
class Environment:
    """Streams, variables and folders. A folder of None stands for the user's own by the XDG rules."""

    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    cwd: Path = field(default_factory=Path.cwd)
    config: Path | None = None
    state: Path | None = None
    parts: dict[str, Any] = field(default_factory=dict)
    """What to use instead of the real ones: parts of the engine by the name of its field; `open`, to show a page."""

    @property
    def interactive(self) -> bool:
        """Whether there is somebody to ask: never prompt otherwise."""
        return self.stdin.isatty() and self.stderr.isatty()

    def write(self, text: str) -> None:
        """A result on stdout, at once: as it is, but without control characters where that is a terminal."""
        from sandbox.text import clean

        self.stdout.write(clean(text) if self.stdout.isatty() else text)
        self.stdout.flush()

    @cached_property
    def config_dir(self) -> Path:
        from platformdirs import user_config_path

        return self.config or user_config_path("coder", appauthor=False)

    @cached_property
    def state_dir(self) -> Path:
        """Journal and trust; made private (0700) by whoever writes there."""
        from platformdirs import user_state_path

        return self.state or user_state_path("coder", appauthor=False)

    @cached_property
    def console(self) -> Console:
        """For people: progress, questions and errors, on stderr. `:100:` stays what it is: it is no emoji."""
        from rich.console import Console

        return Console(file=self.stderr, highlight=False, emoji=False, _environ=self.variables)

    @cached_property
    def output(self) -> Console:
        """For results, on stdout: no colour and no wrapping when it is not a terminal."""
        from rich.console import Console

        return Console(file=self.stdout, highlight=False, soft_wrap=True, emoji=False, _environ=self.variables)

    def tell(self, message: str) -> None:
        """One plain line for people, on stderr; control characters that it holds are left out."""
        self._plain(message)

    def report(self, failure: Failure) -> None:
        """What went wrong and what to do next, on stderr."""
        self.console.print("error:", style="bold red", end=" ")
        self._plain(failure.message)
        if failure.hint:
            self._plain(failure.hint)

    def ask(self, question: str, answers: Mapping[str, str]) -> str:
        """One of the keys of `answers`, asked for until it is given; the last one at the end of input."""
        choices = " / ".join(f"[{key}]{answer.removeprefix(key)}" for key, answer in answers.items())
        while True:
            self._plain(f"{question} {choices}: ", end="")
            line = self.stdin.readline()
            if not line:
                return list(answers)[-1]
            if (key := line.strip().casefold()[:1]) in answers:
                return key

    def _plain(self, text: str, end: str = "\n") -> None:
        """Messages quote files, servers and models: what would steer the terminal is taken out of them."""
        from sandbox.text import clean

        self.console.print(clean(text), markup=False, end=end, soft_wrap=True)
