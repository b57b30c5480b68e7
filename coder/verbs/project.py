"""The Python files of a project, and the functions in them that a request may mean."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Edit, Proposal, Span
from coder.repair.source import FunctionNode, Source
from coder.verbs.asked import Wish

Definition = FunctionNode | ast.ClassDef
_TOLD = 6


@dataclass(frozen=True)
class Found:
    """A function or class of a file. `qualified`: its name with those of the classes and functions around it."""

    source: Source
    node: Definition
    qualified: str

    @property
    def where(self) -> str:
        return f"{self.source.path}:{self.node.lineno}"

    @property
    def body(self) -> list[ast.stmt]:
        """The statements behind the docstring."""
        return self.node.body[int(ast.get_docstring(self.node, clean=False) is not None) :]

    @property
    def start(self) -> int:
        """The offset of its `def` or `class`."""
        return self.source.span(self.node)[0]

    def proposal(self, project: Project, start: int, end: int, text: str, note: str) -> Proposal:
        """One edit of its file."""
        path = self.source.path
        return Proposal((Edit(Span(path, start, end), text),), {path: project.hashes[path]}, "verb", note=note)


@dataclass
class Project:
    """Text and hash of each Python file, by path."""

    files: Mapping[str, str]
    hashes: Mapping[str, str]
    _sources: dict[str, Source | None] = field(default_factory=dict)

    def source(self, path: str) -> Source | None:
        """None for a file that does not parse."""
        if path not in self._sources:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of escapes in the project's strings
                    self._sources[path] = Source(path, self.files[path])
            except (SyntaxError, ValueError, RecursionError):
                self._sources[path] = None
        return self._sources[path]

    def parsed(self, path: str) -> Source:
        """A file that is known to parse."""
        source = self.source(path)
        assert source is not None, f"{path} does not parse"
        return source

    def definitions(self, mentioning: str = "", paths: Sequence[str] = ()) -> Iterator[Found]:
        """Functions and classes of those of the files, or of all, that hold a text."""
        for path in paths or sorted(self.files):
            source = self.source(path) if mentioning in self.files[path] else None
            if source is not None:
                yield from _definitions(source, source.tree.body, "")

    def find(self, wish: Wish) -> Found:
        """The one function (or class, where that is to be renamed) that a wish means. Raises Failure with USAGE where
        there is none, or where several are meant; the hint is what to type next."""
        paths, owner = self._place(wish.path)
        tail = f"{owner}.{wish.name}" if owner else wish.name
        meant = [
            found
            for found in self.definitions(wish.name.rpartition(".")[2], paths)
            if _may_be(found, wish) and f".{found.qualified}".endswith(f".{tail}")
        ]
        exact = [found for found in meant if found.qualified == tail] if paths else []
        if len(meant) == 1 or len(exact) == 1:
            return (exact or meant)[0]
        if not meant:
            raise self._none(wish, tail, paths)
        if len({(found.source.path, found.qualified) for found in meant}) == 1:
            hint = "They share file and name, so no words tell them apart."
        else:
            hint = f"Say which, for example: {_command(wish, meant[0])}"
        raise Failure(ExitStatus.USAGE, f"{len(meant)} are called {tail}: {_listed(meant)}", hint)

    def _place(self, said: str) -> tuple[list[str], str]:
        """The files that are meant by a path or a module's name, none for all; or else the class that is."""
        said = said.removeprefix("./")
        for name in (said, said.replace(".", "/") + ".py") if said else ():
            paths = [path for path in sorted(self.files) if f"/{path}".endswith(f"/{name}")]
            if paths:
                return [name] if name in paths else paths, ""
        if not said or any(found.node.name == said for found in self.definitions(f"class {said}")):
            return [], said
        near = difflib.get_close_matches(said, [*self.files, *{PurePosixPath(path).name for path in self.files}])
        hint = f"Near to it: {', '.join(near)}." if near else "Name a .py file that is neither ignored nor secret."
        raise Failure(ExitStatus.USAGE, f"no Python file of this project is called {said}", hint)

    def _none(self, wish: Wish, tail: str, paths: Sequence[str]) -> Failure:
        broken = [path for path in paths if self.source(path) is None]
        if broken:
            return Failure(ExitStatus.USAGE, f"{', '.join(broken)} does not parse", "Mend the syntax first.")
        names: dict[str, Found] = {}
        for found in self.definitions(paths=paths):
            if _may_be(found, wish):
                names |= {found.node.name: found, found.qualified: found}
        near = {id(names[name].node): names[name] for name in difflib.get_close_matches(tail, names)}
        kind = "function or class" if wish.verb == "rename" else "function"
        message = f"no {kind}{' in ' * bool(paths)}{', '.join(paths)} is called {tail}"
        likely = list(near.values())
        if likely:
            hint = f"Near to it: {_listed(likely)}. Perhaps: {_command(wish, likely[0])}"
        else:
            there = f"What is there: {_listed(list(names.values()))}. " if names else ""
            hint = f"{there}What is no edit of one function is for a stronger model: --endpoint URL."
        return Failure(ExitStatus.USAGE, message, hint)


def _may_be(found: Found, wish: Wish) -> bool:
    return isinstance(found.node, FunctionNode) or wish.verb == "rename"


def _listed(known: Sequence[Found]) -> str:
    told = list(dict.fromkeys(f"{found.qualified} ({found.where})" for found in known))
    return ", ".join(told[:_TOLD]) + (f" and {len(told) - _TOLD} more" if len(told) > _TOLD else "")


def _definitions(source: Source, body: Sequence[ast.AST], above: str) -> Iterator[Found]:
    for node in body:
        if isinstance(node, Definition):
            qualified = f"{above}.{node.name}" if above else node.name
            yield Found(source, node, qualified)
            yield from _definitions(source, node.body, qualified)
        elif not isinstance(node, ast.expr):
            yield from _definitions(source, list(ast.iter_child_nodes(node)), above)


def _command(wish: Wish, found: Found) -> str:
    return f'coder do "{wish.retold(found.qualified, found.source.path)}"'
