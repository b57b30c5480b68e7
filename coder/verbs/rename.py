"""Renaming by the tree alone: a parameter or variable of a function, or a function or class everywhere."""

from __future__ import annotations

import ast
import keyword
import re

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Edit, Proposal
from coder.repair.source import FunctionNode
from coder.repair.text import Text
from coder.verbs.asked import Wish
from coder.verbs.callers import Callers
from coder.verbs.everywhere import Everywhere
from coder.verbs.project import Found, Project
from coder.verbs.renaming import heed_decorators, renamed
from coder.verbs.scopes import Unclear, binds, bound, uses

_BY_TEXT = frozenset(("eval", "exec", "locals", "vars"))
_BY_HAND = "Rename it in your editor, or name a stronger model: --endpoint URL."


def rename(project: Project, wish: Wish) -> Proposal:
    """Raises Failure: with USAGE for names that are not there or cannot be taken, with NOT_FINISHED where the tree does
    not say what is meant."""
    if not wish.new.isidentifier() or keyword.iskeyword(wish.new) or wish.new == wish.old:
        raise Failure(ExitStatus.USAGE, f"{wish.new} cannot be the new name")
    found = project.find(wish)
    old = found.node.name if wish.verb == "rename" else wish.old
    try:
        if any(name.startswith("__") and not name.endswith("__") for name in (old, wish.new)):
            raise Unclear("a name that begins with __ means something else inside of classes")
        if wish.verb == "rename in":
            edits = _inside(project, found, old, wish.new)
        else:
            edits = Everywhere(project, found).edits(wish.new)
    except Unclear as why:
        raise Failure(ExitStatus.NOT_FINISHED, f"not renamed: {why}", _BY_HAND) from None
    hashes = {edit.span.path: project.hashes[edit.span.path] for edit in edits}
    place = f" in {found.qualified}" if wish.verb == "rename in" else ""
    return Proposal(tuple(edits), hashes, "rename", note=f"rename {old} to {wish.new}{place}")


def left(project: Project, proposal: Proposal, old: str, everywhere: bool = False) -> list[str]:
    """Places where the old name stands and stays: as a word in the files that a renaming edits; `everywhere`: also at
    the end of a dotted text in all others, by which it may be looked up."""
    found = []
    word, dotted = rf"(?<![\w.]){re.escape(old)}(?!\w)", rf"(?<=\w[.:]){re.escape(old)}(?=['\"])"
    for path in sorted(project.files) if everywhere else proposal.paths:
        text = Text(path, project.files[path])
        edited = {edit.span.start for edit in proposal.edits if edit.span.path == path}
        for match in re.finditer(f"{word}|{dotted}" if edited else dotted, text.text):
            if match.start() not in edited:
                found.append(f"{path}:{text.line_of(match.start())}")
    return list(dict.fromkeys(found))


def _inside(project: Project, found: Found, old: str, new: str) -> list[Edit]:
    source, node = found.source, found.node
    assert isinstance(node, FunctionNode)
    if not binds(node, old):
        hint = f"It has: {', '.join(bound(node)) or 'none at all'}."
        raise Failure(ExitStatus.USAGE, f"{found.qualified} has no parameter or variable called {old}", hint)
    nodes = uses(node, old)
    if any(isinstance(one, ast.alias) for one in nodes):
        raise Unclear(f"{old} is imported in {found.qualified}")
    if any(isinstance(one, ast.Call) and _reads_names(one) for one in ast.walk(node)):
        raise Unclear(f"{found.qualified} looks names up by their texts")
    edits = renamed(source, nodes, old, new, node)
    if old not in [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]:
        return edits
    heed_decorators(node, old)
    return [*edits, *Callers(project, found, old, new).edits()]


def _reads_names(call: ast.Call) -> bool:
    """Whether a call looks up names of the scope that it stands in."""
    name = getattr(call.func, "id", "")
    return name in _BY_TEXT and not (name == "vars" and call.args)
