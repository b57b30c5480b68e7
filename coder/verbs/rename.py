"""Renaming by the tree alone: a parameter or variable of a function, or a function or class everywhere."""

from __future__ import annotations

import ast
import keyword
import re

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Edit, Proposal
from coder.repair.source import FunctionNode, Source
from coder.verbs.asked import Wish
from coder.verbs.everywhere import Everywhere
from coder.verbs.project import Found, Project
from coder.verbs.renaming import renamed
from coder.verbs.scopes import Unclear, binds, bound, uses

_BY_HAND = "Rename it in your editor, or name a stronger model: --endpoint URL."


def rename(project: Project, wish: Wish) -> Proposal:
    """Raises Failure: with USAGE for names that are not there or cannot be taken, with NOT_FINISHED where the tree does
    not say what is meant."""
    if not wish.new.isidentifier() or keyword.iskeyword(wish.new) or wish.new == wish.old:
        raise Failure(ExitStatus.USAGE, f"{wish.new} cannot be the new name")
    found = project.find(wish)
    old = found.node.name if wish.verb == "rename" else wish.old
    try:
        if wish.verb == "rename in":
            edits = _inside(project, found, old, wish.new)
        else:
            edits = Everywhere(project, found, wish.new).edits()
    except Unclear as why:
        raise Failure(ExitStatus.NOT_FINISHED, f"not renamed: {why}", _BY_HAND) from None
    hashes = {edit.span.path: project.hashes[edit.span.path] for edit in edits}
    place = f" in {found.qualified}" if wish.verb == "rename in" else ""
    return Proposal(tuple(edits), hashes, "rename", note=f"rename {old} to {wish.new}{place}")


def left(project: Project, proposal: Proposal, old: str) -> list[str]:
    """Places, in the files that a renaming edits, where the old name stands as a word and stays."""
    found = []
    for path in proposal.paths:
        source = Source(path, project.files[path])
        edited = {edit.span.start for edit in proposal.edits if edit.span.path == path}
        for match in re.finditer(rf"(?<![\w.]){re.escape(old)}(?!\w)", source.text):
            if match.start() not in edited:
                found.append(f"{path}:{source.line_of(match.start())}")
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
    edits = renamed(source, nodes, old, new, node)
    given = [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
    return [*edits, *_keywords(project, found, old, new)] if old in given else edits


def _keywords(project: Project, found: Found, old: str, new: str) -> list[Edit]:
    """The calls that pass a parameter by its name: of what goes by the function's name, where nothing else does that
    takes such a parameter."""
    name = found.qualified.split(".")[-2] if found.node.name == "__init__" else found.node.name
    passed: dict[str, list[ast.AST]] = {}
    for path in sorted(project.files):
        source = project.source(path) if old in project.files[path] and name in project.files[path] else None
        for call in ast.walk(source.tree) if source is not None else ():
            if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) == name:
                passed.setdefault(path, []).extend(one for one in call.keywords if one.arg == old)
    passed = {path: nodes for path, nodes in passed.items() if nodes}
    namesakes = [one for one in project.definitions(found.node.name) if one.node.name == found.node.name]
    others = [one.where for one in namesakes if one.node is not found.node and _takes(one, old)]
    if passed and others:
        raise Unclear(f"{', '.join(passed)} pass {old} by keyword, perhaps to {', '.join(others)}")
    return [edit for path, nodes in passed.items() for edit in renamed(project.parsed(path), nodes, old, new)]


def _takes(other: Found, name: str) -> bool:
    arguments = getattr(other.node, "args", None)
    return arguments is not None and (
        arguments.kwarg is not None or any(one.arg == name for one in (*arguments.args, *arguments.kwonlyargs))
    )
