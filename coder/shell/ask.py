"""A shell question answered: what to type, why, and what it would do, found out on a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder.shell import choose, expect
from coder.shell.confidence import GLANCE, SURE, confidence, evidence
from coder.shell.examples import Index
from coder.shell.explain import Part, explain
from coder.shell.manual import Manual
from coder.shell.mend import mended
from coder.shell.propose import Proposal, Question, propose, understand
from coder.shell.safety import Effect, Safety, classify
from coder.shell.tree import Tree
from coder.shell.trial import Outcome, Trials

if TYPE_CHECKING:
    from sandbox.jail import Sandbox

PROPOSED = 60  # commands that are looked at more closely
TRIED = 48  # commands that are run
MENDED = 8  # of those that failed, how many are run again as their complaints say how to mend them
FAINT = 0.2  # below this confidence the model is asked too: where examples know better, its word makes answers worse
EXPECTED = 0.5  # weight of what the question lets one expect, tuned on InterCode's first file system


@dataclass(frozen=True)
class Parts:
    """What an answer is made with. `model`: loads (model, tokenizer); None to do without. `place`: where the user sees
    the root of the tree, if not where it is."""

    sandbox: Sandbox | None = None
    model: Callable[[], tuple[Any, Any]] | None = None
    place: Path | None = None
    manual: Manual | None = None
    """None: the user's own, read in the sandbox."""
    index: Index | None = None
    """None: the worked examples that ship with the package."""


@dataclass(frozen=True)
class Answer:
    """`command` is empty when it is not known; `guess` is then what came nearest, not to be run unread.

    `explanation`: program by program. `outcome`: what it printed and changed on the copy, None if it was not run there;
    `safety` says why. `confidence` in [0, 1]: see `coder.shell.confidence`. `alternatives` do something else, inside
    the project. `whole`: the copy was of everything. `evidence`: what the confidence is made of.
    """

    command: str
    guess: str
    safety: Safety
    explanation: tuple[Part, ...]
    outcome: Outcome | None
    confidence: float
    alternatives: tuple[str, ...]
    whole: bool
    evidence: Mapping[str, float] = field(default_factory=dict)


def ask(question: str, tree: Tree, parts: Parts) -> Answer:
    """Nothing runs outside the jail, and the user's files are not touched. The model is loaded only where it is needed.

    Raises SandboxUnavailable when a jail is given and breaks, OSError when the tree cannot be copied.
    """
    place = parts.place or tree.root
    manual = parts.manual or Manual.of_user(parts.sandbox)
    asked = understand(question, tree.names, place, parts.index)
    proposals = propose(asked, manual.possible, PROPOSED)
    answer = _chosen(asked, proposals, tree, parts, manual)
    if parts.model is None or answer.confidence >= FAINT:
        return answer
    from coder.shell.reader import reread

    read = _chosen(asked, reread(asked, proposals, *parts.model(), manual), tree, parts, manual)
    return max(answer, read, key=lambda one: one.confidence)


def _chosen(asked: Question, proposals: list[Proposal], tree: Tree, parts: Parts, manual: Manual) -> Answer:
    """The best of the proposals, by what they say and by what they do on the copy."""
    place = parts.place or tree.root
    safeties = {one.command: classify(one.command, place) for one in proposals}
    tried = [one for one in proposals if "whole project" not in safeties[one.command].reason][:TRIED]
    with _runner(tree, parts) as run:
        outcomes = run([one.command for one in tried if safeties[one.command].effect is not Effect.REFUSED])
        again = []
        for one in islice(_mended(tried, outcomes, tree, place), MENDED):
            safety = classify(one.command, place)
            if one.command not in safeties and safety.effect is not Effect.REFUSED and manual.possible(one.command):
                safeties[one.command] = safety
                again.append(one)
        outcomes |= run([one.command for one in again])
    tried += again
    groups = choose.clusters(_weighed(asked, tried, outcomes), [outcomes.get(one.command) for one in tried])
    if not groups:
        return Answer("", "", Safety(Effect.REFUSED, "nothing like it is known"), (), None, 0.0, (), tree.whole)
    best = groups[0]
    command = best.proposals[0].command
    found = evidence(asked, best)
    sure = confidence(found)
    harmless = safeties[command].effect is Effect.READS and not (best.outcome and best.outcome.changes)
    others = [group.proposals[0].command for group in groups[1:]]
    others = [one for one in others if safeties[one].effect is not Effect.REFUSED][:3]
    return Answer(
        command if sure >= (GLANCE if harmless else SURE) else "",
        command,
        safeties[command],
        tuple(explain(command, manual)),
        best.outcome,
        sure,
        tuple(others),
        tree.whole,
        found,
    )


def _weighed(asked: Question, tried: list[Proposal], outcomes: dict[str, Outcome | None]) -> list[Proposal]:
    """With what happened counted in."""
    judge = expect.fit(asked.sentence, asked.literals)
    met = [(one, outcomes.get(one.command)) for one in tried]
    return [
        replace(one, worth=one.worth + EXPECTED * judge(one.command, outcome)) if outcome else one
        for one, outcome in met
    ]


def _mended(
    tried: Sequence[Proposal], outcomes: Mapping[str, Outcome | None], tree: Tree, place: Path
) -> Iterator[Proposal]:
    """The best of those that failed, as their complaints say that they should have been."""
    ran = [(one, outcome) for one in tried if (outcome := outcomes.get(one.command)) is not None]
    failed = [(one, outcome) for one, outcome in ran if outcome.returncode != 0 or outcome.stderr.strip()]
    paths = {*tree.files, *tree.modes}
    for one, outcome in failed:
        command = mended(one.command, outcome.stderr, paths, place)
        if command != one.command:
            yield replace(one, candidate=replace(one.candidate, command=command))


@contextmanager
def _runner(tree: Tree, parts: Parts) -> Iterator[Callable[[list[str]], dict[str, Outcome | None]]]:
    """What runs commands on the copy; without a jail it runs none."""
    if parts.sandbox is None:
        yield lambda commands: {}
        return
    with Trials(parts.sandbox, tree, parts.place) as trials:
        yield lambda commands: dict(zip(commands, trials.run(commands)))
