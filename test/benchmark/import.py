"""import.py FOLDER [--runs N]: what importing costs: seconds and peak memory of `weft import`, beside who wrote the format.

FOLDER receives gpt2_small.pt2 (make_archive.py), 498 MB. Beside it torch.export.load reads the same file, and beside the text of a
traced JAX model (jax_gpt/train_step.mlir of the reference models) JAX's own parser, where they are installed; their start-up is not
counted, Weft's is.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
MEASURE = """
import resource, sys, time
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
{setup}
before, start = peak(), time.perf_counter()
{load}
print(time.perf_counter() - start, peak() - before)
"""
TORCH = MEASURE.format(setup="import torch", load="torch.export.load(sys.argv[1])")
JAX = MEASURE.format(
    setup="from jax._src.interpreters import mlir\nfrom jax._src.lib.mlir import ir\ncontext = mlir.make_ir_context()\n"
    "text = open(sys.argv[1]).read()",
    load="with context:\n    ir.Module.parse(text)")


def weft(model):
    """Seconds and peak MB of one import."""
    start = time.perf_counter()
    child = subprocess.Popen(["weft", "import", model, "-o", os.devnull])
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"weft import {model} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def peer(script, model):
    done = subprocess.run([sys.executable, "-c", script, model], capture_output=True, text=True)
    return tuple(map(float, done.stdout.split()[-2:])) if done.returncode == 0 else None


def show(name, model, runs):
    found = [run for run in runs if run]
    if not found:
        return print(f"{name:<18}  not installed")
    seconds, memory = (statistics.median(run[i] for run in found) for i in (0, 1))
    print(f"{name:<18} {seconds:8.2f} s {memory:8.0f} MB   {model.name}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    archive = options.folder / "gpt2_small.pt2"
    options.folder.mkdir(parents=True, exist_ok=True)
    if not archive.exists():
        subprocess.run([sys.executable, HERE / "make_archive.py", archive], check=True)
    reference = pathlib.Path(os.environ.get("WEFT_REFERENCE_MODELS", HERE.parents[2] / "shared/models"))
    text = reference / "jax_gpt/train_step.mlir"
    for model, other, script in ((archive, "torch.export.load", TORCH), (text, "jax parser", JAX)):
        show("weft import", model, [weft(model) for _ in range(options.runs)])
        show(other, model, [peer(script, model) for _ in range(options.runs)])


if __name__ == "__main__":
    main()
