"""How many candidates are tried up to the first proved patch, in the model's order and without the model, on identical
candidates: `python -m benchmarks.ranking`.

The candidates are the single tree edits of the likeliest functions. The order without the model is that of
suspiciousness and pattern prior; the model's order reads the best in batches ahead of the prover, as the search does.
Each order is walked until a patch passes the failing tests and is confirmed, or to the cap. Resumable.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import tables
from benchmarks.injected import bugs as listing
from benchmarks.injected.bugs import Bug
from coder import events
from coder.cli.main import main as coder
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.patch import Edit
from coder.repair.author import AHEAD, BATCH
from coder.repair.candidate import Candidate, Pool
from coder.repair.context import Proved, RepairContext
from coder.repair.rank import Reader, score
from coder.repair.search import Search

ROWS = tables.RESULTS / "injected" / "ranking.jsonl"
FUNCTIONS = 12


@dataclass(frozen=True)
class Row:
    """Trials of one bug: None where no patch was proved within the cap. `candidates` in all."""

    id: str
    candidates: int
    model: int | None
    prior: int | None


class Comparison(Search):
    """A search that walks both orders and remembers what each program came to, so that none is run twice."""

    def __init__(self, context: RepairContext, cap: int) -> None:
        super().__init__(context)
        self._cap = cap
        self._outcomes: dict[tuple[Edit, ...], bool] = {}

    def compare(self) -> tuple[int, int | None, int | None]:
        """The number of candidates, and of trials in the model's order and in the other."""
        singles = self._singles()
        groups = [singles.candidates(place, self._base) for place in singles.suspicions[:FUNCTIONS]]
        found = [candidate for group in groups for candidate in group]
        with_model = self._walk(self._by_model(groups))
        return len(found), with_model, self._walk(self._by_prior(found))

    def _by_prior(self, found: Sequence[Candidate]) -> Iterator[Candidate]:
        pool = Pool(self._sources)
        anew = [Candidate(self._base, candidate.proposal, candidate.suspicion) for candidate in found]
        for candidate in anew:
            candidate.score = score(candidate)
        pool.add(anew)
        while (candidate := pool.best()) is not None:
            yield candidate

    def _by_model(self, groups: Sequence[list[Candidate]]) -> Iterator[Candidate]:
        from model.block_scoring import scorer_of

        assert self._context.load_model is not None
        reader = Reader(scorer_of(*self._context.load_model()))
        pool = Pool(self._sources)
        for group in groups:
            for window in reader.windows(group):
                reader.skim(window)
            pool.add(group)
        while True:
            while batch := pool.unread(BATCH, AHEAD):
                reader.read(batch)
                pool.add(batch)
            if (candidate := pool.best()) is None:
                return
            yield candidate

    def _walk(self, order: Iterator[Candidate]) -> int | None:
        for number, candidate in zip(range(1, self._cap + 1), order):
            program = candidate.proposal.edits
            if program not in self._outcomes:
                self._outcomes[program] = self._try(candidate).passed and self._confirm(candidate) is not None
            if self._outcomes[program]:
                return number
        return None


def measure(bug: Bug, cap: int) -> Row:
    """Both orders on one bug. A bug on which the search could not even start counts as unrepaired in both. Raises
    RuntimeError, with what was printed, if the search breaks."""
    rows: list[Row] = []

    def compare(context: RepairContext, listener: events.Listener) -> Sequence[Proved]:
        rows.append(Row(bug.id, *Comparison(context, cap).compare()))
        return []

    with tempfile.TemporaryDirectory(prefix=f"{bug.id}-") as folder:
        state = Path(folder) / "state"
        quiet = io.StringIO()
        environment = Environment(config=state, state=state, stdout=quiet, stderr=quiet, parts={"search": compare})
        root = bug.lay(Path(folder) / bug.package)
        code = coder(["fix", "--json", "--dry-run", "--python", sys.executable, str(root)], environment)
        if code == ExitStatus.INTERNAL_ERROR:
            raise RuntimeError(f"{bug.id}: {quiet.getvalue()[-2000:]}")
    return rows[0] if rows else Row(bug.id, 0, None, None)


def save(rows: Sequence[Row], cap: int) -> None:
    def median(values: Sequence[int | None]) -> float:
        return statistics.median(cap if value is None else value for value in values)

    def found(values: Sequence[int | None]) -> int:
        return sum(value is not None for value in values)

    model, prior = [row.model for row in rows], [row.prior for row in rows]
    table = [
        ("suspiciousness and pattern prior", f"{median(prior):.0f}", found(prior)),
        ("with the model's likelihood", f"{median(model):.0f}", found(model)),
        ("second as a part of the first", f"{median(model) / median(prior):.2f}", ""),
    ]
    note = f"Injected bugs, the fixed forty of the reporting half, n={len(rows)}; unrepaired ones count as {cap}."
    columns = ("order", "candidates to the first proved patch, median", "repaired")
    tables.save("ranking", columns, table, note, "python -m benchmarks.ranking")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cap", type=int, default=2000, help="trials in each order")
    parser.add_argument("--ids", nargs="*", help="other bugs than the fixed forty")
    parser.add_argument("--rows", type=Path, default=ROWS)
    arguments = parser.parse_args()
    bugs = listing.load()
    chosen = [bug for bug in bugs if bug.id in arguments.ids] if arguments.ids else listing.ablation_forty(bugs)
    lines = arguments.rows.read_text().splitlines() if arguments.rows.exists() else []
    done = {row.id: row for row in (Row(**json.loads(line)) for line in lines)}
    arguments.rows.parent.mkdir(parents=True, exist_ok=True)
    for bug in chosen:
        if bug.id not in done:
            done[bug.id] = measure(bug, arguments.cap)
            with arguments.rows.open("a") as file:
                file.write(json.dumps(asdict(done[bug.id])) + "\n")
            print(done[bug.id], flush=True)
    if not arguments.ids:
        save([done[bug.id] for bug in chosen], arguments.cap)


if __name__ == "__main__":
    main()
