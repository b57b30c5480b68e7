"""Logits equal those of an independent implementation, transformers, from the same weights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from model.weights.catalogue import load
from model.weights.llama_files import open_folder
from tests.model.tiny_llama import some_ids

_SIZES = {
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
_STRETCHED = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}


@pytest.mark.parametrize(
    ("family", "extra"),
    [
        ("Llama", {"tie_word_embeddings": True}),
        ("Llama", {"tie_word_embeddings": False, "rope_parameters": _STRETCHED, "head_dim": 32}),
        ("Qwen2", {"tie_word_embeddings": True}),
        ("Qwen3", {"tie_word_embeddings": True, "head_dim": 32}),
        ("Mistral", {"tie_word_embeddings": False, "sliding_window": None}),
    ],
    ids=["llama", "llama3-rope-untied", "qwen2", "qwen3", "mistral"],
)
@pytest.mark.parametrize("begin", [True, False])
def test_a_saved_checkpoint_loads_and_agrees(
    tmp_path: Path, family: str, extra: dict[str, object], begin: bool
) -> None:
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**_SIZES, **extra)
    theirs = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    for parameter in theirs.parameters():  # biases start at zero and norms at one: too easy
        torch.nn.init.normal_(parameter, mean=float(parameter.ndim == 1), std=0.2)
    theirs.save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"add_bos_token": begin}))
    ours = open_folder(tmp_path).model()
    ids = some_ids(77)
    with torch.no_grad():
        expected = theirs(torch.tensor([[0, *ids] if begin else ids])).logits[0, int(begin) :]
    prefilled, _ = ours.commit(ids, ours.start())
    torch.testing.assert_close(prefilled, expected, atol=1e-4, rtol=0)
    state, steps = ours.start(), []
    for at in range(0, len(ids), 5):
        logits, state = ours.commit(ids[at : at + 5], state)
        steps.append(logits)
    torch.testing.assert_close(torch.cat(steps), expected, atol=1e-4, rtol=0)


def test_smollm2_agrees() -> None:
    import transformers

    ours, tokenizer = load("smollm2", "fp32")
    c = ours.config
    config = transformers.LlamaConfig(
        vocab_size=c.vocabulary,
        hidden_size=c.width,
        intermediate_size=c.hidden,
        num_hidden_layers=c.layers,
        num_attention_heads=c.heads,
        num_key_value_heads=c.kv_heads,
        rms_norm_eps=c.norm_epsilon,
        rope_parameters={"rope_type": "default", "rope_theta": c.rope_base},
        max_position_embeddings=c.context,
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        theirs = transformers.LlamaForCausalLM(config).eval()

    def half_split(rows: torch.Tensor, heads: int) -> torch.Tensor:
        return rows.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)

    weights = {"model.embed_tokens.weight": ours.embedding_VE, "model.norm.weight": ours.norm_E}
    weights["lm_head.weight"] = ours.embedding_VE
    for index, layer in enumerate(ours.layers):
        at = f"model.layers.{index}."
        inner, outer = c.heads * c.head_size, c.kv_heads * c.head_size
        q, k, v = layer.qkv.weight.split([inner, outer, outer])
        gate, up = layer.gate_up.weight.chunk(2)
        weights |= {
            f"{at}self_attn.q_proj.weight": half_split(q, c.heads),
            f"{at}self_attn.k_proj.weight": half_split(k, c.kv_heads),
            f"{at}self_attn.v_proj.weight": v,
            f"{at}self_attn.o_proj.weight": layer.output.weight,
            f"{at}mlp.gate_proj.weight": gate,
            f"{at}mlp.up_proj.weight": up,
            f"{at}mlp.down_proj.weight": layer.down.weight,
            f"{at}input_layernorm.weight": layer.attention_norm,
            f"{at}post_attention_layernorm.weight": layer.mlp_norm,
        }
    theirs.load_state_dict(weights, assign=True)
    theirs.model.rotary_emb = type(theirs.model.rotary_emb)(config)  # its buffers are not in the state dict
    ids = tokenizer.encode(Path(__file__).read_text())[:120]
    with torch.no_grad():
        expected = theirs(torch.tensor([[c.begin_id, *ids]])).logits[0, 1:]
    logits, _ = ours.commit(ids, ours.start())
    torch.testing.assert_close(logits, expected, atol=1e-3, rtol=0)


def test_other_architectures_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gemma"}')
    with pytest.raises(ValueError, match="gemma"):
        open_folder(tmp_path).model()
    (tmp_path / "config.json").write_text('{"model_type": "mistral", "sliding_window": 4096}')
    with pytest.raises(ValueError, match="sliding-window"):
        open_folder(tmp_path).model()
    with pytest.raises(ValueError, match="not a model folder"):
        open_folder(tmp_path / "none").model()
