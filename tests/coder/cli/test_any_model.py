"""A tiny random Clover in the published layout, whatever nonsense it writes, through each command's real path: what is
held here is that its state, its previews and its commits are used."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from coder import events
from coder.config import Settings
from coder.engine import Engine, FixRequest
from coder.repository import Repository
from model.clover import CloverModel
from model.library import open_model
from model.weights.synthetic import TINY, write_random
from tests.coder.cli.harness import FakeSandbox, Program
from tests.coder.repair.fakes import ScriptedTester, checks_of

CODE = "def f(a, b):\n    c = a * b\n    return c\n"


class Spied:
    """Notes the calls of a model: tokens of each commit and their states, rows of each preview and masks of each."""

    def __init__(self, model: CloverModel) -> None:
        self.commits: list[int] = []
        self.previews: list[tuple[int, int]] = []
        self.positions: list[int] = []
        self._commit, self._preview, self._step = model.commit, model.preview, model.step
        model.commit, model.preview, model.step = self.commit, self.preview, self.step

    def commit(self, tokens, state, **more):
        self.commits.append(len(tokens))
        logits, after = self._commit(tokens, state, **more)
        self.positions.append(after.position)
        return logits, after

    def preview(self, block, state):
        before, held = {name: tensor.clone() for name, tensor in state.tensors.items()}, state.tensors
        self.previews.append((len(block.tokens), int(block.masked.sum())))
        logits = self._preview(block, state)
        assert all(torch.equal(held[name], tensor) for name, tensor in before.items()), "a preview changes nothing"
        return logits

    def step(self, known, masks, state):
        self.commits.append(len(known))
        self.previews.append((masks, masks))
        return self._step(known, masks, state)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.set_num_threads(1)
    return write_random(tmp_path / "clover", TINY)


@pytest.fixture
def clover(folder: Path):
    model, tokenizer = open_model(str(folder), "fp32")
    assert isinstance(model, CloverModel)
    return model, tokenizer, Spied(model)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text(CODE)
    (root / "test_it.py").write_text("from a import f\n\n\ndef test_it():\n    assert f(2, 3) == 5\n")
    return root


def engine(project: Path, model, tokenizer, judge, listener=events.ignore) -> Engine:
    return Engine(
        Repository(project),
        replace(Settings(), timeout=60.0),
        project.parent / "state",
        Path(),
        listener,
        find_sandbox=lambda sandboxed: FakeSandbox(),
        make_tester=lambda sandbox, tree, request: ScriptedTester("a.py", CODE, judge),
        load_model=lambda: (model, tokenizer),
    )


def test_fix_reads_ranks_and_writes_blocks(project, clover) -> None:
    model, tokenizer, spied = clover
    seen: list[events.Event] = []

    def listener(event: events.Event) -> None:
        seen.append(event)
        if sum(isinstance(event, events.Block) and event.origin == "rewrite" for event in seen) == 3:
            work.cancel.set()

    work = engine(project, model, tokenizer, lambda text: 0, listener)
    assert work.fix(FixRequest(watched=True)) == []
    assert any(masks and rows > masks for rows, masks in spied.previews), "masks with both sides in view"
    reading = [event for event in seen if isinstance(event, events.Reading)]
    assert reading and max(spied.positions) >= reading[-1].of > 0, "the memory is what was read before the place"
    assert any(isinstance(event, events.Canvas) for event in seen)
    from coder.reading import open_store

    (entry,) = open_store(work.state).entries()
    assert entry.model_id == model.model_id and entry.position == reading[-1].of


def test_fix_proves_what_it_finds_as_ever(project, clover) -> None:
    model, tokenizer, spied = clover
    (patch,) = engine(project, model, tokenizer, checks_of(((2, 3), 5))).fix(FixRequest())
    assert "a + b" in patch.diff and sum(spied.commits) > 0, "the order came from its likelihoods"


def test_a_completion_of_the_language_server(clover) -> None:
    from coder.completion.knowledge import Knowledge
    from coder.completion.prompt import prompt_of
    from coder.completion.situation import Lines, Situation
    from coder.completion.stopping import extent_of
    from coder.completion.writer import Writer
    from lsp.positions import split_lines

    model, tokenizer, spied = clover
    writer = Writer(model, tokenizer, Knowledge())
    situation = Situation("u", "a.py", "python", CODE + "\n\ndef g(", "\n")
    lines = split_lines(situation.before)
    prompt = prompt_of(situation, lines, len(lines) - 1)
    draft = writer.write(prompt, situation, extent_of(situation, Lines.ONE), 8, threading.Event())
    assert draft is not None
    read = sum(spied.commits)
    assert read >= len(tokenizer.encode(prompt.text)) - 4
    writer.write(prompt, situation, extent_of(situation, Lines.ONE), 8, threading.Event())
    assert sum(spied.commits) - read < read / 2, "the state is kept"


def test_a_terminal_task(project, folder, tmp_path, monkeypatch) -> None:
    """Tool calls are decoded under a grammar, so even a random model makes well-formed ones."""
    spies = []

    def opened(name, precision):
        model, tokenizer = open_model(name, precision)
        spies.append(Spied(model))
        return model, tokenizer

    monkeypatch.setattr("model.library.open_model", opened)
    coder = Program(tmp_path / "home", project)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    done = coder("do", "say what f does", "--model", str(folder), "--max-steps", "2", "--timeout", "60", "--json")
    (spied,) = spies
    assert sum(spied.commits) > 200 and spied.previews, "it read the task, and its drafts came from previews"
    assert done.events[-1]["type"] == "task_result" or done.events[-1]["type"] == "result"
    assert done.status not in (1, 9), done.stderr
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("decoder", ["ar", "diffusion", "draft_verify", "full_canvas", "uniform_noise"])
def test_every_decoder_writes_with_it(folder, tmp_path, decoder) -> None:
    coder = Program(tmp_path / "home", tmp_path)
    done = coder("generate", "--model", str(folder), "--prompt", "def f", "--max-tokens", "8", "--decoder", decoder)
    assert done.status == 0, done.stderr
    assert "tokens a pass" in done.stderr
