"""Which names, attributes, calls and constants could stand at a point of the code.

Most small fixes need a name chosen from context (TSSB-3M, https://github.com/cedricrupb/TSSB3M: about 63 % of the
fixes that fit a pattern), so this list is what the search lives on: too short and the fix is not in it, too long and
it drowns.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import Protocol

from coder.repair.module import Facts, Module, Signature, class_members, is_store, signature
from coder.repair.source import FunctionNode, Source

# Builtins that repairs of ordinary code call, by how often code does.
BUILTINS = (
    "len", "str", "int", "list", "sum", "max", "min", "sorted", "set", "abs", "float", "tuple", "range", "dict",
    "bool", "round", "any", "all", "enumerate", "zip", "map", "filter", "reversed", "isinstance", "ord", "chr", "bin",
    "next", "iter", "repr", "print", "frozenset", "bytes",
)  # fmt: skip
# Conditions of the file that one place is offered, at most.
MOST_CONDITIONS = 150
METHODS = {
    str: (
        "lower", "upper", "strip", "split", "join", "replace", "startswith", "endswith", "isalpha", "isdigit",
        "isupper", "islower", "count", "find", "index", "rstrip", "lstrip", "title", "capitalize", "swapcase", "encode",
        "format", "splitlines", "isspace", "isalnum", "rfind", "zfill", "ljust", "rjust", "center", "partition",
        "rpartition", "rsplit", "casefold", "translate", "isnumeric", "isdecimal", "removeprefix", "removesuffix",
    ),
    list: ("append", "extend", "insert", "pop", "remove", "sort", "reverse", "copy", "index", "count", "clear"),
    dict: ("get", "items", "keys", "values", "setdefault", "update", "pop", "copy"),
    set: ("add", "discard", "remove", "union", "update", "intersection", "difference", "copy"),
}  # fmt: skip


class Imports(Protocol):
    """Finds modules of the repository; `coder.repair.library.Library` is one."""

    def module(self, importer: str, origin: str) -> Module | None: ...

    def owner(self, importer: str, origin: str) -> Module | None: ...


class Scope:
    """The names that a function's code may use. Signatures and names of other modules come in through `library`."""

    def __init__(
        self,
        source: Source,
        function: FunctionNode | None,
        library: Imports | None = None,
    ) -> None:
        self.source = source
        self.function = function
        self.facts = Facts.of(source)
        self.module = self.facts.module
        self.library = library

    @property
    def root(self) -> ast.AST:
        return self.function or self.source.tree

    @cached_property
    def parameters(self) -> list[str]:
        return [argument.arg for argument in _arguments(self.function)] if self.function else []

    @cached_property
    def locals(self) -> list[str]:
        """Parameters and names bound in the function, by first appearance."""
        if self.function is None:
            return []
        bound: dict[str, None] = dict.fromkeys(self.parameters)
        for node in ast.walk(self.function):
            match node:
                case ast.Name(ctx=ast.Store()):
                    bound.setdefault(node.id)
                case ast.arg():
                    bound.setdefault(node.arg)
                case ast.ExceptHandler(name=str(name)):
                    bound.setdefault(name)
                case ast.FunctionDef() if node is not self.function:
                    bound.setdefault(node.name)
        return list(bound)

    @cached_property
    def comprehension_names(self) -> dict[str, list[tuple[int, int]]]:
        """Names bound by comprehensions and lambdas, with the ranges of characters where they live."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for node in ast.walk(self.root):
            names: list[str] = []
            if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                names = [n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
            elif isinstance(node, ast.Lambda):
                names = [argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
            for name in names:
                found[name].append(self.source.span(node))
        return found

    def variables(self, at: ast.AST) -> list[str]:
        """Local names usable at a node: what was bound elsewhere in a comprehension is left out."""
        start, _ = self.source.span(at)
        plain = self._plain_locals
        visible = []
        for name in self.locals:
            ranges = self.comprehension_names.get(name)
            if name in plain or not ranges or any(low <= start < high for low, high in ranges):
                visible.append(name)
        return visible

    @cached_property
    def _plain_locals(self) -> set[str]:
        """Names bound outside comprehensions and lambdas."""
        bound = {n.id for n in ast.walk(self.root) if is_store(n) and not self._in_comprehension(n)}
        return bound | set(self.parameters)

    def _in_comprehension(self, node: ast.AST) -> bool:
        start, _ = self.source.span(node)
        name = getattr(node, "id", "")
        return any(low <= start < high for low, high in self.comprehension_names.get(name, ()))

    @cached_property
    def globals(self) -> list[str]:
        return list(dict.fromkeys(self.module.names))

    def names(self, at: ast.AST) -> list[str]:
        """Everything that a plain value may be: locals, then the file's globals that are no functions or classes."""
        called = set(self.module.callables) | set(self.module.classes)
        data = [name for name in self.globals if name not in called and name not in self.module.imports]
        return list(dict.fromkeys([*self.variables(at), *data]))

    @cached_property
    def functions(self) -> list[str]:
        """What can be called by a bare name: functions and classes of the file, imported names, then builtins."""
        called = {callee for callee, _ in self.calls}
        known = called.union(self.module.callables, self.module.classes)
        own = [n for n in self.globals if (n in known or _like_a_class(n)) and n not in self.module.imports]
        imported = [n for n, origin in self.module.imports.items() if ":" in origin]
        local = [n.name for n in ast.walk(self.root) if isinstance(n, FunctionNode) and n is not self.function]
        return list(dict.fromkeys([*local, *own, *imported, *BUILTINS]))

    def attributes(self, receiver: ast.expr, called: bool) -> list[str]:
        """Attributes that code uses on this receiver, likeliest first: seen on it, of its class or module, methods of
        a builtin type that it was seen to have, and last what the file uses on anything."""
        text = ast.unparse(receiver)
        seen = self.facts.attributes[int(called)]
        found = dict.fromkeys(name for name, _ in seen[text].most_common())
        members = self._members(text)
        found |= dict.fromkeys(members)
        if called:
            for methods in METHODS.values():
                if any(name in methods for name in self.facts.attributes[1][text]):
                    found |= dict.fromkeys(methods)
        if not members:
            found |= dict.fromkeys(name for name, _ in seen["*"].most_common(30))
        return list(found)

    def _members(self, receiver: str) -> list[str]:
        if receiver in ("self", "cls") and self.function is not None:
            owner = self.source.enclosing(self.function, ast.ClassDef)
            if isinstance(owner, ast.ClassDef):
                return class_members(owner)
        origin = self.module.imports.get(receiver)
        imported = self._imported(origin, whole=True)
        if imported:
            return [name for name in imported.names if name not in imported.imports]
        return self.module.classes.get(receiver, [])

    @cached_property
    def own(self) -> set[str]:
        """What `self` and `cls` have: methods and attributes of the class around the function."""
        return set(self._members("self"))

    def _imported(self, origin: str | None, whole: bool) -> Module | None:
        """The module that an imported name stands for (`whole`), or the one that defines it."""
        if not origin or self.library is None:
            return None
        return (self.library.module if whole else self.library.owner)(self.source.path, origin)

    def signature(self, call: ast.Call) -> Signature | None:
        """The callee's signature, when this repository defines it."""
        if isinstance(call.func, ast.Name):
            name = call.func.id
            if self.function is not None:
                for node in ast.walk(self.function):
                    if isinstance(node, FunctionNode) and node.name == name and node is not self.function:
                        return signature(node)
            if name in self.module.callables:
                return self.module.callables[name]
            origin = self.module.imports.get(name, "")
            module = self._imported(origin, whole=False)
            return module.callables.get(origin.partition(":")[2]) if module else None
        if isinstance(call.func, ast.Attribute):
            own = self.module.methods.get(call.func.attr)
            if own:
                return own[0]
            module = self._imported(self.module.imports.get(ast.unparse(call.func.value)), whole=True)
            return module.callables.get(call.func.attr) if module else None
        return None

    def arguments_seen(self, call: ast.Call) -> list[str]:
        """Keyword arguments, `name=value` with values that mean the same anywhere in the file, that its calls of the
        same callee pass, most often first; then those of all its calls whose keyword the callee is known to take."""
        name = ast.unparse(call.func).split(".")[-1]
        known = self.signature(call)
        takes = set(known.positional + known.keywords) if known else set()
        same: Counter[str] = Counter()
        other: Counter[str] = Counter()
        for callee, given in self.facts.keyword_arguments.items():
            if callee == name or takes:
                for keyword, text, names in given:
                    if (callee == name or keyword in takes) and self.reach.issuperset(names):
                        (same if callee == name else other)[text] += 1
        return list(dict.fromkeys(text for counter in (same, other) for text, _ in counter.most_common()))

    def conditions_seen(self, at: ast.AST) -> list[str]:
        """Parts of the file's conditions whose names are bound here too; those about one unknown name, about each name
        in sight in its place."""
        found: dict[str, None] = {}
        sight = [name for name in self.variables(at) if name not in ("self", "cls")]
        for text, names in self.facts.conditions:
            local = [name for name in names if name not in self._shared]
            if all(name in sight for name in local):
                found.setdefault(text)
            if len(local) == 1:
                pattern = re.compile(rf"(?<![\w.]){re.escape(local[0])}\b")
                found |= dict.fromkeys(pattern.sub(name, text) for name in sight)
            if len(found) > MOST_CONDITIONS:
                break
        return list(found)[:MOST_CONDITIONS]

    @cached_property
    def _shared(self) -> set[str]:
        """Names that mean the same in every function of the file."""
        return {*self.globals, *BUILTINS, "self"}

    @cached_property
    def reach(self) -> set[str]:
        """All names that are bound here."""
        return self._shared.union(self.locals)

    def keywords_seen(self, call: ast.Call) -> list[str]:
        """Keyword names that calls of the same callee use in this file."""
        name = ast.unparse(call.func).split(".")[-1]
        return list(dict.fromkeys(keyword for keyword, _, _ in self.facts.keyword_arguments.get(name, ())))

    @cached_property
    def constants(self) -> list[ast.Constant]:
        """Constants of the function, then of the rest of the file; docstrings left out."""
        low, high = 0, len(self.source.lines)
        if self.function is not None:
            low, high = self.function.lineno, self.function.end_lineno or high
        found: dict[tuple[type, object], ast.Constant] = {}
        for node in sorted(self.facts.constants, key=lambda node: not low <= node.lineno <= high):
            found.setdefault((type(node.value), node.value), node)
        return list(found.values())

    @property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """Every call of the file with the text of its callee."""
        return self.facts.calls

    @cached_property
    def expressions(self) -> list[ast.expr]:
        """Donor expressions of the function's body, short ones, each text once."""
        found: dict[str, ast.expr] = {}
        body = self.function.body if self.function else self.source.tree.body
        for node in (node for statement in body for node in ast.walk(statement)):
            if isinstance(node, ast.expr) and not isinstance(node, ast.Constant | ast.Starred | ast.Slice):
                if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) or isinstance(node, ast.JoinedStr):
                    continue
                text = self.source.segment(node)
                if len(text) <= 60 and "\n" not in text:
                    found.setdefault(text, node)
        return list(found.values())


def _like_a_class(name: str) -> bool:
    """Whether a name is spelled as those of classes are: a `namedtuple` is bound by an assignment."""
    return name[:1].isupper() and not name.isupper()


def _arguments(function: FunctionNode) -> list[ast.arg]:
    return [node for node in ast.walk(function.args) if isinstance(node, ast.arg)]
