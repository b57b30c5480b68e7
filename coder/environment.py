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
from sandbox.text import clean

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
        """For people: progress, questions and errors, on stderr."""
        from rich.console import Console

        return Console(file=self.stderr, highlight=False, emoji=False)

    @cached_property
    def output(self) -> Console:
        """For results, on stdout: no colour and no wrapping when it is not a terminal."""
        from rich.console import Console

        return Console(file=self.stdout, highlight=False, emoji=False, soft_wrap=True)

    # What is told or written may hold what others wrote: a project, a model, a server, a test. Rich leaves most control
    # characters in, so they are taken out here, in the one place.

    def tell(self, message: str) -> None:
        """One plain line for people, on stderr."""
        self.console.print(clean(message), markup=False, soft_wrap=True)

    def write(self, text: str) -> None:
        """A result on stdout, at once: as it is, but without control characters where that is a terminal."""
        self.stdout.write(clean(text) if self.stdout.isatty() else text)
        self.stdout.flush()

    def report(self, failure: Failure) -> None:
        """What went wrong and what to do next, on stderr."""
        self.console.print("error:", style="bold red", end=" ")
        self.tell(failure.message)
        if failure.hint:
            self.tell(failure.hint)

    def ask(self, question: str, answers: Mapping[str, str]) -> str:
        """One of the keys of `answers`, asked for until it is given; the last one at the end of input."""
        choices = " / ".join(f"[{key}]{answer.removeprefix(key)}" for key, answer in answers.items())
        while True:
            self.console.print(f"{clean(question)} {choices}: ", markup=False, end="", soft_wrap=True)
            line = self.stdin.readline()
            if not line:
                return list(answers)[-1]
            if (key := line.strip().casefold()[:1]) in answers:
                return key
