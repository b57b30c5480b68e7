"""Looks at where a program runs. What depends on the place can behave otherwise in the sandbox than for the user.

Places are computed everywhere, so most looks count only where something is decided by them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sandbox.testing.foreign import called
from sandbox.testing.protected import words

# Modules that know the machine, the user and the folder; and what of them tells one place from another.
_KNOWING = words("os sys pathlib tempfile getpass socket platform")
_TELLING = words("executable prefix gettempdir home expanduser getuser getlogin gethostname node uname getpid cwd")
_VARIABLES = words("HOME USER LOGNAME TMPDIR PWD")
_ENVIRONMENT = words("environ getenv")
_ASKING = words("startswith endswith find rfind index rindex count match search fullmatch")
_HERE = ("", ".")


def found(tree: ast.Module) -> Iterator[str]:
    """What is looked at, as it is written there."""
    knowing = {name for node in ast.walk(tree) for name in _bound(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_current_folder(node, knowing):
            yield f"a look at the current folder: {ast.unparse(node)}"
        for asked in _asked(node):
            for part in ast.walk(asked):
                if isinstance(part, ast.expr) and _tells(part, knowing):
                    yield f"a decision by the place: {ast.unparse(part)}"


def _bound(node: ast.AST) -> Iterator[str]:
    """Names of the modules that know, and of what is imported from them."""
    if isinstance(node, ast.Import):
        modules = [(alias.name, alias) for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = [(node.module or "", alias) for alias in node.names]
    else:
        return
    for module, alias in modules:
        if module.partition(".")[0] in _KNOWING:
            yield alias.asname or alias.name.partition(".")[0]


def _asked(node: ast.AST) -> Iterator[ast.AST]:
    """What a node decides by, where that may be a place."""
    if isinstance(node, ast.Compare):
        yield node
    elif isinstance(node, ast.Match):
        yield node.subject
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKING:
        yield node


def _tells(node: ast.expr, knowing: set[str]) -> bool:
    """Whether an expression says where the program runs. Attributes of the program's own things do not."""
    match node:
        case ast.Name():
            return node.id == "__file__" or (node.id in _TELLING and node.id in knowing)
        case ast.Attribute() if node.attr in _TELLING:
            return _root(node.value) in knowing
        case ast.Subscript(value=ast.Attribute(attr="argv"), slice=ast.Constant(value=0)):
            return True
        case ast.Subscript(value=value, slice=ast.Constant(value=name)):
            return name in _VARIABLES and _last(value) in _ENVIRONMENT
        case ast.Call(args=[ast.Constant(value=name), *_]):
            return name in _VARIABLES and not _ENVIRONMENT.isdisjoint({called(node), _last(_owner(node))})
    return False


def _is_current_folder(call: ast.Call, knowing: set[str]) -> bool:
    name, owner = called(call), _owner(call)
    if name in ("abspath", "realpath"):
        return bool(call.args) and _is_here(call.args[0])
    if name == "cwd" and not call.args:
        return owner is not None and _root(owner) in knowing
    if name in ("resolve", "absolute") and isinstance(owner, ast.Call) and called(owner).endswith("Path"):
        return all(map(_is_here, owner.args))
    return False


def _is_here(value: ast.expr) -> bool:
    return (isinstance(value, ast.Constant) and value.value in _HERE) or _last(value) == "curdir"


def _owner(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _last(value: ast.expr | None) -> str:
    if isinstance(value, ast.Attribute):
        return value.attr
    return value.id if isinstance(value, ast.Name) else ""


def _root(value: ast.expr) -> str:
    """The name that a chain of attributes and calls begins with; "" where it begins with something else."""
    while isinstance(value, ast.Attribute | ast.Call):
        value = value.func if isinstance(value, ast.Call) else value.value
    return value.id if isinstance(value, ast.Name) else ""
