"""The search: candidates written and judged in one thread, brought before the tests in the other, the best first."""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from coder import events
from coder.patch import Proposal
from coder.repair.anew import Anew
from coder.repair.author import Author
from coder.repair.candidate import Base, Candidate, Pool
from coder.repair.complaint import complaint, complaints, innermost
from coder.repair.context import Proved, RepairContext, changed_files, edits_between
from coder.repair.edits.base import Hints
from coder.repair.files import AnySource, parse, understood
from coder.repair.languages import localise as by_command
from coder.repair.languages.tree import TreeSource
from coder.repair.library import Library
from coder.repair.localise import hints, localise
from coder.repair.minimise import minimise
from coder.repair.progress import Course
from coder.repair.singles import Singles
from coder.repair.source import Source
from coder.repair.steps import Failing, Steps
from coder.repair.telling import localized, validation
from sandbox.testing.protected import is_protected
from sandbox.testing.report import Oracle, Trial
from sandbox.trees import parse as parse_tree

# Where a model ranks, the prover waits for the first ordered candidates, for at most this share of the time.
WAIT_SHARE = 0.1
# Files that a test command runs and whose text is read for what they want of the code.
MOST_TEXTS = 20
# A trial is many short waits for the tests' answers: after each, the thread that writes must let go at once.
SWITCH_S = 0.0003
# What is built on another edit needs two slips at once (nats); an edit that made a test pass shows that there are two.
SECOND_SLIP = 2.0


def search(context: RepairContext, listener: events.Listener = events.ignore) -> list[Proved]:
    """Look for patches that make `context.targets` pass and break nothing, until the first is proved, or, with
    `find_all`, until the time is over.

    Runs the tests in the calling thread; the listener is called from both threads. Returns what was proved, best
    score first; an empty list when nothing was. What goes wrong in the model's thread is raised here.
    """
    return Search(context, listener).run()


class Search:
    def __init__(self, context: RepairContext, listener: events.Listener = events.ignore) -> None:
        self._context = context
        self._listener = listener
        self._began = time.monotonic()
        self._sources = dict(_parsed(context))
        failing = [context.baseline.tests[node] for node in context.targets]
        self._base = Base(self._sources, complaints=complaints(failing, self._sources))
        self._pool = Pool(self._sources)
        self._anew = Anew()
        self._steps = Steps()
        self._course = Course(context.baseline, context.targets, self._sources)
        self.tried = 0

    def run(self) -> list[Proved]:
        singles = self._singles()
        author = Author(self._context, singles, self._base, self._pool, self._preface(), self._listener)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_S)
        author.start()
        try:
            return sorted(self._prove(author), key=lambda proved: -proved.score)
        finally:
            author.stop()
            with self._pool.changed:
                self._pool.changed.notify_all()
            author.join()
            sys.setswitchinterval(interval)

    def _singles(self) -> Singles:
        """The single edits of the suspicious functions."""
        context = self._context
        python = {path: source for path, source in self._sources.items() if isinstance(source, Source)}
        others = {path: source for path, source in self._sources.items() if isinstance(source, TreeSource)}
        suspicions = localise(context.baseline, context.targets, python)
        if others:
            tests = list(_command_texts(context).values())
            suspicions += by_command.localise(context.baseline, context.targets, others, tests)
            suspicions.sort(key=lambda suspicion: -suspicion.score)
        self._listener(localized(suspicions, time.monotonic() - self._began))
        library = Library({path: text for path, text in context.files.items() if path.endswith(".py")})
        return Singles(suspicions, self._hints(), library)

    def _hints(self) -> Hints:
        context = self._context
        failing = [context.baseline.tests[node] for node in context.targets]
        found = hints(_test_texts(context), failing)
        for path, text in _command_texts(context).items():
            line = next((frame.line for test in failing for frame in reversed(test.frames) if frame.path == path), 0)
            more = by_command.hints(path, text, line)
            found = Hints(found.numbers + more.numbers, found.strings + more.strings, found.exceptions)
        return found

    def _preface(self) -> str:
        """The failing tests as a comment: what the model reads before the code."""
        texts = [*_test_texts(self._context), *_command_texts(self._context).values()]
        lines = "\n".join(texts).splitlines()[:40]
        marks = [source.comment for source in self._sources.values()]
        mark = max(set(marks), key=marks.count, default="#")
        return "".join(f"{mark} {line}\n" for line in lines if line.strip())[-1600:]

    def _prove(self, author: Author) -> Iterator[Proved]:
        ranked = self._context.load_model is not None and self._context.strategy.ranking
        if ranked:
            author.warm.wait(WAIT_SHARE * self._context.timeout_s)
            author.prompt.set()
        while (candidate := self._next(author)) is not None:
            trial = self._try(candidate)
            author.tried = self.tried
            if not trial.passed:
                self._learn(candidate, trial, author)
                continue
            proved = self._confirm(candidate)
            if proved is not None:
                yield proved
                if not self._context.find_all:
                    return
        if author.failure is not None:
            raise author.failure

    def _next(self, author: Author) -> Candidate | None:
        """The best candidate; None when the search is over: time, trials, cancelled, or nothing left."""
        while self._left > 0 and self.tried < self._context.max_candidates and not self._context.cancel.is_set():
            if author.failure is not None:
                return None
            again = self._anew.due(time.monotonic() - self._began)
            candidate = self._anew.take() if again else self._pool.best() or self._anew.take()
            if candidate is not None:
                return candidate
            if author.idle.is_set() and not len(self._pool):
                return None
            with self._pool.changed:
                if not len(self._pool):
                    self._pool.changed.wait(0.1)
        return None

    @property
    def _left(self) -> float:
        return self._began + self._context.timeout_s - time.monotonic()

    def _try(self, candidate: Candidate) -> Trial:
        self.tried += candidate.hasty
        files = self._files(candidate.base, candidate.files)
        probes = self._course.probes(self.tried)
        nodes = [*probes, *(node for node in self._course.nodes(candidate.proposal.paths) if node not in probes)]
        trial = self._context.tester.trial(files, nodes, candidate.hasty, len(probes))
        if not candidate.hasty:
            self._anew.spent += trial.seconds
        elif trial.stale and not trial.passed:
            self._anew.add(candidate)
        proposal = candidate.proposal
        self._listener(
            events.Candidate(self.tried, proposal.origin, proposal.note, proposal.paths[0], trial.passed, trial.seconds)
        )
        return trial

    def _files(self, base: Base, changed: Mapping[str, str]) -> dict[str, str]:
        """All texts that differ from the files as they are."""
        below = {path: source.text for path, source in base.sources.items() if source is not self._sources[path]}
        return below | dict(changed)

    def _learn(self, candidate: Candidate, trial: Trial, author: Author) -> None:
        """An edit that brings a failing test further, and breaks none, becomes a base for second edits: one for each
        way of failing. A second edit that brings its base further is tried with all that led to the same failure."""
        if trial.timed_out or candidate.proposal.origin == "two edits":
            return
        reached = self._course.reached(trial, candidate.line_before)
        if candidate.base.depth:
            self._pool.add(self._steps.second(candidate, reached))
            return
        failure = Failing(reached, reached.inside, trial.error, trial.message[:200])
        if not reached.beyond(self._course.start) or self._steps.known(candidate, failure):
            return
        files = self._files(candidate.base, candidate.files)
        if self._course.harms(candidate, files, self._context.tester):
            return
        sources = dict(self._sources)
        for path, text in candidate.files.items():
            sources[path] = parse(path, text)
        proven = reached.passed > self._course.start.passed
        handicap = 0.0 if proven else SECOND_SLIP
        now = complaint(trial.error, trial.message, trial.frames, sources)
        told = {now: 1.0} if now is not None else {}
        broke = innermost(trial.frames, sources)
        places = (candidate.hunk[1:3], *([(broke.path, broke.line)] if broke is not None else []))
        base = Base(sources, 1, handicap, candidate.proposal.note, candidate.score - handicap, places, told)
        self._steps.first(candidate, failure, base, self._course.reached(trial))
        author.promise(base)

    def _confirm(self, candidate: Candidate) -> Proved | None:
        """Make the patch small and bring it before the whole suite, in a fresh sandbox."""
        proposal = self._against_files(candidate)
        texts = self._context.files
        if len(proposal.edits) > 1:
            nodes = self._course.nodes(candidate.proposal.paths)
            proposal = minimise(
                proposal, lambda fewer: self._context.tester.trial(changed_files(texts, fewer), nodes).passed
            )
        files = changed_files(texts, proposal)
        verdict = self._context.tester.confirm(files, self._context.repeats, self._context.targets)
        self._listener(validation(proposal, verdict))
        if not verdict.passed:
            return None
        return Proved(proposal, files, verdict, candidate.score, self.tried, time.monotonic() - self._began)

    def _against_files(self, candidate: Candidate) -> Proposal:
        """The candidate as edits of the files as they are, with their hashes."""
        proposal = candidate.proposal
        note = proposal.note
        if candidate.base.depth:
            changed = self._files(candidate.base, candidate.files)
            edits = tuple(
                edit
                for path, text in sorted(changed.items())
                for edit in edits_between(path, self._context.files[path], text)
            )
            proposal = replace(proposal, edits=edits)
            note = f"{candidate.base.note}; {note}"
        hashes = {path: self._context.hash_of(path) for path in proposal.paths}
        return replace(proposal, hashes=hashes, note=note)


def _parsed(context: RepairContext) -> Iterator[tuple[str, AnySource]]:
    """The files that may be edited and that the failing tests have to do with; those that do not parse are left out."""
    ran = {path for node in context.targets for path in context.baseline.tests[node].lines}
    if ran or context.baseline.oracle is Oracle.EVENTS:
        ran |= {frame.path for node in context.targets for frame in context.baseline.tests[node].frames}
    tests = frozenset(context.baseline.test_files)
    editable = [path for path in context.files if context.allow_tests or not (is_protected(path) or path in tests)]
    reached = ran.intersection(editable)
    if context.baseline.oracle is Oracle.EXIT_CODE and not reached:
        texts = list(_command_texts(context).values())
        editable = by_command.likely(editable, context.baseline, context.targets, texts)
    for path in editable:
        if understood(path) and (path in reached or not reached):
            try:
                yield path, parse(path, context.files[path])
            except (SyntaxError, ValueError, RecursionError):
                continue


def _test_texts(context: RepairContext) -> Iterator[str]:
    """The source of the failing test functions."""
    for path in dict.fromkeys(node.partition("::")[0] for node in context.targets):
        text = context.files.get(path)
        if text is None:
            continue
        try:
            tree = parse_tree(text)
        except SyntaxError:
            continue
        names = {node.rpartition("::")[2].partition("[")[0] for node in context.targets if node.startswith(path)}
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        wanted = [function for function in functions if function.name in names]
        called = {n.id for function in wanted for n in ast.walk(function) if isinstance(n, ast.Name)}
        for function in functions:
            if function in wanted or function.name in called:
                yield ast.get_source_segment(text, function) or ""


def _command_texts(context: RepairContext) -> dict[str, str]:
    """The files that the test command runs, where it is such a command that judges; of very many, those first that
    stand in the tracebacks."""
    baseline = context.baseline
    if baseline.oracle is not Oracle.EXIT_CODE:
        return {}
    paths = [path for path in baseline.test_files if path in context.files]
    if len(paths) > MOST_TEXTS:
        framed = {frame.path for node in context.targets for frame in baseline.tests[node].frames}
        paths.sort(key=lambda path: path not in framed)
    return {path: context.files[path] for path in paths[:MOST_TEXTS]}
