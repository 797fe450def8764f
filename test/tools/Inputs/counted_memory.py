"""counted_memory.py FOLDER: what a search counts that a device holds is near what the program of its plan allocates.

Of training steps of small models, on whole meshes and in stages, with each way to compute activations again: were a step's memory counted too low, the
search would take plans that do not fit; too high, it would pass over those that do. Prints what is far off; fails if anything is.
"""
import json
import pathlib
import re
import subprocess
import sys

CONFIGS = {
    "gpt2": {"model_type": "gpt2", "vocab_size": 8192, "n_positions": 1024, "n_embd": 768, "n_layer": 4, "n_head": 12},
    "mixtral": {
        "model_type": "mixtral", "vocab_size": 8192, "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 16,
        "num_key_value_heads": 8, "intermediate_size": 2048, "num_local_experts": 8, "num_experts_per_tok": 2, "rms_norm_eps": 1e-5,
        "rope_theta": 1000000.0, "sliding_window": None},
}
# Meshes, of all devices or of a stage's, and what else is pinned.
MESHES = [("data=8", "microbatches=1"), ("data=4,model=2", "microbatches=1"), ("model=8", "microbatches=1"),
          ("data=2", "stage=4,microbatches=8,schedule=1f1b"), ("data=4", "stage=2,microbatches=4,schedule=gpipe"),
          ("model=2", "stage=4,microbatches=8,schedule=zb-h1")]
# The search leaves out what a split layer gathers while it is computed: of a few small layers that are computed again, half of all.
LEAST, MOST = 0.5, 1.2


def ratio(folder, config, mesh, pins, recompute):
    """What the search counts / what the program allocates."""
    plan = folder / "plan.txtpb"
    subprocess.run(["weft", "plan", config, "--cluster", "dgx-h100:1", "--mesh", mesh, "--train", "adamw", "--global-batch", "16", "--seq", "1024",
                    "--dtype", "bf16", "--recompute", recompute, "--pin", pins, "--quiet", "-o", plan], check=True)
    text = plan.read_text()
    counted, allocated = (float(re.search(rf"\b{key}: (\S+)", text)[1]) for key in ("memory_bytes", "allocated_bytes"))
    return counted / allocated


def main(folder):
    far = 0
    for model, config in CONFIGS.items():
        path = folder / f"{model}.json"
        path.write_text(json.dumps(config))
        for mesh, pins in MESHES:
            for recompute in ("none", "selective", "full"):
                value = ratio(folder, path, mesh, pins, recompute)
                if not LEAST < value < MOST:
                    print(f"{model} on {mesh},{pins}, recompute {recompute}: counted / allocated is {value:.2f}")
                    far += 1
    return far > 0


sys.exit(main(pathlib.Path(sys.argv[1])))
