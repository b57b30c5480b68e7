from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.clover_config import CloverConfig
from model.layers.experts import SparseExperts
from model.layers.linear import FloatLinear, Int8Linear, int8_supported
from model.tokenizer import BytePairTokenizer
from model.weights import names
from model.weights.checkpoint import Checkpoint, CheckpointError
from model.weights.clover_files import load_clover
from model.weights.expert_banks import FusedBank, SeparateBank, Stack, quantise
from model.weights.expert_files import quantise_experts
from model.weights.synthetic import PUBLISHED, TINY, write_random

torch.set_num_threads(1)
TEXT = list(b"for i in range(3):")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random(tmp_path_factory.mktemp("clover"))


def logits(folder: Path, **options: object) -> torch.Tensor:
    model = load_clover(folder, **options)  # type: ignore[arg-type]
    _, state = model.commit(TEXT, model.start())
    return torch.cat([model.commit(TEXT, state)[0], model.step([3], 5, state)[0]])


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """The same weights at other places in memory: on some machines the last bits of a sum depend on that."""
    return torch.allclose(one, other, atol=1e-5, rtol=0)


def rewritten(folder: Path, target: Path, change) -> Path:  # type: ignore[no-untyped-def]
    """The checkpoint with all tensors in one file after `change` of the name → tensor mapping."""
    target.mkdir()
    tensors = {
        name: tensor for path in sorted(folder.glob("*.safetensors")) for name, tensor in load_file(path).items()
    }
    save_file(change(tensors), target / "model.safetensors")
    (target / "config.json").write_text((folder / "config.json").read_text())
    return target


def test_experts_one_by_one_are_the_fused_ones(folder: Path, tmp_path: Path) -> None:
    def split(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        found = {}
        for name, tensor in tensors.items():
            prefix, _, part = name.rpartition(".")
            for x in range(tensor.shape[0]) if prefix.endswith(".experts") else ():
                if part == "gate_up_proj":
                    gate, up = (half.clone() for half in tensor[x].chunk(2))
                    found |= {f"{prefix}.{x}.gate_proj.weight": gate, f"{prefix}.{x}.up_proj.weight": up}
                else:
                    found[f"{prefix}.{x}.{part}.weight"] = tensor[x].clone()
            if not prefix.endswith(".experts"):
                found[name] = tensor
        return found

    separate = rewritten(folder, tmp_path / "separate", split)
    assert isinstance(load_clover(separate).layers[0].mlp.bank, SeparateBank)  # type: ignore[union-attr]
    assert alike(logits(separate), logits(folder))


def test_vision_prefix_is_dropped_and_other_parts_are_skipped(folder: Path, tmp_path: Path) -> None:
    def rename(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        found = {name.replace("model.", "model.language_model.", 1): tensor for name, tensor in tensors.items()}
        extra = torch.ones(1)
        return found | {"mtp.layers.0.x": extra, "model.visual.blocks.0.norm1.weight": extra.clone()}

    renamed = rewritten(folder, tmp_path / "renamed", rename)
    assert alike(logits(renamed), logits(folder))
    assert not [name for name in Checkpoint(renamed, names.canonical).names if "mtp" in name or "visual" in name]


def test_checkpoint_without_clovers_parameters_loads_and_commits_alike(folder: Path, tmp_path: Path) -> None:
    own = (names.CONV_RIGHT, names.LOGIT_SCALE, names.HISTORY_BIAS, names.HISTORY_SLOPE)
    plain = rewritten(folder, tmp_path / "plain", lambda all_: {n: t for n, t in all_.items() if not n.endswith(own)})
    found, expected = logits(plain), logits(folder)
    torch.testing.assert_close(found[: len(TEXT)], expected[: len(TEXT)])
    assert (found[-3:] - expected[-3:]).abs().max() > 1e-3


@pytest.mark.parametrize(("bits", "error"), [(8, 0.01), (4, 0.15)])
def test_quantised_stacks_are_close_and_smaller(bits: int, error: float) -> None:
    weights = torch.randn(3, 10, 128, generator=torch.Generator().manual_seed(0))
    stack = quantise(weights, bits)
    assert stack.weights.nbytes * 8 == weights.numel() * bits
    found = torch.stack([stack.matrix(expert, torch.float32) for expert in range(3)])
    assert ((found - weights).norm() / weights.norm()).item() < error
    with pytest.raises(ValueError, match="8 or 4 bits"):
        quantise(weights, 2)


@pytest.mark.parametrize("bits", [8, 4])
def test_quantised_experts_load_from_disk(tmp_path: Path, folder: Path, bits: int) -> None:
    quantised = write_random(tmp_path, bits=bits)
    bank = load_clover(quantised).layers[0].mlp.bank  # type: ignore[union-attr]
    full = load_clover(folder).layers[0].mlp.bank  # type: ignore[union-attr]
    assert isinstance(bank, FusedBank) and isinstance(full, FusedBank)
    expected: Stack = quantise(full.gate_up_stack.weights, bits)
    assert torch.equal(bank.gate_up(3, torch.float32), expected.matrix(3, torch.float32))
    assert torch.isfinite(logits(quantised)).all()


def test_weights_are_the_mapped_file_itself(folder: Path) -> None:
    checkpoint = Checkpoint(folder, names.canonical)
    one, other = (checkpoint.tensor("layers.0.mlp.experts.down_proj") for _ in range(2))
    assert one.data_ptr() == other.data_ptr(), "a copy for each look"
    head = load_clover(folder).head
    assert isinstance(head, FloatLinear)
    assert str(folder / "model-00000.safetensors") in Path("/proc/self/maps").read_text()


def test_dtype_is_a_choice(folder: Path) -> None:
    model = load_clover(folder, dtype=torch.bfloat16)
    found, state = model.commit(TEXT, model.start())
    assert model.dtype == model.head.weight.dtype == torch.bfloat16 and found.dtype == torch.float32  # type: ignore[attr-defined]
    assert state.tensors["0.delta"].dtype == torch.float32 and state.tensors["0.tail"].dtype == torch.bfloat16
    expected, _ = load_clover(folder).commit(TEXT, load_clover(folder).start())
    assert (found - expected).abs().mean() < 0.05
    assert model.model_id != load_clover(folder).model_id


@pytest.mark.skipif(not int8_supported(), reason="this processor has no FBGEMM kernels")
def test_int8_projections_stay_near_and_keep_their_states_apart(folder: Path) -> None:
    exact, rounded = load_clover(folder), load_clover(folder, int8=True)
    kinds = {type(layer.mlp.shared.down) for layer in rounded.layers if isinstance(layer.mlp, SparseExperts)}
    assert kinds == {Int8Linear} and isinstance(rounded.layers[0].mixer.a, FloatLinear)  # type: ignore[union-attr]
    assert rounded.model_id not in (exact.model_id, load_clover(folder, dtype=torch.bfloat16).model_id)
    x = torch.randn(5, 32, generator=torch.Generator().manual_seed(0))
    found, expected = (model.layers[3].mixer.output(x.repeat(1, 2)) for model in (rounded, exact))  # type: ignore
    assert 0 < (found - expected).norm() < 0.02 * expected.norm()
    logits_TV, _ = rounded.commit(TEXT, rounded.start())
    steps, state = [], rounded.start()
    for token in TEXT:
        logits_1V, state = rounded.commit([token], state)
        steps.append(logits_1V)
    torch.testing.assert_close(torch.cat(steps), logits_TV, atol=0.02, rtol=0)


def test_fingerprint_depends_on_the_weights(folder: Path, tmp_path: Path) -> None:
    again, other = write_random(tmp_path / "a"), write_random(tmp_path / "b", seed=5)
    prints = [Checkpoint(path).fingerprint() for path in (folder, again, other)]
    assert prints[0] == prints[1] != prints[2]


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no config\.json"):
        load_clover(tmp_path)
    cut = rewritten(folder, tmp_path / "cut", lambda all_: {n: t for n, t in all_.items() if "layers.2.mlp" not in n})
    with pytest.raises(CheckpointError, match=r"no tensor layers\.2\.mlp\.gate\.weight"):
        load_clover(cut)
    torn = write_random(tmp_path / "torn")
    shard = torn / "model-00001.safetensors"
    shard.write_bytes(shard.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match="damaged or cut off"):
        load_clover(torn)
    shard.unlink()
    with pytest.raises(CheckpointError, match=r"lacks 1 of 5 shards, first model-00001"):
        load_clover(torn)


def test_config_defaults_and_refusals() -> None:
    published = CloverConfig.from_json(PUBLISHED)
    assert published.layer_types.count("full_attention") == 10 and published.layer_types[3] == "full_attention"
    assert published.conv_width == 8192 and published.rotary == 64
    bare = {name: value for name, value in PUBLISHED.items() if not name.startswith("bd_")}
    block = CloverConfig.from_json(bare).block
    assert (block.mask_id, block.size, block.threshold, block.steps, block.coreset) == (248_077, 32, 0.9, 32, 48)
    nested = CloverConfig.from_json(bare | {"block_diffusion": {"mask_token_id": 5, "block_size": 16}}).block
    assert (nested.mask_id, nested.size, nested.steps) == (5, 16, 16)
    vision = CloverConfig.from_json({"text_config": dict(TINY), "vision_config": {}, "tie_word_embeddings": True})
    assert vision.width == 32 and vision.tied
    for change, message in (
        ({"hidden_act": "gelu"}, "silu"),
        ({"layer_types": ["sliding_attention"] * 4}, "layer_types"),
        ({"rope_parameters": {"rope_type": "yarn"}}, "rope_parameters"),
    ):
        with pytest.raises(ValueError, match=message):
            CloverConfig.from_json(TINY | change)
    with pytest.raises(ValueError, match="linear_num_key_heads"):
        CloverConfig.from_json({name: value for name, value in TINY.items() if name != "linear_num_key_heads"})


def test_synthetic_tokenizer_keeps_every_text(folder: Path) -> None:
    end = json.loads((folder / "config.json").read_text())["eos_token_id"]
    tokenizer = BytePairTokenizer.from_file(folder / "tokenizer.json", end)
    text = "größe = '\t\x00🙂'\r\n"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.vocabulary == TINY["vocab_size"] and tokenizer.special["<|im_end|>"] == end


@pytest.mark.parametrize("bits", [8, 4])
def test_a_checkpoint_is_rewritten_with_small_experts(folder: Path, tmp_path: Path, bits: int) -> None:
    seen: list[tuple[int, int]] = []
    small = quantise_experts(folder, tmp_path / "small", bits, lambda done, total: seen.append((done, total)))
    assert seen == [(n, 5) for n in range(1, 6)]
    assert alike(logits(small), logits(write_random(tmp_path / "direct", bits=bits)))
    sizes = [sum(path.stat().st_size for path in place.glob("*.safetensors")) for place in (small, folder)]
    assert sizes[0] < 0.75 * sizes[1]
    with pytest.raises(FileExistsError):
        quantise_experts(folder, small, bits)
