"""check_recompute.py MODEL MESH LOGITS: what is computed again for the backward pass changes nothing and saves memory.

Compiles a training step of the model on the mesh with every --recompute, runs it on random tokens, and holds its gradients and weights
against those of `none`, to rounding: splits and the layout of what is kept are chosen for each, and a library sums the products of a
matrix that lies otherwise in another order (that no bit changes where nothing does is for unit/Training/recompute.test). Activations must
take fewer bytes than there.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

MODES = ("none", "selective", "full")
STEPS = 2
TOLERANCES = {".gradients": 5e-6, ".weights": 1e-6}  # of a tensor's largest magnitude


def run(*arguments):
    return subprocess.run(["weft", *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout


def read(path):
    """The tensors of a safetensors file of f32, by name."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    return {name: numpy.frombuffer(data[begin:], numpy.float32)[entry["data_offsets"][0] // 4:entry["data_offsets"][1] // 4]
            for name, entry in header.items() if name != "__metadata__"}


def differs(one, other):
    return one.keys() != other.keys() or any(
        not numpy.abs(one[name] - other[name]).max() <= TOLERANCES[name.split(":")[0]] * numpy.abs(one[name]).max() for name in one)


def train(model, mesh, logits, mode, folder):
    """What a run writes, by name, and the bytes of its activations on the fullest rank."""
    program, gradients, weights = (folder / f"{mode}.{suffix}" for suffix in ("weft", "gradients", "weights"))
    run("compile", model, "--mesh", mesh, "--quiet", "--train", "sgd", "--lr", 0.1, "--loss", "cross_entropy", "--logits", logits, "--labels", "labels",
        "--recompute", mode, "-o", program)
    run("train", program, "--data", folder / "data.npz", "--steps", STEPS, "--dump-gradients", gradients, "--export-weights", weights, "--quiet")
    arenas = json.loads(run("inspect", "--json", program))["arenas"]
    tensors = {f"{path.suffix}:{name}": tensor for path in (gradients, weights) for name, tensor in read(path).items()}
    return tensors, max(arena["activations"] for arena in arenas)


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
    wrong = [mode for mode in MODES if differs(results["none"][0], results[mode][0])]
    if wrong:
        sys.exit(f"gradients or weights of {', '.join(wrong)} are not those of none")
    if max(sizes) > sizes[0] or min(sizes) == sizes[0]:  # where little is kept, selective may find nothing to save
        sys.exit("activations do not shrink")


if __name__ == "__main__":
    main()
