"""Candidates that are the same program are one candidate, and what does not compile or cannot be written is none."""

from __future__ import annotations

import ast
import hashlib
import tokenize
import warnings
from collections.abc import Iterable, Mapping
from io import BytesIO

from coder.patch import Edit, Proposal, apply_edits
from coder.repair.files import AnySource
from coder.repair.languages import normalise as trees
from coder.repair.languages.tree import TreeSource
from sandbox.trees import parse

_NEGATED: dict[type, type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_MIRRORED: dict[type, type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}


class Normaliser:
    """Remembers the programs that were seen, by file and enclosing function.

    Only the outermost function (or the whole file) that an edit lies in is parsed again: it is what changes.
    `originals` are the files as they are before any edit.
    """

    def __init__(self, originals: Mapping[str, AnySource]) -> None:
        self._originals = originals
        self._seen: set[bytes] = set()
        self._unchanged: dict[tuple[str, int], bytes | None] = {}
        self._encodings: dict[str, str] = {}

    def new(self, proposal: Proposal, sources: Mapping[str, AnySource]) -> bool:
        """Whether a proposal against `sources` compiles, can be written in the encoding of each file, differs from the
        original code, and was not seen before.

        Remembers it.
        """
        digest = hashlib.blake2b(digest_size=16)
        changed = False
        for path in proposal.paths:
            edits = tuple(edit for edit in proposal.edits if edit.span.path == path)
            source = sources[path]
            start, end = _window(source, min(e.span.start for e in edits), max(e.span.end for e in edits))
            if not self._writable(path, edits):
                return False
            try:
                text = apply_edits(source.text, edits)
            except ValueError:
                return False
            if isinstance(source, TreeSource):
                fingerprint = trees.fingerprint(path, text)
            else:
                fingerprint = _fingerprint(text[start : len(text) - (len(source.text) - end)])
            if fingerprint is None:
                return False
            changed |= fingerprint != self._original(path, start)
            digest.update(f"{path}:{start}:".encode() + fingerprint)
        key = digest.digest()
        if not changed or key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _writable(self, path: str, edits: Iterable[Edit]) -> bool:
        """Whether the file's own encoding has all characters of the edits."""
        if path not in self._encodings:
            self._encodings[path] = _encoding(self._originals[path].text)
        try:
            for edit in edits:
                edit.replacement.encode(self._encodings[path], "surrogateescape")
        except UnicodeError:
            return False
        return True

    def _original(self, path: str, start: int) -> bytes | None:
        if (path, start) not in self._unchanged:
            source = self._originals[path]
            if isinstance(source, TreeSource):
                self._unchanged[path, start] = trees.original(source)
            else:
                self._unchanged[path, start] = _fingerprint(source.text[slice(*_window(source, start, start))])
        return self._unchanged[path, start]


def _encoding(text: str) -> str:
    """The encoding that the first lines of a file declare, or else UTF-8."""
    try:
        return tokenize.detect_encoding(BytesIO(text.encode("utf-8", "surrogateescape")).readline)[0]
    except SyntaxError:
        return "utf-8"


def _window(source: AnySource, start: int, end: int) -> tuple[int, int]:
    """The lines of the outermost function around [start, end), or the whole file."""
    if isinstance(source, TreeSource):
        return 0, len(source.text)
    for function in source.functions():
        low = source.line_start(min([function.lineno, *(d.lineno for d in function.decorator_list)]))
        high = source.line_start((function.end_lineno or function.lineno) + 1)
        if low <= start and end <= high:
            return low, high
    return 0, len(source.text)


def _fingerprint(text: str) -> bytes | None:
    """The canonical tree of a piece of code at any indentation; None when it does not compile."""
    if text.lstrip("\r\n")[:1] in (" ", "\t"):
        text = f"class _:\n{text}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = parse(text)
            compile(tree, "<candidate>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return None
    return ast.dump(_Canonical().visit(tree)).encode("utf-8", "surrogatepass")


class _Canonical(ast.NodeTransformer):
    """One form for programs that no test can tell apart: `not a == b`, `b > a`, `a + -1`, statements without effect."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) and len(inner.ops) == 1:
            negated = _NEGATED.get(type(inner.ops[0]))
            return ast.Compare(inner.left, [negated()], inner.comparators) if negated else node
        if isinstance(node.op, ast.USub) and isinstance(inner, ast.Constant) and type(inner.value) in (int, float):
            return ast.Constant(-inner.value)  # type: ignore[operator]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1 and type(node.ops[0]) in _MIRRORED and _pure(node.left) and _pure(node.comparators[0]):
            return ast.Compare(node.comparators[0], [_MIRRORED[type(node.ops[0])]()], [node.left])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        right = node.right
        if isinstance(node.op, ast.Sub) and isinstance(right, ast.Constant) and type(right.value) in (int, float):
            return ast.BinOp(node.left, ast.Add(), ast.Constant(-right.value))  # type: ignore[operator]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        return ast.Pass() if isinstance(node.value, ast.Constant | ast.Name) else node


def _pure(node: ast.expr) -> bool:
    return all(isinstance(n, ast.Name | ast.Constant | ast.expr_context) for n in ast.walk(node))
