"""Copies the example repositories to a temporary folder, repairs each with `coder fix --apply`, and runs their tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

EXAMPLES = {
    "timesheet": "an operator slip",
    "storefront": "a wrong name from another module",
    "logsieve": "a missing guard",
}
HERE = Path(__file__).resolve().parent
CODER = Path(sys.executable).with_name("coder")


def repair(repository: Path, console: Console) -> bool:
    """Whether `coder fix --apply` repaired the repository and its own tests pass afterwards."""
    started = time.monotonic()
    fixed = subprocess.run([CODER, "fix", "--apply", repository]).returncode == 0
    console.print(
        f"[dim]coder fix took {time.monotonic() - started:.1f} s. The tests, run once more with plain pytest:[/]"
    )
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    passed = subprocess.run(pytest, cwd=repository).returncode == 0
    return fixed and passed


def main() -> int:
    console = Console()
    repaired = 0
    with tempfile.TemporaryDirectory(prefix="coder-demo-") as folder:
        for name, bug in EXAMPLES.items():
            console.rule(f"[bold]{name}[/]: {bug}")
            repository = Path(folder) / name
            shutil.copytree(HERE / name, repository, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
            repaired += repair(repository, console)
    console.rule(f"[bold]{repaired} of {len(EXAMPLES)} repaired[/]")
    return 0 if repaired == len(EXAMPLES) else 1


if __name__ == "__main__":
    sys.exit(main())
