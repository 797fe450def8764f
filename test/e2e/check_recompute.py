"""check_recompute.py MODEL MESH LOGITS: what is computed again for the backward pass changes no bit and saves memory.

Compiles a training step of the model on the mesh with every --recompute, runs it on random tokens, and holds the bytes of its
gradients and of its weights against those of `none`; activations must take fewer bytes than there.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

MODES = ("none", "selective", "full")
STEPS = 2


def run(*arguments):
    return subprocess.run(["weft", *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout


def train(model, mesh, logits, mode, folder):
    """The bytes of what a run writes, and of its activations on each rank."""
    program, gradients, weights = (folder / f"{mode}.{suffix}" for suffix in ("weft", "gradients", "weights"))
    run("compile", model, "--mesh", mesh, "--quiet", "--train", "adamw", "--loss", "cross_entropy", "--logits", logits, "--labels", "labels",
        "--recompute", mode, "-o", program)
    run("train", program, "--data", folder / "data.npz", "--steps", STEPS, "--dump-gradients", gradients, "--export-weights", weights, "--quiet")
    arenas = json.loads(run("inspect", "--json", program))["arenas"]
    return gradients.read_bytes() + weights.read_bytes(), max(arena["activations"] for arena in arenas)


def main():
    model, mesh, logits = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    ids = numpy.load(model.parent / "inputs/input_ids.npy")
    random = numpy.random.default_rng(5)
    tokens = [random.integers(0, ids.max(), ids.shape) for _ in range(2 * STEPS)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        numpy.savez(folder / "data.npz", input_ids=numpy.stack(tokens[:STEPS]), labels=numpy.stack(tokens[STEPS:]))
        results = {mode: train(model, mesh, logits, mode, folder) for mode in MODES}
    sizes = [results[mode][1] for mode in MODES]
    print(mesh, dict(zip(MODES, sizes)))
    wrong = [mode for mode in MODES if results[mode][0] != results["none"][0]]
    if wrong:
        sys.exit(f"gradients or weights of {', '.join(wrong)} are not those of none")
    if max(sizes) > sizes[0] or min(sizes) == sizes[0]:  # where little is kept, selective may find nothing to save
        sys.exit("activations do not shrink")


if __name__ == "__main__":
    main()
