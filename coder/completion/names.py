"""Whether the names that a Python completion uses mean anything where it stands.

A name counts when a scope around the cursor binds it, when it is a builtin, or when the completion binds it itself; of
the text that is not parsed (further away, or in other cells of a notebook), when it stands there at all.
Imports count when the module is of the standard library, of the repository, or imported somewhere in it.
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import PurePosixPath

from tree_sitter import Node, Query, QueryCursor

from coder.completion.situation import Situation
from coder.completion.syntax import parser_of

_SCOPES = ("function_definition", "lambda", "list_comprehension", "set_comprehension", "dictionary_comprehension",
           "generator_expression")  # fmt: skip
_KNOWN = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | {
    "__file__", "__name__", "__doc__", "__package__", "__spec__", "__class__", "__path__",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d]\w*")
_LIMIT = 400_000  # characters of a file beyond which names are not judged


def unresolved(situation: Situation, text: str, modules: Collection[str] = ()) -> list[str]:
    """Names in `text`, completed at the cursor, that nothing binds; modules that nothing provides.

    `modules`: what the repository holds and what it imports. Empty for other languages and for files that are too
    large to look at.
    """
    parser = parser_of("python")
    size = len(situation.before) + len(situation.after)
    if situation.language != "python" or parser is None or situation.in_comment or size > _LIMIT:
        return []
    before, written = situation.before.encode("utf-8", "replace"), text.encode("utf-8", "replace")
    words = set(_WORD.findall(situation.line_before + text)) - _KNOWN
    if not words:
        return []
    root = parser.parse(before + written + situation.after.encode("utf-8", "replace")).root_node
    start, end = len(before), len(before) + len(written)
    bound: set[str] = set()
    used: list[Node] = []
    imported: list[str] = []
    found = QueryCursor(_query()).captures(root)
    if "anything" in found:
        return []
    for node in found.get("name", []):
        name = _text(node)
        if name not in words:
            continue
        if _binds(node):
            if _visible(node, start, end):
                bound.add(name)
        elif node.end_byte > start and node.start_byte < end and _is_read(node):
            used.append(node)
    for node in found.get("dotted", []):
        if start < node.end_byte and node.start_byte < end and _is_module(node):
            imported.append(_text(node).partition(".")[0])
    missing = [_text(node) for node in used if _text(node) not in bound | _KNOWN]
    if missing:
        missing = _nowhere(missing, situation.elsewhere)
    known = sys.stdlib_module_names | frozenset(modules)
    return missing + ([name for name in imported if name not in known] if modules else [])


def modules_of(path: str, text: str) -> set[str]:
    """The modules that imports may name because of a file: its own name and folders, and what it imports."""
    parts = PurePosixPath(path)
    if parts.suffix not in (".py", ".pyi"):
        return set()
    modules = {part for part in (*parts.parts[:-1], parts.stem) if part.isidentifier()}
    for words in map(str.split, text.split("\n")):
        if len(words) > 1 and words[0] in ("import", "from"):
            modules.add(words[1].strip(",").partition(".")[0])
    return modules


def _nowhere(names: list[str], lines: Sequence[str]) -> list[str]:
    """Those of the names that do not occur in lines that are not parsed. What an occurrence means there nobody knows,
    so each counts but an attribute, and an `import *` may bring anything."""
    text = "\n".join(lines)
    if len(text) > _LIMIT or "import *" in text:
        return []
    # The name comes first in the pattern: a search that begins with a literal is many times faster.
    return [name for name in names if not re.search(rf"{name}(?<![\w.]{name})(?!\w)", text)]


@cache
def _query() -> Query:
    """Identifiers, names of modules, and imports that may bring anything."""
    parser = parser_of("python")
    assert parser is not None and parser.language is not None
    return Query(parser.language, "(identifier) @name (dotted_name) @dotted (wildcard_import) @anything")


def _binds(node: Node) -> bool:
    """Whether an identifier is where a name gets its meaning."""
    child, parent = node, node.parent
    while parent is not None:
        kind = parent.type
        if kind in ("function_definition", "class_definition"):
            return child == parent.child_by_field_name("name")
        if kind in ("parameters", "lambda_parameters", "global_statement", "nonlocal_statement", "as_pattern_target"):
            return True
        if kind in ("default_parameter", "typed_default_parameter"):
            return child == parent.child_by_field_name("name")
        if kind == "typed_parameter":
            return child == parent.children[0]
        if kind in ("assignment", "augmented_assignment", "for_statement", "for_in_clause"):
            return child == parent.child_by_field_name("left")
        if kind == "named_expression":
            return child == parent.child_by_field_name("name")
        if kind == "aliased_import":
            return child == parent.child_by_field_name("alias")
        if kind in ("import_statement", "import_from_statement"):
            return child != parent.child_by_field_name("module_name")
        if kind in ("case_pattern", "type_alias_statement", "type_parameter"):
            return True
        if kind not in ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "list_splat",
                        "dictionary_splat_pattern", "dotted_name", "expression_list", "tuple", "ERROR",
                        "parenthesized_expression"):  # fmt: skip
            return False
        child, parent = parent, parent.parent
    return False


def _visible(node: Node, start: int, end: int) -> bool:
    """Whether a binding holds for a text between two offsets: it is of the module, or its innermost scope contains the
    text's beginning or is part of it."""
    scope = node.parent
    if scope is not None and scope.type in ("function_definition", "class_definition"):
        scope = scope.parent  # a definition's name belongs to the scope around it
    while scope is not None:
        if scope.type in _SCOPES or scope.type == "class_definition":
            return scope.start_byte <= start <= scope.end_byte + 1 or start <= scope.start_byte < end
        scope = scope.parent
    return True


def _is_read(node: Node) -> bool:
    """Whether an identifier stands for a value: no attribute, no keyword of a call, no part of a module's name."""
    parent = node.parent
    if parent is None:
        return True
    if parent.type == "attribute":
        return node == parent.child_by_field_name("object")
    if parent.type == "keyword_argument":
        return node != parent.child_by_field_name("name")
    return parent.type not in ("dotted_name", "ERROR", "import_prefix")


def _is_module(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "aliased_import":
        return parent.parent is not None and parent.parent.type == "import_statement"
    if parent.type == "import_from_statement":
        return node == parent.child_by_field_name("module_name")
    return parent.type == "import_statement"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
