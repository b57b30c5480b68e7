"""Breaks the applying of a patch in every way and counts how often the tree was not whole afterwards (never, we hope).

python -m benchmarks.journal_faults [--files 50] [--kills 200]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.coder.faults import fault_everywhere, kill_midway


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--kills", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        for kind in ("error", "late", "full", "crash", "torn"):
            begun = time.perf_counter()
            calls = fault_everywhere(base / kind, kind, "apply", options.files)
            print(
                f"{kind:8} {calls} system calls broken one by one: always whole ({time.perf_counter() - begun:.0f} s)"
            )
        begun = time.perf_counter()
        hit = sum(kill_midway(base / f"{seed}", options.files, seed) for seed in range(options.kills))
        print(
            f"kill -9  {options.kills} times, {hit} of them midway: always whole ({time.perf_counter() - begun:.0f} s)"
        )


if __name__ == "__main__":
    main()
