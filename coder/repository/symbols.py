"""What a source file defines, imports and mentions, by tree-sitter: it reads broken files too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from tree_sitter import Language, Node, Parser

_LANGUAGES = {".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".jsx": "javascript"}
_KINDS = {
    "function_definition": "function",
    "class_definition": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "function",
}
_NAMES = frozenset({"identifier", "property_identifier", "shorthand_property_identifier", "type_identifier"})


@dataclass(frozen=True)
class Symbol:
    """A function or class. `qualified`: with the names around it. Lines count from 1, both included."""

    name: str
    qualified: str
    kind: str
    first_line: int
    last_line: int


@dataclass(frozen=True)
class Outline:
    """`imports` are module names as they are written ("a.b", ".c", "./d.js"); `mentions` counts identifiers."""

    symbols: tuple[Symbol, ...]
    imports: tuple[str, ...]
    mentions: Counter[str]


def language_of(path: str) -> str | None:
    """The language that the file's name says, if it is one that is understood."""
    return _LANGUAGES.get(PurePosixPath(path).suffix)


def outline(path: str, text: str) -> Outline:
    """Empty for a language that is not understood."""
    language = language_of(path)
    if language is None:
        return Outline((), (), Counter())
    root = _parser(language).parse(text.encode("utf-8", "replace")).root_node
    symbols = [_symbol(node, parents) for node, parents in _definitions(root, ())]
    imports: dict[str, None] = {}
    mentions: Counter[str] = Counter()
    for node in _nodes(root):
        if node.type in _NAMES:
            mentions[_text(node)] += 1
        for name in _imported(node):
            imports[name] = None
    return Outline(tuple(symbols), tuple(imports), mentions)


@cache
def _parser(language: str) -> Parser:
    if language == "python":
        import tree_sitter_python as grammar
    else:
        import tree_sitter_javascript as grammar  # type: ignore[no-redef]
    return Parser(Language(grammar.language()))


def _nodes(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _definitions(root: Node, parents: tuple[str, ...]) -> Iterator[tuple[Node, tuple[str, ...]]]:
    stack = [(child, parents) for child in reversed(root.children)]
    while stack:
        node, parents = stack.pop()
        if node.type in _KINDS and (name := node.child_by_field_name("name")) is not None:
            yield node, parents
            parents = (*parents, _text(name))
        stack.extend((child, parents) for child in reversed(node.children))


def _symbol(node: Node, parents: tuple[str, ...]) -> Symbol:
    name = node.child_by_field_name("name")
    assert name is not None
    outer = node.parent if node.parent is not None and node.parent.type == "decorated_definition" else node
    qualified = ".".join((*parents, _text(name)))
    return Symbol(_text(name), qualified, _KINDS[node.type], outer.start_point[0] + 1, outer.end_point[0] + 1)


def _imported(node: Node) -> Iterator[str]:
    """The modules that an import statement names; `from a import b` names both `a` and what may be the module `a.b`."""
    if node.type == "import_statement":
        if (source := node.child_by_field_name("source")) is not None:
            yield _text(source).strip("\"'")
        for child in node.children_by_field_name("name"):
            yield _text(child.child_by_field_name("name") or child if child.type == "aliased_import" else child)
    elif node.type == "import_from_statement" and (module := node.child_by_field_name("module_name")) is not None:
        base = _text(module)
        yield base
        for child in node.children_by_field_name("name"):
            name = child.child_by_field_name("name") or child if child.type == "aliased_import" else child
            yield f"{base}{'' if base.endswith('.') else '.'}{_text(name)}"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
