"""planner.py [--models A,B] [--devices N,M] [--layers L,K] [--limit S]: how long `weft plan` takes for training steps of large models, and what it needs.

Each plan is a process of its own, importing included: mesh, microbatches and what is computed again are left to the search, on DGX H100
nodes. Prints seconds (wall and of processors), peak memory, and the plan that was found, a line a model and number of devices.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

LLAMA = {"model_type": "llama", "vocab_size": 128256, "num_key_value_heads": 8, "rms_norm_eps": 1e-5, "rope_theta": 500000.0}
MODELS = {
    "gpt3-175b": (2048, {"model_type": "gpt2", "vocab_size": 50257, "n_positions": 2048, "n_embd": 12288, "n_layer": 96, "n_head": 96}),
    "llama-70b": (4096, LLAMA | {"hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "intermediate_size": 28672}),
    "llama-405b": (4096, LLAMA | {"hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128, "intermediate_size": 53248}),
    "mixtral-8x22b": (4096, {
        "model_type": "mixtral", "vocab_size": 32768, "hidden_size": 6144, "num_hidden_layers": 56, "num_attention_heads": 48,
        "num_key_value_heads": 8, "intermediate_size": 16384, "num_local_experts": 8, "num_experts_per_tok": 2, "rms_norm_eps": 1e-5,
        "rope_theta": 1000000.0, "sliding_window": None}),
    "deepseek-v3": (4096, json.loads(
        (pathlib.Path(__file__).parent.parent / "tools/Inputs/config/large/deepseek_v3.json").read_text())),
}


def plan(folder, model, devices, limit, layers=0):
    """The lines of one plan, seconds, seconds of processors, and peak MB; with so many layers, 0: the model's."""
    sequence, config = MODELS[model]
    if layers:
        config = config | {"n_layer" if "n_layer" in config else "num_hidden_layers": layers}
    path = folder / f"{model}.json"
    path.write_text(json.dumps(config))
    command = ["weft", "plan", path, "--cluster", f"dgx-h100:{devices // 8}", "--train", "adamw",
               "--global-batch", str(2 * devices), "--seq", str(sequence), "--dtype", "bf16", "-o", folder / "plan.txtpb"]
    with open(folder / "out", "w") as out:
        start = time.perf_counter()
        child = subprocess.Popen(["timeout", str(limit), *command], stdout=out, stderr=out)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
    lines = (folder / "out").read_text().splitlines()
    found = [line for line in lines if line.strip().startswith(("mesh:", "data=", "model=", "memory per device", "a step", "error"))]
    if status != 0 and not found:
        found = [f"nothing in {limit} s"]
    return found, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--devices", default="64,256,1024")
    parser.add_argument("--layers", default="0", help="numbers of layers instead of the models' own (0)")
    parser.add_argument("--limit", type=int, default=120, help="seconds that a plan may take")
    options = parser.parse_args()
    print("model          devices layers       wall s    processor s    peak MB  found")
    with tempfile.TemporaryDirectory() as scratch:
        for model in options.models.split(","):
            for devices in map(int, options.devices.split(",")):
                for layers in map(int, options.layers.split(",")):
                    found, wall, used, peak = plan(pathlib.Path(scratch), model, devices, options.limit, layers)
                    print(f"{model:14} {devices:7} {layers or 'own':>6} {wall:12.2f} {used:14.2f} {peak:10.0f}  {'; '.join(found)[:150]}",
                          flush=True)


if __name__ == "__main__":
    main()
