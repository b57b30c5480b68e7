"""`coder memory` as a user meets it, in front of small models."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
import torch

from coder.cli.memory_map import columns, heat_map
from coder.config import Settings
from coder.engine import Engine
from coder.exit_status import ExitStatus
from coder.reading import FileRead, open_store
from coder.reading_plan import ReadingTask
from coder.repository import Repository
from model.layers.linear import int8_supported
from model.sprig import Sprig
from model.weights.clover_files import load_clover
from model.weights.synthetic import TINY, write_random
from tests.coder.cli.harness import Program
from tests.model.tiny_sprig import tiny_side, tiny_trunk
from tests.model.toy import ByteTokenizer, ToyModel


class SevenBits(ByteTokenizer):
    """Bytes within the tiny model's vocabulary."""

    def encode(self, text: str) -> list[int]:
        return [2 + byte % 94 for byte in text.encode()]


@pytest.fixture
def program(tmp_path, project) -> Program:
    """The project has two files."""
    program = Program(tmp_path / "home", project)
    program.parts = {"load_model": lambda: (Sprig(tiny_trunk(), tiny_side()), SevenBits())}
    return program


def test_nothing_is_stored_at_first(program) -> None:
    outcomes = program("memory")
    assert (outcomes.status, outcomes.stdout) == (ExitStatus.DONE, "")
    assert "coder memory build" in outcomes.stderr
    assert json.loads(program("memory", "--json").stdout)["memories"] == []


def test_build_then_show(program) -> None:
    built = program("memory", "build")
    assert built.status == ExitStatus.DONE
    assert "2 files" in built.stderr and ": 0 were known" in built.stderr
    facts = json.loads(program("memory", "build", "--json").stdout)
    assert (facts["complete"], facts["files"], facts["read_tokens"], facts["resumed_files"]) == (True, 2, 0, 2)
    shown = program("memory")
    assert shown.status == ExitStatus.DONE
    assert str(program.project) in shown.stdout and "sprig-" in shown.stdout
    assert f"{facts['tokens']:,}" in shown.stdout
    assert "norm of each head over 2 files" in shown.stdout and "█" in shown.stdout
    (memory,) = json.loads(program("memory", "--json").stdout)["memories"]
    assert memory["tokens"] == facts["tokens"] == sum(file["tokens"] for file in memory["files"])
    assert {file["path"] for file in memory["files"]} == {"a.py", "test_a.py"}
    assert memory["bytes"] > 1000 and memory["stale"] == [] and 0 <= memory["age_s"] < 600


def test_only_what_changed_is_read_again_and_stale_files_are_named(program) -> None:
    program("memory", "build")
    before = json.loads(program("memory", "build", "--json").stdout)
    last = json.loads(program("memory", "--json").stdout)["memories"][0]["files"][-1]["path"]
    with (program.project / last).open("a") as file:
        file.write("more = 1\n")
    assert json.loads(program("memory", "--json").stdout)["memories"][0]["stale"] == [last]
    assert f"changed since: {last}" in program("memory").stdout
    after = json.loads(program("memory", "build", "--json").stdout)
    assert after["tokens"] == before["tokens"] + len("more = 1\n")
    assert after["read_tokens"] <= after["tokens"]
    newest = json.loads(program("memory", "--json").stdout)["memories"][0]
    assert newest["stale"] == []


def test_clear_frees_all(program) -> None:
    program("memory", "build")
    stored = sum(memory["bytes"] for memory in json.loads(program("memory", "--json").stdout)["memories"])
    assert stored > 0
    assert json.loads(program("memory", "clear", "--json").stdout) == {"freed": stored}
    assert json.loads(program("memory", "--json").stdout)["memories"] == []
    assert "0.0 MiB freed" in program("memory", "clear").stderr


def test_what_is_stored_is_private(program) -> None:
    program("memory", "build")
    folder = json.loads(program("memory", "--json").stdout)["folder"]
    assert os.stat(folder).st_mode & 0o077 == 0


def test_the_engine_goes_on_from_what_build_has_read(program) -> None:
    program("memory", "build")
    engine = Engine(Repository(program.project), Settings(), program.home / "state", program.home)
    read = engine.read(ReadingTask({"a.py": 1.0}), program.parts["load_model"]())
    assert read.resumed == 2 and len(read.files) == 4


def test_a_random_clover_from_its_folder(program, tmp_path) -> None:
    """Through the door that users take: the model by name, no stand-in."""
    folder = write_random(tmp_path / "clover", TINY)
    program.parts = {}
    built = program("memory", "build", "--model", str(folder), "--json")
    assert built.status == ExitStatus.DONE, built.stderr
    (memory,) = json.loads(program("memory", "--json").stdout)["memories"]
    assert memory["model"] == load_clover(folder, dtype=torch.float32, int8=int8_supported()).model_id
    assert len(memory["files"][0]["norms"]) == 3 * TINY["linear_num_value_heads"]
    assert json.loads(program("memory", "build", "--model", str(folder), "--json").stdout)["read_tokens"] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_and_keeps_what_was_read(program, number) -> None:
    (program.project / "b.py").write_text("b = 1\n" * 400)
    (program.project / "c.py").write_text("c = 1\n" * 400)
    model = Sprig(tiny_trunk(), tiny_side())
    commit = model.commit

    def interrupted(tokens, state, **more):
        if model.position(state) > 2600:  # in the second of the long files
            os.kill(os.getpid(), number)
            time.sleep(0)  # lets the handler run
        return commit(tokens, state, **more)

    model.commit = interrupted
    program.parts = {"load_model": lambda: (model, SevenBits())}
    before = signal.getsignal(number)
    stopped = program("memory", "build", "--json")
    assert stopped.status == ExitStatus.INTERRUPTED
    facts = json.loads(stopped.stdout)
    assert not facts["complete"] and 0 < facts["files"] < 4
    assert signal.getsignal(number) is before
    model.commit = commit
    again = json.loads(program("memory", "build", "--json").stdout)
    assert again["complete"] and again["resumed_files"] == facts["files"]


def test_a_project_that_is_gone_is_said_to_be(program) -> None:
    program("memory", "build")
    program.project.rename(program.project.with_name("elsewhere"))
    assert json.loads(program("memory", "--json").stdout)["memories"][0]["stale"] is None
    assert program("memory").stdout.splitlines()[1].endswith("gone")


def test_errors_say_what_to_do(program, tmp_path) -> None:
    assert program("memory", "build", "nowhere").status == ExitStatus.USAGE
    program.parts = {"load_model": lambda: (ToyModel(), ByteTokenizer())}
    failed = program("memory", "build")
    assert failed.status == ExitStatus.MODEL_FAILED and "keeps no memory" in failed.stderr
    (tmp_path / "empty").mkdir()
    program.parts = {"load_model": lambda: (Sprig(tiny_trunk(), tiny_side()), SevenBits())}
    empty = program("memory", "build", str(tmp_path / "empty"))
    assert empty.status == ExitStatus.DONE and "nothing here to read" in empty.stderr


def test_a_damaged_file_is_no_obstacle(program) -> None:
    program("memory", "build")
    path = open_store(program.home / "state").entries()[0].path
    path.write_bytes(b"torn")
    assert program("memory").status == ExitStatus.DONE
    facts = json.loads(program("memory", "build", "--json").stdout)
    assert facts["complete"] and facts["resumed_files"] < 2


def test_the_progress_bar_is_for_terminals(program) -> None:
    program.variables = {"TERM": "xterm"}
    assert "reading" in program("memory", "build", answers="").stderr
    program("memory", "clear")
    assert "reading" not in program("memory", "build").stderr


def test_the_map_has_a_row_for_each_head_and_no_more_columns_than_fit() -> None:
    files = [FileRead(f"{n}.py", "", 10, (float(n), 100.0 - n)) for n in range(101)]
    assert columns(files, 300) == [file.norms for file in files]
    assert len(columns(files, 20)) == 20 and columns(files, 20)[-1] == (100.0, 0.0)
    drawn = heat_map(files, 26)
    assert drawn is not None
    first, second = drawn.plain.splitlines()[2:]
    assert (len(first), len(second)) == (26, 26)
    assert first[6:] == second[6:][::-1] or (first[6] == " " and first[-1] == "█" and second[-1] == " ")
    assert heat_map([FileRead("a.py", "", 3)], 80) is None
