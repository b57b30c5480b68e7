"""A function or class that gets a new name in its own file and wherever the project's imports lead to it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from coder.patch import Edit
from coder.repair.source import FunctionNode, Source
from coder.repository.reading_order import imported, modules_of
from coder.verbs.project import Found, Project
from coder.verbs.renaming import renamed
from coder.verbs.scopes import INNER, Unclear, binds, uses


@dataclass
class Everywhere:
    """One renaming. What goes by the name in a file is `_nodes`; in `_scopes` of it the name itself is bound."""

    project: Project
    found: Found
    new: str
    _nodes: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    _scopes: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    _followed: set[int] = field(default_factory=set)

    def edits(self) -> list[Edit]:
        """Raises Unclear."""
        source = self.found.source
        scope = _scope(source, self.found.node)
        if isinstance(scope, ast.ClassDef):
            raise Unclear(
                f"{self.found.qualified} is a method, and the tree does not say which objects are of its class"
            )
        self._take(source, scope)
        if isinstance(scope, ast.Module):
            self._follow(source.path)
        for path, nodes in self._nodes.items():
            if any(isinstance(node, ast.alias) and id(node) not in self._followed for node in nodes):
                raise Unclear(f"{path} imports {self._old} from elsewhere too")
        return [edit for path in self._nodes for edit in self._renamed(path)]

    @property
    def _old(self) -> str:
        return self.found.node.name

    def _renamed(self, path: str) -> list[Edit]:
        source, nodes = self.project.parsed(path), self._nodes[path]
        for scope in self._scopes[path]:
            renamed(source, nodes, self._old, self.new, scope)
        return renamed(source, nodes, self._old, self.new)

    def _take(self, source: Source, scope: ast.AST) -> None:
        """All uses in a scope that defines or imports the name, and its place in `__all__`."""
        known = uses(scope, self._old)
        if any(isinstance(one, ast.ClassDef | FunctionNode) and one is not self.found.node for one in known):
            raise Unclear(f"{self._old} is defined in {source.path} too")
        self._nodes[source.path] += known
        self._scopes[source.path].append(scope)
        if isinstance(scope, ast.Module):
            self._nodes[source.path] += [one for one in _exported(scope) if one.value == self._old]

    def _follow(self, first: str) -> None:
        """Through the files that import the name, also from those that import it themselves."""
        self._modules = modules_of(sorted(self.project.files))
        exporting = [first]
        for exporter in exporting:
            for path in sorted(self.project.files):
                if path == exporter or self._old not in self.project.files[path]:
                    continue
                source = self.project.source(path)
                if source is None:
                    raise Unclear(f"{path} mentions {self._old} and does not parse")
                if self._import(source, exporter) and path not in exporting:
                    exporting.append(path)

    def _import(self, source: Source, exporter: str) -> bool:
        """What a file has of the exporter's name. Whether others may import it from there."""
        again = False
        for statement, alias in _imports(source.tree):
            scope = _scope(source, statement)
            if isinstance(statement, ast.Import):
                if self._leads(source, alias.name, exporter):
                    self._attributes(source, scope, alias.asname or alias.name)
                continue
            base = "." * statement.level + (statement.module or "")
            if self._leads(source, base, exporter):
                if alias.name == "*":
                    raise Unclear(f"{source.path} imports everything of {exporter}")
                if alias.name == self._old:
                    self._followed.add(id(alias))
                    self._nodes[source.path].append(alias)
                    if alias.asname is None:
                        self._take(source, scope)
                        again |= isinstance(scope, ast.Module)
            elif self._leads(source, f"{base}{'.' * (not base.endswith('.'))}{alias.name}", exporter):
                self._attributes(source, scope, alias.asname or alias.name)
        return again

    def _attributes(self, source: Source, scope: ast.AST, module: str) -> None:
        """`module.name` wherever the module's name is the one of that scope."""
        root = module.partition(".")[0]
        for node in ast.walk(scope):
            if isinstance(node, ast.Attribute) and node.attr == self._old and ast.unparse(node.value) == module:
                inner = _scope(source, node)
                while inner is not scope and not binds(inner, root):
                    inner = _scope(source, inner)
                if inner is scope:
                    self._nodes[source.path].append(node)

    def _leads(self, source: Source, module: str, exporter: str) -> bool:
        return imported(source.path, [module], self._modules) == [exporter]


def _scope(source: Source, node: ast.AST) -> ast.AST:
    """The scope that a node stands in."""
    return source.enclosing(node, *INNER) or source.tree


def _imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, ast.alias]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node, alias) for alias in node.names)


def _exported(module: ast.Module) -> Iterator[ast.Constant]:
    """The names in `__all__`."""
    for statement in module.body:
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
            yield from (one for one in ast.walk(statement) if isinstance(one, ast.Constant))
