"""The causal pass against Hugging Face transformers on tiny random checkpoints that its own classes saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
import transformers

from model.clover import CloverModel
from model.weights.clover_files import load_clover

TOLERANCE = {"rtol": 0, "atol": 1e-4}
pytestmark = pytest.mark.filterwarnings("ignore:.past_key_values")
torch.set_num_threads(1)  # tiny tensors: a second thread only waits
SIZES = {
    "vocab_size": 97,
    "hidden_size": 48,
    "num_hidden_layers": 5,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 12,
    "max_position_embeddings": 512,
}
EXPERTS = {
    "num_experts": 6,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "shared_expert_intermediate_size": 40,
}
FAMILIES = {
    "qwen3_5": ("Qwen3_5ForCausalLM", "Qwen3_5TextConfig", {"intermediate_size": 64}),
    "qwen3_5_tied": ("Qwen3_5ForCausalLM", "Qwen3_5TextConfig", {"intermediate_size": 64, "tie_word_embeddings": True}),
    "qwen3_5_moe": ("Qwen3_5MoeForCausalLM", "Qwen3_5MoeTextConfig", EXPERTS),
    "qwen3_next": ("Qwen3NextForCausalLM", "Qwen3NextConfig", EXPERTS),
    "qwen3_next_mixed": (
        "Qwen3NextForCausalLM",
        "Qwen3NextConfig",
        EXPERTS | {"mlp_only_layers": [1], "intermediate_size": 64, "norm_topk_prob": True},
    ),
}


def spread(model: torch.nn.Module) -> None:
    """Weights large enough that every part matters: fresh ones leave norms, gates and biases at constants."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.add_(noise * (0.3 if parameter.dim() == 1 else 0.5 * parameter.shape[-1] ** -0.5))


@pytest.fixture(scope="module", params=FAMILIES)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[torch.nn.Module, CloverModel]:
    architecture, config, extra = FAMILIES[request.param]
    torch.manual_seed(0)
    reference = getattr(transformers, architecture)(getattr(transformers, config)(**SIZES, **extra)).eval()
    spread(reference)
    folder = tmp_path_factory.mktemp(request.param)
    reference.save_pretrained(folder, max_shard_size="100KB")
    return reference, load_clover(folder)


def logits_of(reference: torch.nn.Module, ids: list[int], pieces: Sequence[int] = ()) -> torch.Tensor:
    """The reference's logits, read at once or in pieces through its own cache."""
    cache, found = None, []
    with torch.inference_mode():
        for piece in torch.tensor([ids]).split(list(pieces) or [len(ids)], dim=1):
            result = reference(piece, past_key_values=cache, use_cache=True)
            cache = result.past_key_values
            found.append(result.logits[0])
    return torch.cat(found)


def some_ids(count: int) -> list[int]:
    return torch.randint(0, SIZES["vocab_size"], (count,), generator=torch.Generator().manual_seed(count)).tolist()


@pytest.mark.parametrize("length", [1, 3, 31, 70, 133])
def test_prefill(pair: tuple[torch.nn.Module, CloverModel], length: int) -> None:
    reference, model = pair
    ids = some_ids(length)
    logits, state = model.commit(ids, model.start())
    expected = logits_of(reference, ids)
    assert expected.std() > 0.2, "logits too flat to compare"
    torch.testing.assert_close(logits, expected, **TOLERANCE)
    assert model.position(state) == length


def test_step_by_step_and_in_uneven_pieces(pair: tuple[torch.nn.Module, CloverModel]) -> None:
    reference, model = pair
    ids = some_ids(45)
    for pieces in ([1] * 45, [37, 1, 1, 6], [2, 33, 10]):
        state, found, start = model.start(), [], 0
        for size in pieces:
            logits, state = model.commit(ids[start : start + size], state)
            found.append(logits)
            start += size
        torch.testing.assert_close(torch.cat(found), logits_of(reference, ids, pieces), **TOLERANCE)


def test_only_the_rows_asked_for(pair: tuple[torch.nn.Module, CloverModel]) -> None:
    _, model = pair
    ids = some_ids(12)
    whole, _ = model.commit(ids, model.start())
    last, _ = model.commit(ids, model.start(), rows=slice(-1, None))
    none, _ = model.commit(ids, model.start(), rows=slice(0, 0))
    torch.testing.assert_close(last, whole[-1:], **TOLERANCE)
    assert none.shape == (0, SIZES["vocab_size"])


def test_vision_language_checkpoint_gives_its_text_model(tmp_path: Path) -> None:
    vision = {"depth": 1, "hidden_size": 16, "num_heads": 2, "intermediate_size": 16, "out_hidden_size": 48}
    config = transformers.Qwen3_5MoeConfig(text_config=SIZES | EXPERTS, vision_config=vision)
    torch.manual_seed(0)
    reference = transformers.Qwen3_5MoeForConditionalGeneration(config).eval()
    spread(reference)
    reference.save_pretrained(tmp_path)
    ids = some_ids(40)
    model = load_clover(tmp_path)
    logits, _ = model.commit(ids, model.start())
    torch.testing.assert_close(logits, logits_of(reference, ids), **TOLERANCE)
