"""Makes fix.svg, the picture of the README, from a real run: `python docs/pictures/record.py`."""

from __future__ import annotations

import io
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.status import Status

from coder.cli.main import main
from coder.environment import Environment

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / "examples" / "timesheet"


class Screen(Console):
    """Records the lines that stay; the moving status goes elsewhere."""

    def status(self, *arguments: Any, **options: Any) -> Status:
        return Console(file=io.StringIO()).status(*arguments, **options)


def record(folder: Path) -> int:
    """Repair the example in `folder`; returns the exit status of the fix."""
    shutil.copytree(EXAMPLE, folder / EXAMPLE.name, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    screen = Screen(record=True, file=io.StringIO(), force_terminal=True, width=132, highlight=False)
    screen.print("[bold]$ coder fix --apply[/]")
    environment = Environment(cwd=folder / EXAMPLE.name, config=folder / "config", state=folder / "state")
    environment.__dict__ |= {"console": screen, "output": screen}
    status = main(["fix", "--apply"], environment)
    svg = re.sub(r"@font-face \{.*?\}", "", screen.export_svg(title="coder fix"), flags=re.DOTALL)  # no fonts from afar
    (HERE / "fix.svg").write_text(svg)
    return status


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="coder-") as name:
        sys.exit(record(Path(name)))
