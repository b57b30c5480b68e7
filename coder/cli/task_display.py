"""What a person sees of a task: a line or two for each step, on stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from coder import events as shared
from coder.agent import events
from coder.cli.display import print_diff, safe
from coder.environment import Environment

if TYPE_CHECKING:
    from rich.status import Status

_WIDTH = 160
_safe = partial(safe, lines=True)
_MARKS = {"done": "[green]✓[/]", "failed": "[red]✗[/]", "refused": "[yellow]refused:[/]"}


class TaskDisplay:
    """Listens to events. On a terminal a line at the bottom says what is being waited for; `pause` takes it away."""

    def __init__(self, environment: Environment, thinking: bool = False) -> None:
        """`thinking`: whether reasoning is shown whole, or only that there was some."""
        self.environment, self.thinking = environment, thinking
        self._status: Status | None = None

    def pause(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __call__(self, event: shared.Event) -> None:
        self._show(event)
        match event:
            case events.TaskStart() | events.Malformed():
                self._wait("asking the model")
            case events.Observed():
                self._wait("running the tests" if event.tool == "finish" else "asking the model")
            case events.Called():
                self._wait(f"{event.tool} …")
            case events.Handover() | shared.Applied() | shared.Rejected():
                self.pause()

    def _wait(self, text: str) -> None:
        if not self.environment.console.is_terminal or not self.environment.interactive:
            return
        if self._status is None:
            self._status = self.environment.console.status(_safe(text))
            self._status.start()
        self._status.update(_safe(text))

    def _show(self, event: shared.Event) -> None:
        match event:
            case events.TaskStart():
                what = "goes on" if event.resumed else "begins"
                self._line(f"[dim]task {int(event.task)} {what}: {_safe(event.model)}, {event.files} files, "
                           f"sandbox {_safe(event.sandbox)}[/]")  # fmt: skip
            case events.Thought():
                words = len(event.text.split())
                self._line(f"[dim]thinking: {_safe(event.text) if self.thinking else f'{words} words'}[/]")
            case events.Said():
                self._line(_safe(event.text))
            case events.Called():
                self._line(f"[bold]{_safe(event.tool)}[/] {_safe(_short(event.arguments))}")
            case events.Observed() if event.tool != "finish":
                self._line(f"  {_MARKS[event.standing]} [dim]{_safe((event.note or event.text)[:_WIDTH])}[/]")
            case events.Malformed():
                self._line(f"  [yellow]no call:[/] [dim]{_safe(event.problem[:_WIDTH])}[/]")
            case events.Handover():
                self._handover(event)
            case shared.Notice():
                self._line(f"[yellow]note:[/] {_safe(event.message)}")
            case shared.Applied():
                self._line(f"[green]applied[/] to {_safe(', '.join(event.paths))}  [dim]`coder undo` takes it back[/]")

    def _handover(self, event: events.Handover) -> None:
        for command in event.commands:
            self._line(f"[dim]ran: {_safe(' '.join(command['argv'])[:_WIDTH])} ({_safe(command['outcome'])})[/]")
        if event.diff:
            print_diff(self.environment, event.diff)
        for path, reason in event.left_out.items():
            self._line(f"[yellow]left out:[/] {_safe(path)}  [dim]{_safe(reason)}[/]")
        if event.test_files:
            self._line(f"[yellow]changes tests or what configures them:[/] {_safe(', '.join(event.test_files))}")
        if event.paths:
            self._line(f"tests: {_safe(event.tests)}")

    def _line(self, markup: str) -> None:
        self.environment.console.print(markup, soft_wrap=True)


def _short(arguments: Mapping[str, Any]) -> str:
    if isinstance(argv := arguments.get("argv"), list):
        return " ".join(map(str, argv))[:_WIDTH]
    parts = [
        str(value) if name in ("path", "folder") else f"{name}={json.dumps(value)}" for name, value in arguments.items()
    ]
    return " ".join(parts)[:_WIDTH]
