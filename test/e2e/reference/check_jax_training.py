"""check_jax_training.py MODELS: jax_gpt's loss and gradients, with steps of gradient descent behind them, trained on several meshes.

The first step's loss and gradients are JAX's; what is stored after it are the weights less a tenth of the gradients; further steps are the same on one
rank, on four, and where a checkpoint lies between the two.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools" / "Inputs"))
import train

RATE, STEPS = 0.1, 6
MODEL = pathlib.Path(sys.argv[1]) / "jax_gpt"
MESHES = {"one": [], "four": ["--mesh", "data=2,model=2"], "eight": ["--mesh", "batch=2,model=4"]}


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}")


def add_updates(text):
    """The module with its weights as states, its results named, and a step of gradient descent at its end."""
    weights = re.findall(r"weft\.weight @(\S+) : (tensor<\S+>) =", text)
    loads = dict(re.findall(r"(%\d+) = weft\.load @(\S+) :", text))
    loads = {name: value for value, name in loads.items()}
    results = re.search(r"^    return (.*?) :", text, re.M).group(1).split(", ")
    assert len(results) == len(weights) + 1 and loads.keys() == dict(weights).keys()
    updates = ""
    for number, ((name, type), gradient) in enumerate(zip(weights, results[1:])):
        updates += f"""    %rate{number} = weft.constant dense<{RATE}> : {type}
    %change{number} = weft.mul {gradient}, %rate{number} : {type}
    %new{number} = weft.sub {loads[name]}, %change{number} : {type}
    weft.store @{name}, %new{number} : {type}
"""
        text = text.replace(f'weft.name = "output_{number + 1}"', f'weft.name = "grad:{name}", weft.role = "gradient"')
    text = text.replace('weft.name = "output_0"', 'weft.name = "loss", weft.role = "loss"').replace("weft.weight @", "weft.weight kind(state) @")
    names = ", ".join(f'"{name}"' for name, _ in weights)
    text = re.sub(r"^module (attributes \{)?", lambda found: "module attributes {weft.training = {loss = \"loss\", parameters = [" + names + "], microbatches = 1}" + (", " if found.group(1) else "} "), text, flags=re.M)
    return re.sub(r"^    return ", updates + "    return ", text, flags=re.M)


def main():
    run("weft", "import", MODEL / "train_step.mlir", "--weights", MODEL / "params.safetensors", "-o", "step.mlir", "--quiet")
    open("train.mlir", "w").write(add_updates(open("step.mlir").read()))
    ids = numpy.load(next((MODEL / "inputs").glob("*.npy")))
    labels = numpy.load(MODEL / "train" / "labels.npy")
    numpy.savez("data.npz", ids=numpy.stack([numpy.roll(ids, step, 0) for step in range(STEPS)]), labels=numpy.stack([numpy.roll(labels, step, 0) for step in range(STEPS)]))
    meta, weights, gradients = json.load(open(MODEL / "meta.json")), train.load(MODEL / "params.safetensors"), train.load(MODEL / "train" / "gradients.safetensors")
    for name, mesh in MESHES.items():
        run("weft", "compile", "train.mlir", *mesh, "--weights-dir", MODEL, "-o", f"{name}.weft", "--quiet")
        run("weft", "verify", f"{name}.weft", "--quiet")
        data = ["--data", "data.npz", "--quiet"]
        run("weft", "train", f"{name}.weft", *data, "--steps", 1, "--dump-gradients", f"{name}.g.safetensors", "--export-weights", f"{name}.1.safetensors")
        assert train.near(train.load(f"{name}.g.safetensors"), gradients), f"{name}: gradients"
        assert train.near(train.load(f"{name}.1.safetensors"), {key: weight - RATE * gradients[key] for key, weight in weights.items()}), f"{name}: weights"
        run("weft", "train", f"{name}.weft", *data, "--steps", STEPS, "--log", f"{name}.jsonl", "--export-weights", f"{name}.safetensors")
        assert abs(train.losses_of(f"{name}.jsonl")[0] - meta["loss"]) < 1e-4 * meta["loss"]
    for step, name in enumerate(["four", "eight", "one"]):
        run("weft", "train", f"{name}.weft", "--data", "data.npz", "--quiet", "--steps", 2 * step + 2, "--checkpoint-dir", "c", "--resume", "--log", "moved.jsonl", "--export-weights", "moved.safetensors")
    for name in ["four", "eight", "moved"]:
        assert train.near(train.losses_of(f"{name}.jsonl"), train.losses_of("one.jsonl"), 1e-5), name
        assert train.near(train.load(f"{name}.safetensors"), train.load("one.safetensors"), 1e-4), name


if __name__ == "__main__":
    main()
