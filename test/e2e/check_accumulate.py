"""check_accumulate.py MODELS: steps in microbatches, of models in training mode (make_training.py), on several meshes and over both transports.

In microbatches of one batch (--accumulate) what is dropped is a function of the element's place in the batch: losses, gradients and parameters
are those of the batch as a whole, and gradients those that follow from what was kept. Of several batches (--accumulate-batches) statistics,
places of limited capacity and random numbers are each batch's own, one after another, as in torch's loop. So it is of a model that is cut
into stages, in whatever layer.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

sys.dont_write_bytecode = True
from training_files import distance, read_losses, read_safetensors, weft  # noqa: E402

MESHES = {"": 1, "data=2": 2, "data=2,model=2": 4, "data=3": 3, "data=2;data=3": 5, "data=2;model=2": 4}  # ranks
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def check(good, message):
    if not good:
        raise SystemExit(message)


def train(folder, model, data, mesh, *options, steps=4, transport="local", rate=0.1):
    """Losses, gradients of the first step, and what the last left."""
    logits = "output_0" if "dropout" in str(model) else "output"
    weft("compile", model, "--train", "sgd", "--lr", rate, "--momentum", 0.9, "--loss", "cross_entropy", "--logits", logits, "--labels", "labels",
         *(["--mesh", mesh] if mesh else []), *options, "-o", folder / "step.weft", "--quiet")
    weft("verify", folder / "step.weft", "--quiet")
    command = ["train", folder / "step.weft", "--data", data, "--steps", steps, "--log", folder / "log", "--dump-gradients", folder / "gradients",
               "--export-weights", folder / "after", "--quiet"]
    if transport == "mpi":
        subprocess.run(["mpirun", "--oversubscribe", "-n", str(MESHES[mesh]), "weft", *map(str, command)], check=True, env=ENVIRONMENT, timeout=300)
    else:
        weft(*command)
    gradients = {f"gradient of {name}": value for name, value in read_safetensors(folder / "gradients").items()}
    return {"loss": read_losses(folder / "log"), **gradients, **read_safetensors(folder / "after")}


def compare(actual, expected, what, tolerance):
    check(set(expected) <= set(actual), f"{what}: expected {sorted(expected)}, got: {sorted(actual)}")
    for name, value in expected.items():
        error = distance(actual[name], value)
        check(error < tolerance, f"{what}: {name} differs by {error}")


def dropped(folder, model, x):
    """What the model computes of each batch on one device: logits, what dropout left, and what it had."""
    numpy.savez(folder / "x.npz", x=x)
    weft("compile", model, "-o", folder / "model.weft", "--quiet")
    weft("run", folder / "model.weft", "--data", folder / "x.npz", "--output-dir", folder / "out", "--quiet")
    return [numpy.load(folder / "out" / f"output_{number}.npy") for number in range(2)]


def gradients_of(x, labels, logits, kept, down):
    """Those of both layers, where cross-entropy meets a quarter of the elements dropped."""
    shares = numpy.exp(logits - logits.max(1, keepdims=True))
    shares = (shares / shares.sum(1, keepdims=True) - numpy.eye(logits.shape[1])[labels]) / len(labels)
    return {"gradient of down.weight": shares.T @ kept, "gradient of up.weight": (shares @ down * (kept != 0) / 0.75).T @ x}


def check_positions(model, data, folder):
    arrays = dict(numpy.load(data))
    logits, kept = dropped(folder, model, arrays["x"])
    down = train(folder, model, data, "", rate=0, steps=1)["down.weight"]
    expected = train(folder, model, data, "")
    expected.update(gradients_of(arrays["x"][0], arrays["labels"][0], logits[0], kept[0], down))
    for mesh, count, transport, *cut in (("", 4, "local"), ("data=2", 2, "mpi"), ("data=2,model=2", 4, "local"), ("data=3", 2, "local"),
                                         ("data=2;model=2", 1, "local", "up/linear"), ("data=2;model=2", 4, "mpi", "dropout/mul")):
        cuts = [f"--cut={value}" for value in cut]
        actual = train(folder, model, data, mesh, "--accumulate", count, *cuts, transport=transport)
        compare(actual, expected, f"dropout on {mesh} in {count} microbatches, cut behind {cut}", 1e-5)
        check(int(actual["random.step"]) == 4, f"expected 4 steps to be counted, got: {actual['random.step']}")


def check_random(model, data, folder):
    """Two batches a step: of the first the model's first random numbers, of the second the next."""
    arrays = dict(numpy.load(data))
    logits, kept = dropped(folder, model, arrays["x"])
    down = train(folder, model, data, "", rate=0, steps=1)["down.weight"]
    each = [gradients_of(arrays["x"][i], arrays["labels"][i], logits[i], kept[i], down) for i in range(2)]
    numpy.savez(folder / "pairs.npz", **{name: value.reshape(2, -1, *value.shape[2:]) for name, value in arrays.items()})
    for mesh in ("", "data=2,model=2"):
        actual = train(folder, model, folder / "pairs.npz", mesh, "--accumulate-batches", 2, steps=2)
        compare(actual, {name: (each[0][name] + each[1][name]) / 2 for name in each[0]}, f"dropout of two batches on {mesh}", 1e-5)
        check(int(actual["random.step"]) == 4, f"expected 4 batches to be counted, got: {actual['random.step']}")


def check_torch(source, folder, cut):
    batches = source / "batches"
    expected = {"loss": numpy.load(batches / "losses.npy"), **read_safetensors(batches / "after.safetensors")}
    expected.update({f"gradient of {name}": value for name, value in read_safetensors(batches / "gradients.safetensors").items()})
    for mesh, stage, transport in (("", 0, "local"), ("data=2", 2, "mpi"), ("data=2,model=2", 3, "local"), ("data=3", 1, "local"),
                                   ("data=2;data=3", 0, "mpi"), ("data=2;data=3", 3, "local")):
        options = ["--accumulate-batches", 2, "--optimizer-sharding", stage, *([f"--cut={cut}"] if ";" in mesh else [])]
        compare(train(folder, source / "model.pt2", batches / "data.npz", mesh, *options, transport=transport), expected,
                f"two batches of {source.name} on {mesh}", 5e-5)


def main():
    models = pathlib.Path(sys.argv[1])
    dropout = models / "dropout"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_positions(dropout / "model.pt2", dropout / "data.npz", folder)
        check_random(dropout / "model.pt2", dropout / "data.npz", folder)
        check_torch(models / "batch_norm", folder, "conv/conv2d")
        check_torch(models / "experts", folder, "router/linear")
    print("all as expected")


if __name__ == "__main__":
    main()
