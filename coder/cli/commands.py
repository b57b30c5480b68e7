"""The commands by name: where each lives and what it is for. A new command is a line here.

The target is a function, or a `typer.Typer` where a command has commands of its own. It is imported when the command is
used, not before: `coder --help` must not wait for a model library.
"""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "fix": ("coder.cli.fix:app", "Repair failing tests: find the fault, write a patch, prove it, apply it."),
    "do": ("coder.cli.do:do", "Carry out a task on a copy and hand over one diff."),
    "tasks": ("coder.cli.tasks:app", "List, show and resume the tasks of `coder do`."),
    "undo": ("coder.cli.undo:undo", "Take the latest change back."),
    "redo": ("coder.cli.undo:redo", "Make the change that was undone again."),
    "log": ("coder.cli.log:log", "List the changes made here."),
    "trust": ("coder.cli.trust:trust", "Let this project's own files set things."),
    "config": ("coder.cli.config:config", "Show all settings and where each comes from."),
    "doctor": ("coder.cli.doctor:doctor", "Check the sandbox and the rest of the installation."),
    "model": ("coder.cli.model:app", "Fetch, list and inspect models."),
    "memory": ("coder.cli.memory:app", "Show, build and clear what models have read of your projects."),
    "generate": ("coder.cli.generate:generate", "Write text or code with a local model."),
    "mcp": ("coder.cli.mcp:mcp", "Offer fix, prove, complete and do to other assistants (MCP)."),
    "serve": ("coder.cli.serve:serve", "Serve a local model to other programs."),
    "lsp": ("lsp.command:lsp", "Serve an editor: inline completion and fixes."),
}
