"""A function or class that gets a new name in its own file and wherever the project's imports lead to it."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from coder.patch import Edit
from coder.repair.source import FunctionNode, Source
from coder.repository.reading_order import imported, modules_of
from coder.verbs.project import Found, Project
from coder.verbs.renaming import heed_decorators, renamed
from coder.verbs.scopes import INNER, Unclear, binds, uses

_STAR = re.compile(r"\bimport\s*\*")


@dataclass
class Everywhere:
    """One function or class. What goes by its name in a file is `_nodes`; in `_scopes` of it the name itself is
    bound."""

    project: Project
    found: Found
    _nodes: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    _scopes: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    _followed: set[int] = field(default_factory=set)
    _attributes: dict[str, list[tuple[ast.AST, str]]] = field(default_factory=dict)

    def edits(self, new: str) -> list[Edit]:
        """That give it a new name. Raises Unclear."""
        if isinstance(self.found.node, FunctionNode):
            heed_decorators(self.found.node, self._old)
        return [edit for path in self.places() for edit in self._renamed(path, new)]

    def places(self) -> Mapping[str, list[ast.AST]]:
        """What stands for it in each file: names, attributes of modules, parts of imports, strings in `__all__`. Raises
        Unclear."""
        source = self.found.source
        scope = _scope(source, self.found.node)
        if isinstance(scope, ast.ClassDef):
            what = "a method" if isinstance(self.found.node, FunctionNode) else "a class in a class"
            raise Unclear(f"{self.found.qualified} is {what}, and the tree does not say which objects have it")
        self._take(source, scope)
        if isinstance(scope, ast.Module):
            self._follow(source.path)
        for path, nodes in self._nodes.items():
            if any(isinstance(node, ast.alias) and id(node) not in self._followed for node in nodes):
                raise Unclear(f"{path} imports {self._old} from elsewhere too")
        return self._nodes

    @property
    def _old(self) -> str:
        return self.found.node.name

    def _renamed(self, path: str, new: str) -> list[Edit]:
        source, nodes = self.project.parsed(path), self._nodes[path]
        for scope in self._scopes[path]:
            renamed(source, nodes, self._old, new, scope)
        return renamed(source, nodes, self._old, new)

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
            for path, text in sorted(self.project.files.items()):
                if path == exporter or not (self._old in text or _STAR.search(text)):
                    continue
                source = self.project.source(path)
                if source is not None and self._import(source, exporter) and path not in exporting:
                    exporting.append(path)
                if source is None and self._old in text:
                    raise Unclear(f"{path} mentions {self._old} and does not parse")

    def _import(self, source: Source, exporter: str) -> bool:
        """What a file has of the exporter's name. Whether others may import it from there."""
        again = False
        for statement, alias in _imports(source.tree):
            scope = _scope(source, statement)
            if isinstance(statement, ast.Import):
                local = alias.asname or alias.name.partition(".")[0]
                self._through(source, scope, local, alias.name if alias.asname else local, exporter)
                continue
            base = "." * statement.level + (statement.module or "")
            if alias.name not in (self._old, "*") or not self._leads(source, base, exporter):
                module = f"{base}{'.' * (not base.endswith('.'))}{alias.name}"
                self._through(source, scope, alias.asname or alias.name, module, exporter)
                continue
            if alias.name == "*":
                raise Unclear(f"{source.path} imports everything of {exporter}")
            self._followed.add(id(alias))
            self._nodes[source.path].append(alias)
            if alias.asname is None:
                if isinstance(scope, ast.ClassDef):
                    raise Unclear(f"{source.path} imports {self._old} into a class")
                self._take(source, scope)
                again |= isinstance(scope, ast.Module)
        return again

    def _through(self, source: Source, scope: ast.AST, local: str, module: str, exporter: str) -> None:
        """The attributes of the name wherever `local`, which a scope has for `module`, or a module in it is read."""
        if source.path not in self._attributes:
            read = (one for one in ast.walk(source.tree) if isinstance(one, ast.Attribute) and one.attr == self._old)
            self._attributes[source.path] = [(one, dotted(one.value)) for one in read]
        for node, base in self._attributes[source.path]:
            within = f"{base}.".startswith(f"{local}.") and _sees(source, node, scope, local)
            if within and self._leads(source, module + base[len(local) :], exporter):
                self._nodes[source.path].append(node)

    def _leads(self, source: Source, module: str, exporter: str) -> bool:
        """Whether what a file calls `module` is the exporter. Raises Unclear where that depends on how it is run."""
        known = imported(source.path, [module], self._modules)
        if known or module in self._modules or module.startswith("."):
            return known == [exporter]
        if module.partition(".")[0] in sys.stdlib_module_names:
            return False
        folder = PurePosixPath(source.path).parent
        beside = self._modules.get(".".join((*folder.parts, module)))
        if beside is not None and f"{folder}/__init__.py" not in self.project.files:
            return beside == exporter  # a script finds what stands beside it
        if any(path == exporter and name.endswith(f".{module}") for name, path in self._modules.items()):
            raise Unclear(f"{source.path} imports {module}, which may be {exporter}")
        return False


def dotted(node: ast.AST) -> str:
    """A name, or a name with attributes, as it is written; nothing for all else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{base}.{name}" if (base := dotted(value)) else ""
    return ""


def _scope(source: Source, node: ast.AST) -> ast.AST:
    """The scope that a node stands in."""
    return source.enclosing(node, *INNER) or source.tree


def _sees(source: Source, node: ast.AST, scope: ast.AST, name: str) -> bool:
    """Whether a name is at a node the one of a scope."""
    inner = _scope(source, node)
    while inner is not scope and inner is not source.tree and not binds(inner, name):
        inner = _scope(source, inner)
    return inner is scope


def _imports(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, ast.alias]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node, alias) for alias in node.names)


def _exported(module: ast.Module) -> Iterator[ast.Constant]:
    """The names in `__all__`, as it is set, added to or extended."""
    for statement in ast.walk(module):
        match statement:
            case ast.Assign(targets=targets):
                changed = targets
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                changed = [target]
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
                changed = [value]
            case _:
                continue
        if any(isinstance(one, ast.Name) and one.id == "__all__" for one in changed):
            yield from (one for one in ast.walk(statement) if isinstance(one, ast.Constant))
