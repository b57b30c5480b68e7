"""What a function can name: its variables and where each is bound, functions, members that the file mentions."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache

from coder.repair.languages.tree import Node, TreeSource

# What bounds a binding: blocks, functions, loops with a variable of their own, `catch` and `match` clauses.
_SCOPES = ("block", "function", "loop")


class FileNames:
    """What a whole file binds, calls and mentions."""

    def __init__(self, source: TreeSource) -> None:
        self.bound: list[tuple[str, Node | None, int]] = []
        """Each binding: name, the node in which it holds (None for the whole file), where it stands."""
        self.own = dict.fromkeys(function.name for function in source.functions() if function.name)
        called: Counter[str] = Counter()
        members: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        binders, hoisted = source.grammar.binders, frozenset(source.grammar.hoisted.split())
        for node in source.root.walk():
            fields = binders.get(node.type)
            if fields is not None:
                self._bind(node, fields, hoisted)
            if node.kind == "call" and node.called is not None and node.called.kind == "name":
                called[node.called.text] += 1
            elif node.kind == "field":
                parent = node.parent
                method = parent is not None and (
                    parent.kind == "call" or (parent.kind == "member" and parent.is_callee)
                )
                members[method][node.text] += 1
        self.functions = list(self.own | dict.fromkeys(name for name, _ in called.most_common()))
        """Functions of this file and those that it calls by name, those of the file first."""
        self.members = {method: [name for name, _ in count.most_common()] for method, count in members.items()}
        """Names of methods (True) and of other fields (False) that the file mentions, the most frequent first."""
        self.mentioned = frozenset(members[True]) | frozenset(members[False])

    def _bind(self, node: Node, fields: tuple[str, ...], hoisted: frozenset[str]) -> None:
        parts = node.children if not fields else [c for c in node.all if c.named and c.field in fields]
        late = node.parent is not None and node.parent.type in hoisted
        # The name of a function holds around it, its parameters inside.
        inside = node if node.kind in ("function", "loop") and "name" not in fields else None
        scope = inside or node.outer(*(("function",) if late else _SCOPES))
        self.bound += [(name, scope, part.start) for part in parts for name in _names(part)]


names_of = lru_cache(maxsize=32)(FileNames)


class Scope:
    """The names that can stand in a node of the file. `function` is the one that is repaired, None at the top level."""

    def __init__(self, source: TreeSource, function: Node | None) -> None:
        self.source = source
        self.function = function or source.root
        self._file = names_of(source)
        self.functions = self._file.functions
        self.members = self._file.members
        self.mentioned = self._file.mentioned

    def variables(self, at: Node) -> list[str]:
        """Names of values that can be read at a node, nearest bindings first; functions of the file left out."""
        found: dict[str, int] = {}
        for name, scope, start in self._file.bound:
            if name not in self._file.own and (scope is None or scope.parent is None or _inside(at, scope)):
                depth = 0 if scope is None else scope.start
                # Bound further down in the same block: not yet there, unless it belongs to the file.
                if start < at.start or scope is None or scope.parent is None:
                    found[name] = max(found.get(name, -1), depth)
        return sorted(found, key=lambda name: (-found[name], name))

    @cached_property
    def parameters(self) -> frozenset[str]:
        return frozenset(
            name for name, scope, start in self._file.bound if scope == self.function and start < self._body_start
        )

    @property
    def _body_start(self) -> int:
        body = self.function.part("body")
        return body.start if body is not None else self.function.end

    @cached_property
    def locals(self) -> frozenset[str]:
        """Names that the repaired function binds."""
        low, high = self.function.start, self.function.end
        return frozenset(name for name, _, start in self._file.bound if low <= start < high)


def _names(node: Node) -> list[str]:
    kinds = ("identifier", "shorthand_property_identifier_pattern")
    if node.type in ("parameters", "type_annotation"):
        return []
    return [inner.text for inner in node.walk() if inner.type in kinds]


def _inside(node: Node, scope: Node) -> bool:
    return scope.start <= node.start and node.end <= scope.end
