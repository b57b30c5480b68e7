"""`coder lsp`."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from coder.environment import Environment


def lsp(context: typer.Context) -> None:
    """Serve an editor: inline completion and fixes, by the Language Server Protocol on standard input and output.

    Editors start this themselves; docs/editors.md says how to set each up. Settings are the editor's, in its section
    `coder`.
    """
    environment: Environment = context.obj
    if environment.interactive:
        environment.tell("this speaks with an editor, not with people: see docs/editors.md (Ctrl-C ends)")

    from lsp.features import build

    server = build(environment=environment, kept=environment.state_dir / "lsp")
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with contextlib.redirect_stdout(sys.stderr):  # whoever prints must not speak to the editor
        server.start_io(incoming, outgoing)
