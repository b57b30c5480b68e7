"""A real server process with a toy model: `python toy_server.py TEXT_FILE PAUSE HOME`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main() -> None:
    from coder.environment import Environment
    from lsp.server import build
    from tests.lsp.parrot import Parrot
    from tests.model.toy import ByteTokenizer

    text, pause, home = Path(sys.argv[1]).read_text(), float(sys.argv[2]), Path(sys.argv[3])

    def load(name: str, precision: str) -> tuple[Any, Any]:
        return Parrot(text, pause), ByteTokenizer()

    environment = Environment(config=home / "config", state=home / "state")
    build(load, environment, kept=home / "kept").start_io()


if __name__ == "__main__":
    main()
