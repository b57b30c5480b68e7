"""What happens during a task, as it happens: the display and `coder do --json` are made of these and of the shared
`notice`, `applied` and `rejected`. docs/agent.md explains each field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from coder.events import Event


@dataclass(frozen=True)
class TaskStart(Event):
    """A task begins, or goes on (`resumed`)."""

    type: ClassVar[str] = "start"
    task: str
    request: str
    root: str
    model: str
    sandbox: str
    files: int
    resumed: bool = False


@dataclass(frozen=True)
class Thought(Event):
    """The model's reasoning before an answer."""

    type: ClassVar[str] = "thought"
    step: int
    text: str


@dataclass(frozen=True)
class Said(Event):
    """What the model says beside its calls."""

    type: ClassVar[str] = "said"
    step: int
    text: str


@dataclass(frozen=True)
class Called(Event):
    """The model wants a tool called."""

    type: ClassVar[str] = "call"
    step: int
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Observed(Event):
    """What became of the call: `standing` is done, failed or refused. `text` is what the model was told, shortened."""

    type: ClassVar[str] = "observation"
    step: int
    tool: str
    standing: str
    note: str
    text: str


@dataclass(frozen=True)
class Malformed(Event):
    """An answer without a call that could be made; `problem` went back to the model."""

    type: ClassVar[str] = "malformed"
    step: int
    problem: str


@dataclass(frozen=True)
class Handover(Event):
    """The end of the work: one diff, what is left out of it, the commands that ran, and what the tests say."""

    type: ClassVar[str] = "diff"
    paths: tuple[str, ...]
    diff: str
    left_out: Mapping[str, str]
    commands: tuple[Mapping[str, Any], ...]
    tests: str
    test_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskResult(Event):
    """The last event, always. `status` is the exit status by name, `exit_code` by number."""

    type: ClassVar[str] = "result"
    status: str
    exit_code: int
    message: str
    task: str = ""
    seconds: float = 0.0
    steps: int = 0
    tokens: int = 0
