"""What happens during a fix, as it happens: the live display and `--json` are made of these, and of nothing else.

docs/json_events.md explains each field. An event is immutable and plain: strings, numbers, tuples of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from sandbox.testing.report import Baseline


@dataclass(frozen=True)
class Event:
    """Base of all events; `type` is the name on the wire."""

    type: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        return {"type": self.type, **asdict(self)}


Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """A listener for whom nothing matters."""


@dataclass(frozen=True)
class Start(Event):
    """The repository was opened and copied. `sandbox` names the level of the jail."""

    type: ClassVar[str] = "start"
    root: str
    sandbox: str
    python: str
    files: int


@dataclass(frozen=True)
class Notice(Event):
    """Something that the user should know and that ends nothing: flaky tests, tests that need the network."""

    type: ClassVar[str] = "notice"
    message: str


@dataclass(frozen=True)
class Tested(Event):
    """A test of the first run ended. `total` is 0 while it is not known."""

    type: ClassVar[str] = "tested"
    done: int
    total: int
    node: str
    outcome: str


@dataclass(frozen=True)
class TestRun(Event):
    """The whole suite ran before any change: `purpose` is "baseline"."""

    __test__: ClassVar[bool] = False
    type: ClassVar[str] = "test_run"
    purpose: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    failing: tuple[str, ...] = ()

    @classmethod
    def of(cls, baseline: Baseline) -> TestRun:
        from sandbox.testing.report import Outcome

        skipped = sum(test.outcome in (Outcome.SKIPPED, Outcome.XFAILED) for test in baseline.tests.values())
        return cls(
            "baseline", len(baseline.passing), len(baseline.failing), skipped, baseline.seconds, baseline.failing
        )


@dataclass(frozen=True)
class Suspect:
    """A place that may hold the fault; `score` is comparable within one list only."""

    path: str
    line: int
    function: str
    score: float


@dataclass(frozen=True)
class Localized(Event):
    """Where the fault may be, likeliest first."""

    type: ClassVar[str] = "localized"
    suspects: tuple[Suspect, ...]
    seconds: float


@dataclass(frozen=True)
class Block(Event):
    """A block of proposals was written: block `index` of `of`, `proposals` of them in `ms` milliseconds. Where a model
    wrote, `text` is what has settled by then (the likeliest of several) and `where` the file and line."""

    type: ClassVar[str] = "block"
    origin: str
    index: int
    of: int
    proposals: int
    ms: float
    text: str = ""
    where: str = ""


@dataclass(frozen=True)
class Canvas(Event):
    """A block while it fills, told only where somebody watches: `text` with a dot for each mask."""

    type: ClassVar[str] = "canvas"
    where: str
    text: str


@dataclass(frozen=True)
class Thinking(Event):
    """A model on a server is thinking about the failure: so many `characters` by now. None of it is in a patch."""

    type: ClassVar[str] = "thinking"
    model: str
    characters: int


@dataclass(frozen=True)
class Reading(Event):
    """The model reads what a repair needs: `tokens` of `of`, now in the file `path`."""

    type: ClassVar[str] = "reading"
    path: str
    tokens: int
    of: int


@dataclass(frozen=True)
class Candidate(Event):
    """A proposal was tried on the failing tests. `number` counts from 1; `survived` when they pass."""

    type: ClassVar[str] = "candidate"
    number: int
    origin: str
    note: str
    path: str
    survived: bool
    seconds: float


@dataclass(frozen=True)
class Validation(Event):
    """A survivor met the whole suite in a fresh sandbox, `repeats` times."""

    type: ClassVar[str] = "validation"
    note: str
    proved: bool
    now_pass: int
    still_pass: int
    repeats: int
    reason: str = ""


@dataclass(frozen=True)
class PatchFound(Event):
    """A proved patch as it would be applied: `number` of `of`, after `tried` candidates. `proof` is for people."""

    type: ClassVar[str] = "patch"
    number: int
    of: int
    note: str
    proof: str
    tried: int
    diff: str


@dataclass(frozen=True)
class Applied(Event):
    """The files were written. `entry` is the number in `coder log`."""

    type: ClassVar[str] = "applied"
    entry: str
    paths: tuple[str, ...]
    commit: str = ""


@dataclass(frozen=True)
class Rejected(Event):
    """A proved patch was not applied."""

    type: ClassVar[str] = "rejected"
    reason: str


@dataclass(frozen=True)
class Result(Event):
    """The last event, always. `status` is the exit status by name, `exit_code` by number."""

    type: ClassVar[str] = "result"
    status: str
    exit_code: int
    message: str
    seconds: float
    candidates: int = 0
    patches: int = 0
