"""An edit that the embedded default makes by itself: proposed, tried with the tests on a copy, handed over as one diff.

Of what a model writes several texts are tried, until one passes; of what the tree says there is one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coder import events as shared
from coder.agent import events
from coder.agent.verdict import Tests, Verdict
from coder.agent.workspace import Harvest, Workspace
from coder.engine import Engine
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.journal import Entry
from coder.patch import Proposal, plan, unified_diff
from coder.sources import read_sources, repairable
from coder.targets import some
from coder.verbs.asked import Wish
from coder.verbs.project import Project
from coder.verbs.rename import left, rename
from coder.verbs.writing import write
from sandbox.contract import Limits

if TYPE_CHECKING:
    from model.decoding.request import Cancel


@dataclass(frozen=True)
class Edited:
    """One proposal, what it comes to in files, and what the tests say of it. `name`: of the function."""

    name: str
    proposal: Proposal
    harvest: Harvest
    verdict: Verdict

    @property
    def failing(self) -> tuple[str, ...]:
        """The tests that run the new lines and fail."""
        return tuple(node for node in self.verdict.failing if node in (self.verdict.running or ()))

    @property
    def objection(self) -> str:
        """Why it is not to be applied unless somebody who has read this says so; empty where nothing speaks against."""
        if self.verdict.worse:
            return str(self.verdict)
        return f"{self.name} is run by tests that fail: {some(self.failing)}" if self.failing else ""

    @property
    def tests(self) -> str:
        """What the tests say, and whether they can say anything of this."""
        if self.failing or self.verdict.running is None:
            return self.objection or str(self.verdict)
        count = len(self.verdict.running)
        return f"{self.verdict}; {count or 'no'} test{'s run' if count > 1 else ' runs'} {self.name}"


@dataclass(frozen=True)
class _Until:
    """A flag that is set once a time is over, or another flag is."""

    end: float
    other: Cancel

    def is_set(self) -> bool:
        return self.other.is_set() or time.monotonic() > self.end


def edit(engine: Engine, wish: Wish, seconds: float) -> Edited:
    """The first that nothing speaks against, else the one that least does. The diff and what else there is to say of it
    are told to the engine's listener. Raises Failure: USAGE for names that are not there and functions that cannot be
    treated so, NOT_FINISHED where there is nothing to propose."""
    end = time.monotonic() + seconds
    with Workspace(engine.repository, engine.sandbox(), engine.python, Limits()) as workspace:
        files = repairable(engine.repository.files, any_language=False)
        project = Project(*read_sources(workspace.original.root, files))
        tests = Tests(engine, workspace, lambda: max(0.0, end - time.monotonic()))
        best: Edited | None = None
        for proposal in _proposals(engine, project, wish, _Until(end, engine.cancel)):
            tried = _tried(engine, project, tests, wish, proposal)
            if best is None or _rank(tried) < _rank(best):
                best = tried
            if not tried.objection or time.monotonic() > end:
                break
        if best is None:
            raise _nothing(wish, seconds if time.monotonic() > end else 0.0)
        _tell(engine, project, tests, wish, best)
        return best


def apply(engine: Engine, edited: Edited) -> Entry:
    """Writes the changes through the journal. Raises Failure."""
    entry = engine.journal.apply(edited.harvest.changes, f"do: {edited.proposal.note}")
    engine.listener(shared.Applied(entry.id, entry.paths))
    return entry


def _proposals(engine: Engine, project: Project, wish: Wish, cancel: Cancel) -> Iterator[Proposal]:
    if wish.verb in ("rename", "rename in"):
        yield rename(project, wish)
    else:
        yield from write(project, wish, engine.open_model, cancel)


def _tried(engine: Engine, project: Project, tests: Tests, wish: Wish, proposal: Proposal) -> Edited:
    try:
        harvest = Harvest(tuple(plan(proposal, engine.repository.read)), {})
    except UnicodeEncodeError as error:
        lacking = error.object[error.start : error.end]
        message = f"{', '.join(proposal.paths)} cannot hold {lacking}: the encoding is {error.encoding}"
        raise Failure(ExitStatus.NOT_FINISHED, message) from None
    lines: tuple[int, ...] = ()
    if wish.verb in ("complete", "rewrite"):
        edit = proposal.edits[0]
        first = project.files[edit.span.path].count("\n", 0, edit.span.start) + 1
        lines = tuple(range(first, first + edit.replacement.count("\n") + 1))
    return Edited(wish.name, proposal, harvest, tests.verdict(harvest, proposal.paths[0], lines))


def _rank(edited: Edited) -> tuple[bool, int, int, int]:
    verdict = edited.verdict
    return verdict.worse, len(edited.failing), len(verdict.broken), len(verdict.failing)


def _tell(engine: Engine, project: Project, tests: Tests, wish: Wish, edited: Edited) -> None:
    changed = tuple(path for path in edited.proposal.paths if tests.are_in(path))
    old = wish.old.rpartition(".")[2]
    if not old and not (wish.verb == "describe" and wish.goal):
        message = "the embedded model wrote this; whether it is what you asked for, only you can tell"
        engine.listener(shared.Notice(message))
    elif places := left(project, edited.proposal, old, wish.verb == "rename") if old else []:
        message = f"{old} stays in comments, strings and where it means something else: {some(places)}"
        engine.listener(shared.Notice(message))
    diff = unified_diff(edited.harvest.changes)
    engine.listener(events.Handover(edited.proposal.paths, diff, {}, (), edited.tests, changed))


def _nothing(wish: Wish, seconds: float) -> Failure:
    """`seconds`: those that it had, where they are over."""
    if seconds:
        message = f"the embedded model wrote nothing for {wish.name} that may be shown within {seconds:g} s"
        return Failure(ExitStatus.NOT_FINISHED, message, "Give it more time with --timeout.")
    what = f"docstring for {wish.name} that says more than its name does"
    if wish.verb != "describe":
        other = "other " * (wish.verb == "rewrite")
        what = f"{other}body for {wish.name} that parses, whose names mean something there"
        what += ", and that uses what it was to use" * bool(other and wish.goal)
    message = f"the embedded model found no {what}"
    return Failure(ExitStatus.NOT_FINISHED, message, "It is a small one. Name a stronger one: --endpoint URL.")
