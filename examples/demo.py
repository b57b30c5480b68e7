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
    "parcels": "a wrong function, in JavaScript",
}
# How the tests of an example are run where that is not pytest, and the program that this needs.
COMMANDS = {"parcels": ("node test/run.js", "node")}
HERE = Path(__file__).resolve().parent
CODER = Path(sys.executable).with_name("coder")


def repair(repository: Path, console: Console) -> bool:
    """Whether `coder fix --apply` repaired the repository and its own tests pass afterwards."""
    command = COMMANDS.get(repository.name, ("", ""))[0]
    started = time.monotonic()
    options = ["--test-cmd", command] if command else []
    fixed = subprocess.run([CODER, "fix", "--apply", *options, repository]).returncode == 0
    console.print(f"[dim]coder fix took {time.monotonic() - started:.1f} s. The tests, run once more by themselves:[/]")
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    passed = subprocess.run(command.split() or pytest, cwd=repository).returncode == 0
    return fixed and passed


def main() -> int:
    console = Console()
    repaired = 0
    missing = {name: program for name, (_, program) in COMMANDS.items() if not shutil.which(program)}
    examples = {name: bug for name, bug in EXAMPLES.items() if name not in missing}
    with tempfile.TemporaryDirectory(prefix="coder-demo-") as folder:
        for name, bug in examples.items():
            console.rule(f"[bold]{name}[/]: {bug}")
            repository = Path(folder) / name
            shutil.copytree(HERE / name, repository, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
            repaired += repair(repository, console)
    for name, program in missing.items():
        console.print(f"{name} ({EXAMPLES[name]}) was left out: there is no `{program}` on this machine")
    console.rule(f"[bold]{repaired} of {len(examples)} repaired[/]")
    return 0 if repaired == len(examples) else 1


if __name__ == "__main__":
    sys.exit(main())
