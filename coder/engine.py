"""Engine: read · write · prove · apply. The one door to all of it, for the command line, the editor and the agent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder import events, parts
from coder.ahead import Ahead
from coder.config import Settings
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Conflict, Failure
from coder.journal import Entry, Journal
from coder.named_tests import first_run, plain_names
from coder.patch import Change, Proposal, Version, plan, unified_diff
from coder.repository import Repository, outside
from coder.repository.interpreter import find_python
from coder.sources import read_sources, repairable
from coder.targets import targets_of

if TYPE_CHECKING:
    from coder.reading import Progress, Read
    from coder.reading_plan import ReadingTask
    from coder.repair.context import Proved, RepairContext
    from coder.repair.describer import Chat
    from coder.repository.git import Git
    from model.chat import ChatModel
    from sandbox.jail import Sandbox
    from sandbox.testing.report import Baseline, Outcome, Tester, Verdict
    from sandbox.working_copy import WorkingCopy

FIX_WINDOW = 4096
"""Tokens of keys and values that a model keeps of what it reads before a repair: all of it."""
Search = Callable[["RepairContext", events.Listener], "Sequence[Proved]"]


@dataclass(frozen=True)
class FixRequest:
    """What to repair and how far to go. `tests` are node ids, files or folders; none means all that fail. `watched`:
    somebody looks at blocks while they fill."""

    tests: tuple[str, ...] = ()
    find_all: bool = False
    allow_test_edits: bool = False
    sandboxed: bool = True
    use_model: bool = True
    watched: bool = False


@dataclass(frozen=True)
class Patch:
    """A proposal that was proved, and what it comes to: the diff is made from it and the user's files."""

    proposal: Proposal
    changes: tuple[Change, ...]
    diff: str
    verdict: Verdict
    tried: int
    seconds: float


@dataclass
class Session:
    """A working copy under test. `files` maps each file that can be repaired to its text as it was copied."""

    tree: WorkingCopy
    tester: Tester
    files: Mapping[str, str]
    hashes: Mapping[str, str]
    baseline: Baseline | None = None


@dataclass
class Engine:
    """One project, opened. `find_sandbox`, `make_tester`, `load_model` and `search` stand for the real ones and can be
    replaced. All methods raise Failure."""

    repository: Repository
    settings: Settings
    state: Path
    python: Path
    listener: events.Listener = events.ignore
    find_sandbox: Callable[[bool], Sandbox] | None = None
    make_tester: Callable[[Sandbox, WorkingCopy, FixRequest], Tester] | None = None
    load_model: Callable[[], tuple[Any, Any]] | None = None
    chat: Callable[[], tuple[ChatModel, str]] | None = None
    """A model on a server and its name, instead of one that runs here."""
    search: Search | None = None
    cancel: threading.Event = field(default_factory=threading.Event)
    unsaved: Mapping[str, bytes] = field(default_factory=dict)
    """What an editor holds of files in place of what is on disk, by path."""

    @classmethod
    def of(
        cls,
        repository: Repository,
        settings: Settings,
        environment: Environment,
        listener: events.Listener = events.ignore,
        base: Path | None = None,
    ) -> Engine:
        """With the interpreter that the settings or the project name (a relative path is meant from `base`, else from
        the project's root), and with the parts that stand in the environment for the real ones."""
        root, own = repository.root, cls.__dataclass_fields__
        python = find_python(root, base or root, settings.python, environment.variables)
        instead = {name: part for name, part in environment.parts.items() if name in own}
        return cls(repository, settings, environment.state_dir, python, listener, **instead)

    @property
    def journal(self) -> Journal:
        return Journal(self.repository.root, self.state)

    # -- read ------------------------------------------------------------------------------------------------------

    @contextmanager
    def session(self, request: FixRequest) -> Iterator[Session]:
        """A working copy of the project in a sandbox, its tests not yet run. A jail that breaks is a Failure."""
        from coder.copying import copied
        from sandbox.contract import SandboxUnavailable

        sandbox = self.sandbox(request.sandboxed)
        if not self.settings.test_command and (above := outside.configuration_advice(self.repository.root)):
            self._notice(above)
        with copied(self.repository, self._notice) as tree:
            for path, data in self.unsaved.items():
                tree.write(path, data)
            root, count = str(self.repository.root), len(self.repository.runtime_files)
            self.listener(events.Start(root, sandbox.level.value, str(self.python), count))
            tester = self.tester(sandbox, tree, request)
            try:
                sources = repairable(self.repository.files, any_language=bool(self.settings.test_command))
                yield Session(tree, tester, *read_sources(tree.root, sources))
            except SandboxUnavailable as error:
                raise Failure(ExitStatus.TESTS_NOT_RUN, str(error)) from error
            finally:
                tester.close()

    def sandbox(self, sandboxed: bool = True) -> Sandbox:
        """The strongest jail that works here."""
        return (self.find_sandbox or parts.find_sandbox)(sandboxed)

    def tester(self, sandbox: Sandbox, tree: WorkingCopy, request: FixRequest) -> Tester:
        """What runs the tests of `tree`; whoever asks closes it."""
        if self.make_tester is not None:
            return self.make_tester(sandbox, tree, request)
        return parts.make_tester(sandbox, tree, self.repository, self.settings, self.python, request.allow_test_edits)

    def open_model(self) -> tuple[Any, Any]:
        """The model that the settings name, and its tokenizer."""
        return parts.open_model(self.settings) if self.load_model is None else self.load_model()

    def read(
        self,
        task: ReadingTask | None = None,
        loaded: tuple[Any, Any] | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
        limit: int | None = None,
    ) -> Read:
        """The memory state of the repository for a task: its stable base first, what the task needs last. What is in
        the store is not read again. `loaded` is a model and its tokenizer that the caller has already."""
        from coder import reading_plan
        from coder.reading import Reading, open_store, state_format

        model, tokenizer = loaded or self.open_model()
        planned = reading_plan.plan(self.repository, task, reading_plan.LIMIT if limit is None else limit)
        reading = Reading.of(self.repository, state_format(model).model_id, planned.order)
        base = len(Reading.of(self.repository, reading.model_id, planned.base).pieces)
        return reading.read(
            model, tokenizer, open_store(self.state), progress=progress, cancel=self.cancel, keep=(base,)
        )

    def reading(
        self, baseline: Baseline, targets: Sequence[str], model: Any, tokenizer: Any, suspects: Sequence[str]
    ) -> Generator[Progress, None, Read]:
        """Reads, in short steps, what a repair of the failing tests needs; the likeliest of the suspects last. Whoever
        works on that file afterwards goes on from there (`coder.resuming`)."""
        from coder.reading import FIX, Reading, open_store, state_format

        order = self._near(baseline, targets, suspects)
        reading = Reading.of(self.repository, state_format(model).model_id, order, FIX)
        return reading.steps(model, tokenizer, open_store(self.state), cancel=self.cancel, window=FIX_WINDOW)

    def _near(self, baseline: Baseline, targets: Sequence[str], suspects: Sequence[str]) -> tuple[str, ...]:
        from coder.reading_plan import near_failure

        failing = [baseline.tests[node] for node in targets]
        ran = dict.fromkeys(path for test in failing for path in test.lines)
        tests = [test.node.partition("::")[0] for test in failing]
        return near_failure(self.repository, ran, suspects, tests)

    # -- write and prove -------------------------------------------------------------------------------------------

    def fix(self, request: FixRequest) -> list[Patch]:
        """Runs the tests, searches, and returns what was proved, best first; empty when nothing was within the limits.

        Raises Failure with NOTHING_FAILING or TESTS_NOT_RUN when there is nothing to repair, with USAGE for tests that
        are not there.
        """
        from coder.repair.context import RepairContext

        names = plain_names(request.tests, self.repository.root, self.settings.test_command)
        own = request.use_model and self.chat is None
        with Ahead(self.open_model) as model, self.session(request) as session:
            baseline = self.run_tests(session, model.start if own else None, names)
            targets = self._targets(baseline, names, request.allow_test_edits)
            context = RepairContext(
                tester=session.tester,
                baseline=baseline,
                files=session.files,
                hashes=session.hashes,
                targets=targets,
                load_model=model if own else None,
                read=partial(self.reading, baseline, targets),
                load_chat=partial(self._chat, baseline, targets) if request.use_model and self.chat else None,
                watched=request.watched,
                timeout_s=self.settings.timeout,
                max_candidates=self.settings.max_candidates,
                find_all=request.find_all,
                allow_tests=request.allow_test_edits,
                cancel=self.cancel,
            )
            patches = [self._patch(proved) for proved in (self.search or parts.search)(context, self.listener)]
        for number, patch in enumerate(patches, 1):
            proof = patch.verdict.summary()
            self.listener(events.PatchFound(number, len(patches), patch.proposal.note, proof, patch.tried, patch.diff))
        return patches

    def run_tests(
        self, session: Session, on_failure: Callable[[], None] | None = None, names: Sequence[str] = ()
    ) -> Baseline:
        """The suite as it is, with what `names` name of it or beside it (`coder.named_tests`). `on_failure` is called
        at each failing test. Raises Failure with TESTS_NOT_RUN, or with INTERRUPTED after the test during which
        `cancel` was set."""

        def progress(done: int, total: int, node: str, outcome: Outcome) -> None:
            if self.cancel.is_set():
                raise Failure(ExitStatus.INTERRUPTED, "stopped while the tests were running")
            self.listener(events.Tested(done, total, node, outcome.value))
            if on_failure is not None and outcome.failing:
                on_failure()

        run = partial(session.tester.baseline, progress=progress)
        session.baseline = first_run(run, session.tree.root, names, self._notice)
        self.listener(events.TestRun.of(session.baseline))
        return session.baseline

    # -- apply -----------------------------------------------------------------------------------------------------

    def apply(self, patch: Patch, commit: bool = False) -> Entry:
        """Writes the patch through the journal. With `commit`, records just these files in git afterwards; what forbids
        that is found before anything is written (see `git_to_commit_to`), and only git itself can refuse later."""
        paths = [change.path for change in patch.changes]
        note = patch.proposal.note or "fix"
        git = self.git_to_commit_to(paths) if commit else None
        entry = self.journal.apply(patch.changes, note)
        reference = ""
        try:
            if git is not None:
                reference = git.commit(paths, f"Fix: {note}\n\n{patch.verdict.summary()}")
        finally:  # the files are written, whatever becomes of the commit
            self.listener(events.Applied(entry.id, entry.paths, reference))
        return entry

    def git_to_commit_to(self, paths: Sequence[str] = ()) -> Git:
        """The git repository of the project. Raises Failure with USAGE where there is none, and Conflict where one of
        `paths` has changes of the user's own, which a commit would take along."""
        git = self.repository.git
        if git is None:
            message = "there is no git repository here that git itself accepts, so nothing to commit to"
            raise Failure(ExitStatus.USAGE, message, "Leave out --commit.")
        if edited := git.modified(paths) if paths else ():
            message = f"not applied: {', '.join(edited)} had changes of your own, which --commit would take along"
            raise Conflict(message, "Commit them first, or leave out --commit.")
        return git

    # -- parts -----------------------------------------------------------------------------------------------------

    def _targets(self, baseline: Baseline, wanted: Sequence[str], any_file: bool) -> tuple[str, ...]:
        advice = outside.editable_advice(baseline.missing_modules, self.python, self.repository.root)
        return targets_of(baseline, wanted, self.repository.files, self.python, self._notice, advice, any_file)

    def _current(self, path: str) -> Version:
        held = self.unsaved.get(path)
        return self.repository.read(path) if held is None else Version(held)

    def _patch(self, proved: Proved) -> Patch:
        changes = plan(proved.proposal, self._current)
        return Patch(
            proved.proposal, tuple(changes), unified_diff(changes), proved.verdict, proved.tried, proved.seconds
        )

    def _chat(self, baseline: Baseline, targets: Sequence[str]) -> Chat:
        """The model that is asked for patches, with what the failing tests ran and the tests themselves, as text."""
        from coder.reading_plan import readable
        from coder.repair.describer import Chat

        assert self.chat is not None
        model, name = self.chat()
        texts = {path: readable(self.repository, path) for path in self._near(baseline, targets, ())}
        return Chat(model, name, {path: text for path, text in texts.items() if text is not None})

    def _notice(self, message: str) -> None:
        self.listener(events.Notice(message))
