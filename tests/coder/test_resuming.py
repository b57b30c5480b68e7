"""What one command has read of a file, the next one goes on from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from coder import events
from coder.completion.knowledge import Knowledge
from coder.completion.prompt import prompt_of
from coder.completion.situation import Lines, Situation
from coder.completion.stopping import extent_of
from coder.completion.writer import Writer
from coder.config import Settings
from coder.engine import Engine, FixRequest
from coder.reading import FIX, Reading, files_of, heading, open_store, state_format
from coder.reading_plan import near_failure
from coder.repository import Repository
from coder.resuming import resume
from lsp.positions import split_lines
from model.sprig import Sprig
from tests.coder.cli.harness import FakeSandbox
from tests.coder.repair.fakes import ScriptedTester
from tests.lsp.parrot import never
from tests.model.tiny_llama import CONFIG, tiny_llama
from tests.model.tiny_sprig import tiny_side
from tests.model.toy import ByteTokenizer

CONFIG_OF_BYTES = replace(CONFIG, vocabulary=ByteTokenizer.vocabulary, context=4096, end_id=ByteTokenizer.end_id)
FILES = {
    "shop/price.py": "RATE = 19\n\n\ndef total(cart):\n    return sum(cart) + RATE\n",
    "shop/cart.py": (
        "from shop.price import total\n\n\ndef checkout(cart):\n    return total(cart) * 2\n\n\n"
        "def empty():\n    return []\n"
    ),
    "test_it.py": "from shop.cart import checkout\n\n\ndef test_it():\n    assert checkout([1]) == 'one'\n",
}
CART = FILES["shop/cart.py"]


class Counting:
    """Counts the tokens that a model commits."""

    def __init__(self, model) -> None:
        self.tokens = 0
        self._commit, model.commit = model.commit, self.commit
        if isinstance(model, Sprig):
            self._foresee, model.foresee = model.foresee, self.foresee

    def commit(self, tokens, state, **more):
        self.tokens += len(tokens)
        return self._commit(tokens, state, **more)

    def foresee(self, known, width, state):
        self.tokens += len(known)
        return self._foresee(known, width, state)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(params=["sprig", "llama"])
def model(request):
    torch.set_num_threads(1)
    trunk = tiny_llama(config=CONFIG_OF_BYTES)
    return Sprig(trunk, tiny_side()) if request.param == "sprig" else trunk


def read(project: Path, model, order=("shop/price.py", "shop/cart.py"), state="state"):
    repository = Repository(project)
    reading = Reading.of(repository, state_format(model).model_id, order, FIX)
    return reading.read(model, ByteTokenizer(), open_store(project.parent / state))


def found(project: Path, model, text: str, state="state"):
    return resume(open_store(project.parent / state), project, model, ByteTokenizer(), "shop/cart.py", text)


@pytest.mark.parametrize("part", [20, 60, len(CART)])
def test_the_state_within_a_file_is_the_state_that_read_up_to_there(project, model, part) -> None:
    read(project, model)
    count = Counting(model)
    resumed = found(project, model, CART[:part])
    assert resumed is not None and count.tokens == 0, "nothing is read"
    assert bytes(resumed.tokens).decode() == heading("shop/cart.py") + CART[:part]
    assert resumed.files == ("shop/price.py",)
    ids = ByteTokenizer().encode(heading("shop/price.py") + FILES["shop/price.py"]) + list(resumed.tokens)
    _, expected = model.commit(ids, model.start(), rows=slice(0, 0))
    probe = ByteTokenizer().encode("def g(")
    torch.testing.assert_close(model.commit(probe, resumed.state)[0], model.commit(probe, expected)[0])
    if isinstance(model, Sprig):
        for layer, memory_HDD in expected.memory.items():
            torch.testing.assert_close(resumed.state.memory[layer], memory_HDD)


def test_what_a_trunk_has_read_its_block_side_goes_on_from(project) -> None:
    trunk = tiny_llama(config=CONFIG_OF_BYTES)
    read(project, trunk)
    model = Sprig(trunk, tiny_side())
    resumed = found(project, model, CART)
    ids = ByteTokenizer().encode(heading("shop/price.py") + FILES["shop/price.py"]) + list(resumed.tokens)
    _, expected = model.commit(ids, model.start(), rows=slice(0, 0))
    assert resumed.state.last == expected.last and resumed.state.unwritten == expected.unwritten
    for layer, memory_HDD in expected.memory.items():
        torch.testing.assert_close(resumed.state.memory[layer], memory_HDD)


def test_of_a_changed_file_what_is_still_the_same_is_found(project, model) -> None:
    read(project, model)
    changed = CART.replace("* 2", "* 3")
    resumed = found(project, model, changed)
    assert bytes(resumed.tokens).decode() == heading("shop/cart.py") + CART[: CART.index("2")]


def test_other_files_projects_and_models_know_nothing(project, model) -> None:
    read(project, model)
    store = open_store(project.parent / "state")
    assert resume(store, project, model, ByteTokenizer(), "shop/price.py", "RATE") is None
    assert resume(store, project.parent, model, ByteTokenizer(), "shop/cart.py", CART) is None
    assert (
        resume(store, project, tiny_llama(seed=5, config=CONFIG_OF_BYTES), ByteTokenizer(), "shop/cart.py", CART)
        is None
    )
    assert found(project, model, CART, "empty") is None


def test_of_a_file_that_nobody_read_nothing_is_encoded_and_of_a_long_one_no_more_than_can_be_known(
    project, model, monkeypatch
) -> None:
    read(project, model)
    encoded = []

    class Telling(ByteTokenizer):
        def encode(self, text):
            encoded.append(text)
            return super().encode(text)

    store = open_store(project.parent / "state")
    assert resume(store, project, model, Telling(), "shop/price.py", FILES["shop/price.py"]) is None
    assert encoded == []
    monkeypatch.setattr("coder.resuming._LONGEST", 60)
    resumed = resume(store, project, model, Telling(), "shop/cart.py", CART + "x" * 1000)
    assert encoded == [(heading("shop/cart.py") + CART)[:60]]
    assert resumed is not None and bytes(resumed.tokens).decode() == encoded[0]


def test_a_file_larger_than_the_window_is_known_at_its_end_only(project, model, monkeypatch) -> None:
    monkeypatch.setattr("coder.reading.WINDOW", 16)
    read(project, model)
    resumed = found(project, model, CART[:30])
    assert (resumed is None) == isinstance(model, Sprig)
    assert len(found(project, model, CART).tokens) == len(heading("shop/cart.py") + CART)


def complete(writer: Writer, before: str):
    situation = Situation("u", "shop/cart.py", "python", before, "\n")
    lines = split_lines(before)
    return writer.write(
        prompt_of(situation, lines, len(lines) - 1), situation, extent_of(situation, Lines.ONE), 1, never()
    )


def test_after_a_fix_the_first_completion_does_not_read_the_file_again(project, model) -> None:
    """The tests want what no edit makes, so the search comes to where it reads, and writes."""
    tokenizer, state = ByteTokenizer(), project.parent / "state"

    def enough(event: events.Event) -> None:
        if isinstance(event, events.Block) and event.origin == "rewrite":
            engine.cancel.set()

    engine = Engine(
        Repository(project),
        replace(Settings(), timeout=60.0),
        state,
        Path(),
        enough,
        find_sandbox=lambda sandboxed: FakeSandbox(),
        make_tester=lambda sandbox, tree, request: ScriptedTester("shop/cart.py", CART, lambda text: 0),
        load_model=lambda: (model, tokenizer),
    )
    assert engine.fix(FixRequest()) == []
    store = open_store(state)
    (entry,) = store.entries()
    assert [file.path for file in files_of(dict(entry.notes))][-1] == "shop/cart.py"
    before = CART[: CART.index("    return []")] + "    return ["
    # An editor completes with the trunk alone, or without the memory, which could not go back with the cursor.
    editors = [Sprig(model.trunk, tiny_side(), memory=False), model.trunk] if isinstance(model, Sprig) else [model]
    for editor in editors:
        counts = []
        for resuming in (True, False):
            writer, count = Writer(editor, tokenizer, Knowledge()), Counting(editor)
            if resuming:
                writer.resume(store, project, "shop/cart.py", CART)
            complete(writer, before)
            counts.append(count.tokens)
        known, unknown = counts
        assert unknown >= len(heading("shop/cart.py") + before) - 4
        assert known <= 20, "only what stands around the cursor"


def test_deep_in_a_file_too_what_was_read_of_it_is_known(project) -> None:
    """An editor's prompt begins near the cursor; what is known from the file's beginning on costs less to read."""
    text = "".join(f"def number_{n}():\n    return {n}\n\n\n" for n in range(60))
    (project / "shop/cart.py").write_text(text)
    model = tiny_llama(config=CONFIG_OF_BYTES)
    read(project, model)
    writer, count = Writer(model, ByteTokenizer(), Knowledge()), Counting(model)
    writer.resume(open_store(project.parent / "state"), project, "shop/cart.py", text)
    before = text[: text.index("def number_58")] + "def number_58():\n    return "
    assert len(before) > 1600
    complete(writer, before)
    assert count.tokens <= 20


def test_what_is_read_before_a_repair(project) -> None:
    repository = Repository(project)
    order = near_failure(repository, ["shop/price.py", "shop/cart.py"], ["shop/cart.py"], ["test_it.py"])
    assert order == ("shop/price.py", "test_it.py", "shop/cart.py")
    size = len(CART) + len(FILES["test_it.py"])
    assert near_failure(repository, ["shop/price.py"], ["shop/cart.py"], ["test_it.py"], size) == order[1:]
    assert near_failure(repository, [], ["shop/cart.py"], ["test_it.py"], 10) == (), "it would be of no use"
    assert near_failure(repository, ["gone.py"], [], ["test_it.py"]) == ("test_it.py",)
