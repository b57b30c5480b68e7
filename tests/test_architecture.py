"""The shape of the project: which room may import which, what stays lazy, and how long a module may grow."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("coder", "lsp", "model", "sandbox")
LONGEST = 310
ONE_FILE = {"sandbox/hostile/attempts.py"}  # it runs inside the jail by itself, as one plain file

# Who may not import whom: the arrows of docs/architecture.md.
FORBIDDEN = {
    "model": ("coder", "lsp", "sandbox", "benchmarks"),
    "sandbox": ("coder", "lsp", "model", "benchmarks"),
    "lsp": ("coder.cli", "coder.agent", "benchmarks"),
    "coder/cli": ("lsp.", "benchmarks"),
    "coder/agent": ("coder.cli", "lsp", "benchmarks"),
    "coder/completion": ("coder.engine", "coder.cli", "coder.agent", "lsp", "benchmarks"),
    "coder/verbs": ("coder.engine", "coder.cli", "coder.agent", "lsp", "benchmarks"),
    "coder/repair": ("coder.engine", "coder.cli", "coder.agent", "lsp", "benchmarks"),
    "coder/repository": ("coder.engine", "coder.repair", "coder.cli", "coder.agent", "lsp", "benchmarks"),
    "coder": ("benchmarks",),
    "benchmarks/injected/families.py": ("coder",),
    "benchmarks/injected/larger.py": ("coder",),
    "benchmarks/injected/inject.py": ("coder",),
}


def modules(place: str) -> list[Path]:
    path = ROOT / place
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_at_once(tree: ast.Module) -> Iterator[str]:
    """What importing the module imports: functions are left out, and so is what stands under TYPE_CHECKING."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from imports(node)
        waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler)]


def reaches(name: str, room: str) -> bool:
    return name == room.rstrip(".") or name.startswith(room.rstrip(".") + ".")


@pytest.mark.parametrize("place", FORBIDDEN)
def test_arrows_point_one_way(place: str) -> None:
    wrong = [
        f"{name_of(path)} imports {name}"
        for path in modules(place)
        for name in imports(ast.parse(path.read_text()))
        if any(reaches(name, room) for room in FORBIDDEN[place])
    ]
    assert not wrong
    assert modules(place), f"{place} has no modules: the rule holds nothing"


def file_of(name: str) -> Path | None:
    """The file of a module of ours; None for what is not one."""
    path = ROOT.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def way_to_torch(path: Path, seen: set[Path]) -> list[str]:
    """The chain of imports, done as soon as the module is imported, that ends at torch; empty when there is none."""
    seen.add(path)
    for name in imports_at_once(ast.parse(path.read_text())):
        if reaches(name, "torch"):
            return [name]
        parts = name.split(".")
        for above in (".".join(parts[:length]) for length in range(1, len(parts) + 1)):
            found = file_of(above)
            if found and found not in seen and (rest := way_to_torch(found, seen)):
                return [name, *rest]
    return []


@pytest.mark.parametrize("room", ["coder", "lsp"])
def test_torch_is_imported_only_when_a_model_is_used(room: str) -> None:
    ways = {name_of(path): way_to_torch(path, set()) for path in modules(room)}
    assert {name: " → ".join(way) for name, way in ways.items() if way} == {}


def test_help_imports_no_torch() -> None:
    code = (
        "import sys\n"
        "from coder.cli.main import run\n"
        "sys.argv = ['coder', '--help']\n"
        "try:\n"
        "    run()\n"
        "except SystemExit as stop:\n"
        "    status = stop.code\n"
        "heavy = {'torch', 'transformers', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'{status}, imported {heavy}' if heavy or status else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    assert "fix" in done.stdout


@pytest.mark.parametrize("room", [*ROOMS, "benchmarks"])
def test_modules_stay_short(room: str) -> None:
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in modules(room)}
    assert {name: length for name, length in lengths.items() if length > LONGEST and name not in ONE_FILE} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_says_what_it_is(room: str) -> None:
    trees = {name_of(path): ast.parse(path.read_text()) for path in modules(room)}
    assert [name for name, tree in trees.items() if tree.body and ast.get_docstring(tree) is None] == []


def documents() -> list[Path]:
    rooms = (*ROOMS, "benchmarks", "docs", "examples", "tests")
    texts = [path for room in rooms for path in (ROOT / room).rglob("*.*")]
    kinds = {".py", ".md", ".toml", ".lua", ".ts", ".js", ".sh", ".yml"}
    skipped = {"node_modules", "__pycache__", ".pytest_cache"}
    texts = [path for path in texts if path.suffix in kinds and not skipped & set(path.parts) and path.is_file()]
    return [*texts, *(path for path in (ROOT / "README.md", ROOT / "Makefile") if path.exists())]


def test_nothing_is_left_undone_and_no_machine_is_named() -> None:
    unwanted = re.compile(r"(?:#|//|--).*\b(?:TODO|FIXME|XXX)\b|(?<![\w.])/(?:work|root|home/\w+)/\w+")
    found = [
        f"{name_of(path)}: {match.group()}"
        for path in documents()
        if path != Path(__file__).resolve()
        for match in unwanted.finditer(path.read_text())
    ]
    assert found == []


@pytest.mark.parametrize("room", ["coder", "lsp"])
def test_users_are_never_told_that_a_patch_is_correct(room: str) -> None:
    claims = []
    for path in modules(room):
        tree = ast.parse(path.read_text())
        documented = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) and node not in documented else None
            if isinstance(text, str) and re.search(r"(?i)\b(in)?correct(ly)?\b", text):
                claims.append(f"{name_of(path)}:{node.lineno} {text!r}")
    assert claims == []


def test_trees_are_built_by_one_thread_at_a_time() -> None:
    """All through `sandbox.trees`, but for what runs in the jail or in the only thread of a program."""
    alone = ("sandbox/testing/inside/", "sandbox/hostile/", "sandbox/trees.py")
    for room in ("coder", "lsp", "sandbox"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            assert name.startswith(alone) or "ast.parse(" not in path.read_text(), name
