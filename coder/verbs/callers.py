"""The calls that pass a parameter by its name, where the tree says that they are of that function."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coder.patch import Edit
from coder.repair.source import FunctionNode, Source
from coder.verbs.everywhere import Everywhere, dotted
from coder.verbs.project import Found, Project
from coder.verbs.renaming import renamed
from coder.verbs.scopes import INNER, Unclear

_UNNAMED = frozenset(("__call__", "__new__", "__init_subclass__"))
"""Methods whose calls do not mention them."""

Call = tuple[str, ast.Call]
"""A file and a call in it."""


@dataclass
class Callers:
    """Of the function `found`, whose parameter `old` is to be called `new`."""

    project: Project
    found: Found
    old: str
    new: str

    def edits(self) -> list[Edit]:
        """Raises Unclear where a call passes it and may be of this function, or of another."""
        node, source = self._function, self.found.source
        owner = source.enclosing(node, *INNER)
        called = self.found
        if isinstance(owner, ast.ClassDef) and node.name == "__init__":
            called = Found(source, owner, self.found.qualified.rpartition(".")[0])
        name = "" if node.name in (*_UNNAMED, "__init__") else node.name
        files = [path for path in sorted(self.project.files) if name in self.project.files[path] and self._told(path)]
        if files and node.name in _UNNAMED:
            raise Unclear(f"calls of {self.found.qualified} do not name it, and {files[0]} passes {self.old} somewhere")
        if not files:
            return []
        if called is self.found and isinstance(owner, ast.ClassDef):
            calls = list(self._of_method(files, owner))
        else:
            calls = list(self._of(called, files))
        return self._edits(calls)

    @property
    def _function(self) -> FunctionNode:
        assert isinstance(self.found.node, FunctionNode)
        return self.found.node

    def _edits(self, calls: Sequence[Call]) -> list[Edit]:
        passed: dict[str, list[ast.AST]] = defaultdict(list)
        for path, call in calls:
            for one in call.keywords:
                if one.arg is None:
                    raise Unclear(f"{path}:{call.lineno} may pass {self.old} in what stands behind **")
                if one.arg == self.new and self._function.args.kwarg is not None:
                    raise Unclear(f"{path}:{call.lineno} passes {self.new} to {self.found.qualified} already")
                if one.arg == self.old:
                    passed[path].append(one)
        return [
            edit
            for path, nodes in passed.items()
            for edit in renamed(self.project.parsed(path), nodes, self.old, self.new)
        ]

    def _of(self, called: Found, files: Sequence[str]) -> Iterator[Call]:
        """The calls of a function, or of a class for its `__init__`."""
        known: set[int] = set()
        also: set[str] = set()  # names that it goes by besides, or where it is imported from
        for path, nodes in Everywhere(self.project, called).places().items():
            source = self.project.parsed(path)
            for node in nodes:
                parent = source.parents.get(node)
                if isinstance(parent, ast.Call) and parent.func is node:
                    known.add(id(parent))
                    yield path, parent
                elif isinstance(node, ast.alias):
                    also.add(node.asname or "")
                elif isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr):
                    also |= _targets(parent)
                elif (given := _handing(source, node, called)) is not None and self._mentions(given):
                    raise self._perhaps(path, given)
        for path in files:
            for call in filter(self._passes, _calls(self.project.parsed(path))):
                if id(call) not in known and _last(call.func) in also - {""}:
                    raise self._perhaps(path, call)
        if isinstance(called.node, ast.ClassDef):
            yield from self._of_heirs(called.node)

    def _of_method(self, files: Sequence[str], owner: ast.ClassDef) -> Iterator[Call]:
        """The calls of a method through its class, an object made there, or `self` or `cls` in the class: of all others
        the tree does not say the class."""
        name = self._function.name
        others = [
            one.where
            for one in self.project.definitions(name)
            if one.node is not self._function and one.node.name == name and _takes(one, self.old)
        ]
        for path in files:
            source = self.project.parsed(path)
            modules = _modules(source)
            for call in _calls(source):
                if not isinstance(call.func, ast.Attribute) or call.func.attr != name or not self._passes(call):
                    continue
                value = call.func.value
                through = dotted(value.func if isinstance(value, ast.Call) else value)
                inside = through in ("self", "cls") and source.enclosing(call, ast.ClassDef) is owner
                if through in modules:
                    continue
                if others or not (inside or through == owner.name):
                    raise self._perhaps(path, call, others)
                yield path, call

    def _of_heirs(self, owner: ast.ClassDef) -> Iterator[Call]:
        """The calls of `cls` in a class. Raises Unclear where a class that inherits from it is made with the parameter,
        or passes it up."""
        heirs = list(_heirs(self.project, owner.name))
        names = {heir.name for _, heir in heirs}
        within = {id(owner), *(id(heir) for _, heir in heirs)}
        for path in dict.fromkeys((self.found.source.path, *self._naming(names))):
            source = self.project.parsed(path)
            for call in filter(self._passes, _calls(source)):
                last, around = _last(call.func), source.enclosing(call, ast.ClassDef)
                if not heirs and around is owner and dotted(call.func) == "cls":
                    yield path, call
                    continue
                again = last in ("cls", "__class__") or (last == "__init__" and around is not owner)
                if last in names or (again and id(around) in within):
                    raise self._perhaps(path, call)

    def _naming(self, names: set[str]) -> Iterator[str]:
        """The files that mention one of the names and parse."""
        for path, text in sorted(self.project.files.items()):
            if any(name in text for name in names) and self.project.source(path) is not None:
                yield path

    def _passes(self, call: ast.Call) -> bool:
        """Whether a call passes the parameter by its name, or may, or the new name to a function that takes any."""
        taken = {self.old, None} | ({self.new} if self._function.args.kwarg is not None else set())
        return any(one.arg in taken for one in call.keywords)

    def _mentions(self, tree: ast.AST) -> bool:
        """Whether there is a call in it that passes the parameter, or its name as a text."""
        return any(
            self._passes(one) if isinstance(one, ast.Call) else isinstance(one, ast.Constant) and one.value == self.old
            for one in ast.walk(tree)
        )

    def _told(self, path: str) -> bool:
        """Whether a file passes it to anything, or may, or has its name as a text."""
        text = self.project.files[path]
        source = self.project.source(path) if any(part in text for part in (self.old, self.new, "**")) else None
        return source is not None and self._mentions(source.tree)

    def _perhaps(self, path: str, call: ast.Call, others: Sequence[str] = ()) -> Unclear:
        whom = ", ".join(others) or self.found.qualified
        return Unclear(f"{path}:{call.lineno} may pass {self.old} by its name, perhaps to {whom}")


def _calls(source: Source) -> Iterator[ast.Call]:
    return (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))


def _last(node: ast.AST) -> str:
    """The last name of `a.b.c` or `c[int]`; of `type(x)` another way to say it."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Subscript(value=value):
            return _last(value)
        case ast.Call(func=ast.Name(id="type")):
            return "__class__"
    return ""


def _handing(source: Source, node: ast.AST, called: Found) -> ast.Call | None:
    """The call that is given what a node stands for, to call it in its turn: `partial(f, x=1)`, `f.delay(x=1)`. Not a
    call of what a class has, but of its `__init__`."""
    call = source.enclosing(node, ast.Call)
    if not isinstance(call, ast.Call):
        return None
    through = any(one is node for one in ast.walk(call.func))
    of_class = isinstance(called.node, ast.ClassDef) and _last(call.func) not in ("__init__", called.node.name)
    return None if through and of_class else call


def _heirs(project: Project, name: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """The classes, with their files, that inherit from one of a name, also from their like."""
    family = [name]
    for one in family:
        for path, text in sorted(project.files.items()):
            source = project.source(path) if one in text else None
            for node in ast.walk(source.tree) if source is not None else ():
                if isinstance(node, ast.ClassDef) and node.name not in family and one in map(_last, node.bases):
                    family.append(node.name)
                    yield path, node


def _targets(tree: ast.AST) -> set[str]:
    """The names and attributes that get a value in a statement."""
    return {_last(one) for one in ast.walk(tree) if isinstance(getattr(one, "ctx", None), ast.Store)}


def _modules(source: Source) -> set[str]:
    """What `import` calls modules by in a file."""
    return {alias.asname or alias.name for node in ast.walk(source.tree) if isinstance(node, ast.Import)
            for alias in node.names}  # fmt: skip


def _takes(other: Found, name: str) -> bool:
    arguments = getattr(other.node, "args", None)
    return arguments is not None and (
        arguments.kwarg is not None or any(one.arg == name for one in (*arguments.args, *arguments.kwonlyargs))
    )
