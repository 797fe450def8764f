#!/usr/bin/env python3
"""Makes the models that the search for splits is held to anew, with PyTorch (written with torch 2.15 and transformers 5.23).

make_searched.py NAME…        all without names: a folder of searched/ each

qwen3_moe, qwen3_moe_grouped       experts whose weights are looked up for each token, or multiplied group by group
gpt_oss                            experts whose columns are of two matrices in turns, attention with sinks
deepseek_v3                        attention through narrow projections, groups of experts, a shared expert
mamba                              a scan token by token
mamba2                             one projection and one convolution for all that a scan reads
qwen3_next                         attention that a scan over chunks computes: one convolution for queries, keys and values, heads joined with
                                   rows for a norm that is gated
sam                                windows, heads joined with the batch, attention with computed positions
dit                                blocks whose norms are scaled and shifted by what is computed of a condition

searched/NAME/model.pt2            by torch.export, with random weights
searched/NAME/inputs, outputs      and what PyTorch computes
"""
import functools
import pathlib
import sys
import zipfile

import numpy
import torch
import transformers
from torch import nn
from torch.nn import functional
from transformers.models.qwen3_next import modeling_qwen3_next
from transformers.models.qwen3_next.modeling_qwen3_next import torch_chunk_gated_delta_rule
from transformers.models.sam.modeling_sam import SamVisionEncoder

HERE = pathlib.Path(__file__).resolve().parent / "searched"
WIDTH, HEADS, LAYERS, WORDS = 32, 4, 2, 64


class Logits(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False).logits


class Encoder(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        return self.model(pixel_values).last_hidden_state


class Block(nn.Module):
    """Attention and two products behind norms that a condition shifts, scales and lets through."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.condition = nn.Linear(WIDTH, 6 * WIDTH)

    def attend(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).reshape(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        return self.out(functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, x, c):
        shift, scale, gate, shift2, scale2, gate2 = self.condition(functional.silu(c)).unsqueeze(1).chunk(6, dim=-1)
        x = x + gate * self.attend(self.norm(x) * (1 + scale) + shift)
        return x + gate2 * self.down(functional.gelu(self.up(self.norm(x) * (1 + scale2) + shift2), approximate="tanh"))


class DiT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(4, WIDTH, 2, 2)
        self.time, self.label = nn.Linear(1, WIDTH), nn.Embedding(11, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.out = nn.Linear(WIDTH, 16)

    def forward(self, x, time, label):
        x = self.patch(x).flatten(2).transpose(1, 2)
        c = self.time(time[:, None]) + self.label(label)
        for block in self.blocks:
            x = block(x, c)
        return self.out(x)


def words():
    return {"input_ids": torch.randint(0, WORDS, (2, 32))}


DECODER = dict(vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS, max_position_embeddings=64,
               use_cache=False, tie_word_embeddings=False)


def make_qwen3_moe(experts="batched_mm"):
    config = transformers.Qwen3MoeConfig(**DECODER, moe_intermediate_size=WIDTH, num_key_value_heads=2, head_dim=WIDTH // HEADS,
                                         num_experts=4, num_experts_per_tok=2, experts_implementation=experts)
    return Logits(transformers.Qwen3MoeForCausalLM(config)), words()


def make_qwen3_moe_grouped():
    return make_qwen3_moe("grouped_mm")


def make_gpt_oss():
    config = transformers.GptOssConfig(**DECODER, intermediate_size=WIDTH, num_key_value_heads=2, head_dim=WIDTH // HEADS,
                                       num_local_experts=4, num_experts_per_tok=2, sliding_window=8,
                                       rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
                                       layer_types=["sliding_attention", "full_attention"], experts_implementation="batched_mm")
    return Logits(transformers.GptOssForCausalLM(config)), words()


def make_deepseek_v3():
    config = transformers.DeepseekV3Config(**DECODER, intermediate_size=2 * WIDTH, moe_intermediate_size=WIDTH, q_lora_rank=8,
                                           kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=8, v_head_dim=8, n_shared_experts=1,
                                           num_key_value_heads=HEADS, n_routed_experts=4, n_group=2, topk_group=1,
                                           num_experts_per_tok=2, first_k_dense_replace=1, experts_implementation="batched_mm")
    return Logits(transformers.DeepseekV3ForCausalLM(config)), words()


def make_mamba():
    config = transformers.MambaConfig(vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS, state_size=4, expand=2, use_cache=False,
                                      tie_word_embeddings=False)
    return Logits(transformers.MambaForCausalLM(config)), words()


def make_mamba2():
    config = transformers.Mamba2Config(vocab_size=WORDS, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_heads=8, head_dim=8,
                                       state_size=8, n_groups=1, expand=2, chunk_size=16, use_cache=False)
    return Logits(transformers.Mamba2ForCausalLM(config)), words()


def make_qwen3_next():
    config = transformers.Qwen3NextConfig(**DECODER, intermediate_size=2 * WIDTH, num_key_value_heads=2, head_dim=WIDTH // HEADS,
                                          linear_num_key_heads=2, linear_num_value_heads=HEADS, linear_key_head_dim=WIDTH // HEADS,
                                          linear_value_head_dim=WIDTH // HEADS, layer_types=["linear_attention", "full_attention"],
                                          mlp_only_layers=[0, 1])
    modeling_qwen3_next.torch_chunk_gated_delta_rule = functools.partial(torch_chunk_gated_delta_rule, chunk_size=8)
    return Logits(transformers.Qwen3NextForCausalLM(config)), words()


def make_sam():
    config = transformers.SamVisionConfig(hidden_size=WIDTH, output_channels=16, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                                          image_size=32, patch_size=4, window_size=4, global_attn_indexes=[1], mlp_dim=4 * WIDTH,
                                          num_pos_feats=8, attn_implementation="eager")
    return Encoder(SamVisionEncoder(config)), {"pixel_values": torch.randn(1, 3, 32, 32)}


def make_dit():
    return DiT(), {"x": torch.randn(2, 4, 16, 16), "time": torch.tensor([0.25, 0.75]), "label": torch.tensor([1, 7])}


def shrink(path):
    """Compresses what describes the graph; weights stay as they are, to be read where they lie."""
    with zipfile.ZipFile(path) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist() if "sample_inputs" not in entry.filename]
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in entries:
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED if entry.filename.endswith(".json") else zipfile.ZIP_STORED)


def make(name):
    torch.manual_seed(0)
    model, inputs = globals()[f"make_{name}"]()
    model.eval()
    for parameter in model.parameters():
        if not parameter.any():  # positions and biases that training would change
            nn.init.normal_(parameter, std=0.02)
    with torch.no_grad():
        output = model(**inputs)
    folder = HERE / name
    for part in ["inputs", "outputs"]:
        (folder / part).mkdir(parents=True, exist_ok=True)
    for key, value in inputs.items():
        numpy.save(folder / "inputs" / f"{key}.npy", value.numpy())
    numpy.save(folder / "outputs" / "output.npy", output.numpy())
    torch.export.save(torch.export.export(model, (), kwargs=inputs), folder / "model.pt2")
    shrink(folder / "model.pt2")


if __name__ == "__main__":
    for name in sys.argv[1:] or [key[5:] for key in list(globals()) if key.startswith("make_")]:
        make(name)
