"""One `coder fix --json --apply` with parts of its search switched off: `python -m benchmarks.injected.once MODE …`.

It is the program itself, run in this process; only the strategy of the search is put in.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coder import events
from coder.cli.main import main
from coder.environment import Environment
from coder.repair.context import Proved, RepairContext, Strategy
from coder.repair.search import search

MODES = {
    "full": Strategy(),
    "no-ranking": Strategy(ranking=False),
    "tree-edits": Strategy(rewriting=False),
    "block-writing": Strategy(memory=False),
    "rewriting": Strategy(tree_edits=False),
}


def searching(strategy: Strategy) -> Any:
    def run(context: RepairContext, listener: events.Listener) -> Sequence[Proved]:
        return search(replace(context, strategy=strategy), listener)

    return run


if __name__ == "__main__":
    mode, state, *arguments = sys.argv[1:]
    own = Environment(config=Path(state), state=Path(state), parts={"search": searching(MODES[mode])})
    sys.exit(main(["fix", "--json", "--apply", *arguments], own))
