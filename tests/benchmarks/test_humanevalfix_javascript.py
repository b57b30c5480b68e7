from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.humanevalfix_javascript import CODE, TEST, write_project
from benchmarks.node import Node

TASK = {
    "prompt": "/* Twice x. */\nconst helper = (x) => x;\n\nconst twice = (x) => {\n",
    "test": "const testTwice = () => {\n"
    "  console.assert(twice(helper(2)) === 4)\n"
    "  console.assert(twice(3) === 6)\n}\n\ntestTwice()\n",
}


@pytest.mark.parametrize(
    ("body", "status"), [("  return x + x;\n}\n", 0), ("  return x * x;\n}\n", 1), ("  return y;\n}\n", 1)]
)
def test_the_script_ends_with_zero_only_for_right_code(node: Node, tmp_path: Path, body: str, status: int) -> None:
    write_project({**TASK, "buggy_solution": body}, tmp_path)
    done = subprocess.run([node.program, TEST], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == status, done.stderr


def test_the_solution_is_not_in_the_project(tmp_path: Path) -> None:
    write_project({**TASK, "buggy_solution": "  return x * x;\n}\n", "canonical_solution": "x + x"}, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [CODE, TEST]
    assert not any("x + x" in path.read_text() for path in tmp_path.iterdir())
