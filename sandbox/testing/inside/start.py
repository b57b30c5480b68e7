"""`python start.py REQUEST_FD REPLY_FD`: loads this folder as a private package and serves until the pipe closes."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

PACKAGE = "_coder_inside"


def load() -> None:
    """Make this folder importable as PACKAGE and nothing in it importable by its short name."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    load()
    importlib.import_module(PACKAGE + ".server").main(int(sys.argv[1]), int(sys.argv[2]))
