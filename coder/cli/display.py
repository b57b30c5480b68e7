"""What a person sees of a fix: one live status on stderr that shows what is going on, then lines that stay."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from coder import events
from coder.environment import Environment
from sandbox.text import visible

if TYPE_CHECKING:
    from rich.status import Status

_SUSPECTS_SHOWN = 3
_LINES_WATCHED = 8


class Display:
    """Listens to events; a context manager while there is something to show. Without a terminal it prints the lines
    that stay and no others. `watch`: shows what the model writes below the status."""

    def __init__(self, environment: Environment, watch: bool = False) -> None:
        self.environment = environment
        self.watch = watch
        self.console = environment.console
        self._status: Status | None = None
        self._begun = 0.0

    def __enter__(self) -> Display:
        if self.console.is_terminal:
            self._status = self.console.status("Copying the project")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __call__(self, event: events.Event) -> None:
        match event:
            case events.Start():
                self._line(f"[dim]{safe(event.root)}: {event.files} files, sandbox {safe(event.sandbox)}[/]")
                self._doing("Running the tests")
            case events.Tested():
                of = f" of {event.total}" if event.total else ""
                self._doing(f"Running the tests: {event.done}{of}  [dim]{safe(event.node)}[/]")
            case events.TestRun():
                self._test_run(event)
            case events.Notice():
                self._line(f"[yellow]note:[/] {safe(event.message)}")
            case events.Localized():
                self._localized(event)
            case events.Reading():
                self._doing(f"Reading: {event.tokens:,} of {event.of:,} tokens  [dim]{safe(event.path)}[/]")
            case events.Thinking():
                self._doing(f"{safe(event.model)} is thinking: {event.characters:,} characters")
            case events.Block():
                where = f"  [dim]{safe(event.where)}[/]" if event.where else ""
                self._doing(f"Writing ({safe(event.origin)}): block {event.index} of {event.of}{where}", event.text)
            case events.Canvas():
                self._doing(f"Writing  [dim]{safe(event.where)}[/]", event.text)
            case events.Candidate():
                self._candidate(event)
            case events.Validation() if not event.proved:
                self._line(f"  [red]✗[/] {safe(event.note)}  [dim]{safe(event.reason)}[/]")
            case events.Applied():
                commit = f", commit {event.commit}" if event.commit else ""
                self._line(
                    f"[green]applied[/] to {safe(', '.join(event.paths))}{commit}  [dim]`coder undo` takes it back[/]"
                )

    def _test_run(self, event: events.TestRun) -> None:
        parts = [f"[red]{event.failed} failing[/]", f"{event.passed} passing"]
        if event.skipped:
            parts.append(f"{event.skipped} skipped")
        self._line(f"tests: {', '.join(parts)}, {event.seconds:.1f} s")
        for node in event.failing[:5]:
            self._line(f"  [red]✗[/] {safe(node)}")
        if len(event.failing) > 5:
            self._line(f"  [dim]and {len(event.failing) - 5} more[/]")
        self._doing("Looking for the fault")

    def _localized(self, event: events.Localized) -> None:
        places = [f"{s.path}:{s.line}{f' {s.function}' if s.function else ''}" for s in event.suspects]
        if places:
            self._line(f"suspects: {safe(', '.join(places[:_SUSPECTS_SHOWN]))}")
        self._begun = time.monotonic()
        self._doing("Writing candidates")

    def _candidate(self, event: events.Candidate) -> None:
        rate = event.number / max(time.monotonic() - self._begun, 0.1) if self._begun else 0.0
        mark = "[green]✓[/]" if event.survived else " "
        text = f"{event.number} candidates, {rate:.0f}/s {mark} [dim]{safe(event.path)}: {safe(event.note)}[/]"
        self._doing(f"Proving {text}" if event.survived else f"Trying: {text}")

    def _doing(self, markup: str, written: str = "") -> None:
        if self._status is not None:
            from rich.text import Text

            text = Text.from_markup(markup, emoji=False, overflow="ellipsis")
            text.no_wrap = True
            if self.watch and written.strip():
                lines = written.rstrip().split("\n")[-_LINES_WATCHED:]
                text.append("".join(f"\n    {plain(line)}" for line in lines), style="cyan")
            self._status.update(text)

    def _line(self, markup: str) -> None:
        self.console.print(markup, soft_wrap=True)


def print_diff(environment: Environment, diff: str) -> None:
    """The diff on stdout: in colour on a terminal, its control characters written out; else byte for byte what
    `git apply` takes."""
    if not environment.stdout.isatty():
        environment.stdout.write(diff)
        return
    from rich.syntax import Syntax

    shown = visible(diff)
    environment.output.print(Syntax(shown, "diff", theme="ansi_dark", background_color="default", word_wrap=True))


def safe(text: str, lines: bool = False) -> str:
    """`text` without control characters and without meaning to rich's markup; `lines`: its line ends stay."""
    from rich.markup import escape

    return escape(plain(text, lines))


def plain(text: str, lines: bool = False) -> str:
    """`text` with a space for each control character; `lines`: its line ends stay."""
    return "".join(char if char.isprintable() or (lines and char == "\n") else " " for char in text)
