from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from model.block_side import BlockSide, BlockSideConfig
from model.training import loop
from model.training.loop import Plan, Trainer, learning_share
from model.weights.block_side_files import save
from tests.model.tiny_sprig import CONFIG, tiny_trunk


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Two packages of repeated phrases: something that can be learned."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    random = np.random.default_rng(0)
    phrases = random.integers(2, CONFIG.vocabulary, (6, 7))
    for name in ("one", "two"):
        np.save(folder / f"{name}.npy", phrases[random.integers(0, 6, 200)].reshape(-1).astype(np.int32))
    packages = [loop.corpus.Package("one", "1", "MIT", "train"), loop.corpus.Package("two", "1", "MIT", "validation")]
    monkeypatch.setattr(loop.corpus, "packages", lambda: packages)
    return folder


def trainer(texts: Path, folder: Path, device: str = "cpu") -> Trainer:
    torch.manual_seed(0)
    side = BlockSide(CONFIG, BlockSideConfig(rank=4, slots=40, memory_layers=(0, 2), chunk=8, sampler=16, successor=16))
    plan = Plan(folder, texts, minutes=10, length=64, rows=96, rate=5e-3, device=device)
    return Trainer(plan, tiny_trunk().to(device), side)


def test_training_lowers_the_loss_and_leaves_the_trunk_alone(texts, tmp_path):
    student = trainer(texts, tmp_path)
    trunk_before = student.trunk.embedding_VE.clone()
    before = student.validate()
    for _ in range(40):
        student.learn()
    after = student.validate()
    assert after["conditioned"] < before["conditioned"] - 0.3
    assert after["blind"] < before["blind"] - 0.1
    assert torch.equal(student.trunk.embedding_VE, trunk_before)


def test_a_resumed_run_goes_on_as_it_stood(texts, tmp_path):
    first = trainer(texts, tmp_path)
    first.resume()
    for _ in range(3):
        first.learn()
    first.minutes = 1.5
    first.save("last")
    second = trainer(texts, tmp_path)
    second.resume()
    assert (second.step, second.minutes) == (3, 1.5)
    for ours, theirs in zip(first.side.parameters(), second.side.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    first_parameter = next(iter(loop.trained(second.side).values()))
    assert second.optimizer.state[first_parameter]["step"] == 3


def test_without_a_checkpoint_a_run_goes_on_from_what_ships(texts, tmp_path, monkeypatch):
    shipped = trainer(texts, tmp_path / "other").side
    with torch.no_grad():
        shipped.mask_E.fill_(0.5)
    save(shipped, tmp_path / "shipped", {"steps": 831, "minutes": 78.0})
    monkeypatch.setattr(loop.block_side_files, "SHIPPED", tmp_path / "shipped")
    student = trainer(texts, tmp_path / "new")
    student.resume()
    assert (student.step, student.minutes) == (831, 78.0)
    assert torch.equal(student.side.mask_E, torch.full_like(student.side.mask_E, 0.5))
    student.learn()
    assert student.optimizer.param_groups[0]["lr"] < student.plan.rate / 10, "an optimizer without a past warms up"


def test_what_ships_in_other_sizes_is_left_alone(texts, tmp_path, monkeypatch):
    other = BlockSide(CONFIG, BlockSideConfig(rank=2, slots=40, memory_layers=(0,), chunk=8, sampler=16, successor=16))
    save(other, tmp_path / "shipped", {"steps": 831, "minutes": 78.0})
    monkeypatch.setattr(loop.block_side_files, "SHIPPED", tmp_path / "shipped")
    student = trainer(texts, tmp_path / "new")
    student.resume()
    assert (student.step, student.minutes) == (0, 0.0)


def test_closed_slots_are_opened_once_and_add_nothing_at_first(texts, tmp_path):
    student = trainer(texts, tmp_path)
    slot = student.side.slot(2)
    with torch.no_grad():
        slot.bias.fill_(-30.0)
        slot.output.fill_(1.0)
        student.side.slot(0).bias.fill_(3.0)
    opened = student.side.slot(0).bias.clone()
    student.resume()
    bias = slot.bias.clone()
    assert (bias > -10).all() and (slot.output == 0).all()
    assert torch.equal(student.side.slot(0).bias, opened), "a slot with a share of its own stays as it is"
    student.save("last")
    again = trainer(texts, tmp_path)
    again.resume()
    assert torch.equal(again.side.slot(2).bias, bias)


def test_a_resumed_run_reads_on(texts, tmp_path):
    first = trainer(texts, tmp_path)
    begun = first.streams.next()[0]
    first.step = 40
    first.save("last")
    second = trainer(texts, tmp_path)
    second.resume()
    assert not torch.equal(second.streams.next()[0], begun)


def test_gradients_reach_every_part(texts, tmp_path):
    student = trainer(texts, tmp_path)
    touched = set()
    for _ in range(8):
        student.learn()
        touched |= {name for name, p in student.side.named_parameters() if p.grad is not None and p.grad.any()}
    untouched = set(loop.trained(student.side)) - touched
    assert untouched == set()


def test_rate_warms_up_stays_and_falls():
    assert learning_share(0, 0, 100, 0.2) < 0.05
    assert learning_share(500, 50, 100, 0.2) == 1.0
    assert learning_share(500, 90, 100, 0.2) == pytest.approx(0.5)


WORKER = """
import sys, torch, torch.distributed as dist
from pathlib import Path
import numpy as np
dist.init_process_group("gloo")
from model.training import loop
from tests.model.training.test_learning import trainer
loop.corpus.packages = lambda: [
    loop.corpus.Package("one", "1", "MIT", "train"), loop.corpus.Package("two", "1", "MIT", "validation")]
student = trainer(Path(sys.argv[1]), Path(sys.argv[2]))
for _ in range(3):
    student.learn()
torch.save(student.side.state_dict(), Path(sys.argv[2]) / f"rank{dist.get_rank()}.pt")
dist.destroy_process_group()
"""


def test_two_processes_learn_the_same(texts, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    root = Path(__file__).parents[3]
    base = os.environ | {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(root),
    }  # fmt: skip
    command = [sys.executable, "-c", WORKER, str(texts), str(tmp_path)]
    workers = [subprocess.Popen(command, env=base | {"RANK": str(rank)}) for rank in range(2)]
    assert [worker.wait(timeout=240) for worker in workers] == [0, 0]
    one, two = (torch.load(tmp_path / f"rank{rank}.pt", weights_only=True) for rank in range(2))
    alone = trainer(texts, tmp_path)
    for _ in range(3):
        alone.learn()
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert any(not torch.equal(one[name], value) for name, value in alone.side.state_dict().items())


def test_every_process_has_a_gpu_of_its_own(monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert [loop.own_device(asked) for asked in ("cpu", "cuda", "cuda:3")] == ["cpu", "cuda", "cuda:3"]
    monkeypatch.setenv("LOCAL_RANK", "2")
    assert [loop.own_device(asked) for asked in ("cpu", "cuda", "cuda:3")] == ["cpu", "cuda:2", "cuda:3"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_gpu_it_learns_the_same_and_goes_on_from_there(texts, tmp_path):
    host, student = trainer(texts, tmp_path / "host"), trainer(texts, tmp_path, device="cuda")
    student.resume()
    host.resume()
    for _ in range(2):
        ours, theirs = student.learn(), host.learn()
        assert ours.loss.total.item() == pytest.approx(theirs.loss.total.item(), rel=1e-2)
    student.save("last")
    again = trainer(texts, tmp_path, device="cuda")
    again.resume()
    again.learn()
    assert again.step == 3 and again.side.mask_E.is_cuda
    moved = trainer(texts, tmp_path)
    moved.resume()
    moved.learn()
    assert moved.step == 3 and not moved.side.mask_E.is_cuda
