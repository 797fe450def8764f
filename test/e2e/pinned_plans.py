"""The plans of reference models that tests hold: a mesh, and pins on it, by the model's folder.

Tests of those plans read them here, or repeat them; the search, left to itself on as many devices, must find none that is predicted
dearer than any of them (check_searched.py).
"""

# Mesh, the axis of the experts, the most collectives, the most of the weights that a rank holds (check_pinned_experts.py).
EXPERTS = [
    ("model=2", "model", 8, 0.6),
    ("model=4", "model", 8, 0.4),
    ("data=2,model=2", "model", 16, 0.6),
    ("data=2", "data", 4, 1),
    ("data=4", "data", 4, 1),
]

# Weights by what a person would split: columns first, then rows. Linear layers of PyTorch keep [columns, rows], GPT-2's the transpose.
COLUMNS_THEN_ROWS = {
    "gpt2": (["transformer.h.*.mlp.c_fc.weight"], ["transformer.h.*.attn.c_proj.weight", "transformer.h.*.mlp.c_proj.weight"]),
    "llama": ([f"model.layers.*.{name}_proj.weight" for name in ("self_attn.q", "self_attn.k", "self_attn.v", "mlp.gate", "mlp.up")],
              [f"model.layers.*.{name}_proj.weight" for name in ("self_attn.o", "mlp.down")]),
    "bert": ([f"bert.encoder.layer.*.{name}.weight" for name in ("attention.self.query", "attention.self.key", "attention.self.value",
                                                                 "intermediate.dense")],
             ["bert.encoder.layer.*.output.dense.weight"]),
    "vit": ([f"vit.layers.*.{name}.weight" for name in ("attention.q_proj", "attention.k_proj", "attention.v_proj", "mlp.fc1")],
            [f"vit.layers.*.{name}.weight" for name in ("attention.o_proj", "mlp.fc2")]),
    "t5": ([f"*coder.block.*{name}.weight" for name in ("Attention.q", "Attention.k", "Attention.v", "DenseReluDense.wi")],
           [f"*coder.block.*{name}.weight" for name in ("Attention.o", "DenseReluDense.wo")]),
    "moe": (["blocks.0.mlp.0.weight"], ["blocks.0.mlp.2.weight"]),
}
# Of single values: plan.test, explain.test, as-compiled.test.
VALUES = {"gpt2": [("data=2,model=2", [pin]) for pin in ("input_ids=[{},{data}]", "logits=[{},{model},{}]", "logits=[{data},{},{}]")]}


def pin_experts(axis):
    """How experts are pinned: by their first weight."""
    return f"blocks.1.mlp.up=[{{{axis}}},{{}},{{}}]"


def list_plans(model):
    """Meshes and pins of the plans of a reference model."""
    plans = list(VALUES.get(model, []))
    if model == "moe":
        plans += [(mesh, [pin_experts(axis)]) for mesh, axis, _, _ in EXPERTS]
    columns, rows = COLUMNS_THEN_ROWS.get(model, ([], []))
    if model == "gpt2":
        columns, rows = rows, columns
    pins = [f"{name}=[{{model}},{{}}]" for name in columns] + [f"{name}=[{{}},{{model}}]" for name in rows]
    return plans + [(mesh, pins) for mesh in ("model=2", "model=4", "data=2,model=2", "data=3,model=2") if pins]
