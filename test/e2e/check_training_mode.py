"""check_training_mode.py MODELS: exports in training mode (make_training.py) and steps that must not count, on one device and split.

Batch norm against torch: losses, parameters and running statistics. Dropout, of activations and of attention's weights, whose random numbers are
Weft's own: every element is dropped or scaled, about as many as asked for, others in every step, the same on any mesh; what is dropped has no gradient. A step that overflows changes nothing but the scale of the loss. A label that is no class is told of.
"""
import pathlib
import sys
import tempfile

import numpy

sys.dont_write_bytecode = True
from training_files import distance, read_safetensors, weft  # noqa: E402

INPUTS = pathlib.Path(__file__).resolve().parent / "Inputs" / "optimizers"
LOSS = ["--loss", "cross_entropy", "--labels", "labels", "--logits"]
MESHES = ([], ["--mesh", "data=2"], ["--mesh", "data=2,model=2"])


def check(good, message):
    if not good:
        raise SystemExit(message)


def compile_step(folder, model, *options):
    weft("compile", model, *options, "-o", folder / "step.weft", "--quiet")


def run(folder, data, *options):
    """Outputs by name, and the states behind the last step."""
    weft("run", folder / "step.weft", "--data", data, "--output-dir", folder / "out", "--state-out", folder / "after.safetensors", "--quiet", *options)
    return {path.stem: numpy.load(path) for path in (folder / "out").glob("*.npy")}, read_safetensors(folder / "after.safetensors")


def check_batch_norm(source, folder, mesh):
    compile_step(folder, source / "model.pt2", "--train", "sgd", "--lr", 0.1, "--momentum", 0.9, *LOSS, "output", *mesh)
    outputs, states = run(folder, source / "data.npz")
    error = distance(outputs["loss"], numpy.load(source / "losses.npy"))
    check(error < 1e-5, f"batch_norm on {mesh}: losses differ by {error}")
    expected = read_safetensors(source / "after.safetensors")
    check(len(expected) == 8, f"expected 5 statistics, and 3 layers' parameters, got: {list(expected)}")
    for name, value in expected.items():
        error = distance(states[name], value)
        check(error < 1e-4, f"batch_norm on {mesh}: {name} differs by {error}")


def check_dropped(outputs):
    """Of each step: 0 or x / (1 - p), as often as asked for."""
    dropped, hidden = outputs["output_1"], outputs["output_2"]
    check(numpy.all((dropped == 0) | numpy.isclose(dropped, hidden / 0.75, rtol=2e-6)), "an element is neither dropped nor scaled")
    for step, whole in zip(dropped, hidden):
        share = numpy.mean(step[whole != 0] == 0)
        check(abs(share - 0.25) < 0.04, f"expected a quarter to be dropped, got: {share}")


def check_alpha(outputs):
    """By torch's formula: what is dropped becomes -α', and all is brought back to mean 0 and variance 1."""
    least, p = -1.7580993408473766, 0.25
    scale = ((least**2 * p + 1) * (1 - p)) ** -0.5
    got, kept, dropped = outputs["output_3"], scale * (outputs["output_4"] - least * p), scale * least * (1 - p)
    check(numpy.all(numpy.isclose(got, kept, atol=1e-6) | numpy.isclose(got, dropped, atol=1e-6)), "alpha dropout: an element is neither dropped nor scaled")
    share = numpy.mean(numpy.isclose(got, dropped, atol=1e-6))
    check(abs(share - 0.25) < 0.04, f"alpha dropout: expected a quarter to be dropped, got: {share}")


def find_gradients(source, folder, mesh):
    """Gradients of the first step, and the weights they are of."""
    compile_step(folder, source / "model.pt2", "--train", "sgd", "--lr", 0, *LOSS, "output_0", *mesh)
    weft("train", folder / "step.weft", "--data", source / "data.npz", "--steps", 1, "--dump-gradients", folder / "gradients.safetensors",
         "--export-weights", folder / "weights.safetensors", "--quiet")
    return read_safetensors(folder / "gradients.safetensors"), read_safetensors(folder / "weights.safetensors")


def expect_layers(shares, x, weights, dropped, hidden):
    """Gradients of two layers, by what was kept."""
    return {"down.weight": shares.T @ dropped, "up.weight": (shares @ weights["down.weight"] * (dropped != 0) / 0.75).T @ x}


def expect_attention(shares, x, weights, dropped, whole):
    """Gradients through a softmax whose results were dropped."""
    batch, heads, length, _ = dropped.shape
    split = lambda name: (x @ weights[name].T).reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)
    query, key = split("query.weight"), split("key.weight")
    of_weights = (shares @ weights["head.weight"])[:, None, None, :] / (heads * length) * (dropped != 0) / 0.75
    of_scores = whole * (of_weights - (of_weights * whole).sum(-1, keepdims=True)) / query.shape[-1] ** 0.5
    joined = lambda heads_apart: heads_apart.transpose(0, 2, 1, 3).reshape(batch * length, -1)
    rows = x.reshape(batch * length, -1)
    return {"head.weight": shares.T @ dropped.mean((1, 2)), "query.weight": joined(of_scores @ key).T @ rows,
            "key.weight": joined(of_scores.swapaxes(2, 3) @ query).T @ rows}


def check_gradients(source, folder, outputs, mesh, expect):
    """What is dropped has no gradient: those of all weights, by what was kept in the run without training."""
    gradients, weights = find_gradients(source, folder, mesh)
    data = numpy.load(source / "data.npz")
    labels, logits = data["labels"][0], outputs["output_0"][0]
    shares = numpy.exp(logits - logits.max(1, keepdims=True))
    shares = (shares / shares.sum(1, keepdims=True) - numpy.eye(logits.shape[1])[labels]) / len(labels)
    for name, value in expect(shares, data["x"][0], weights, outputs["output_1"][0], outputs["output_2"][0]).items():
        error = distance(gradients[name], value)
        check(error < 1e-5, f"{source.name} on {mesh}: the gradient of {name} differs by {error}")


def check_dropout(source, folder, expect):
    numpy.savez(folder / "x.npz", x=numpy.load(source / "data.npz")["x"])
    first = None
    for mesh in MESHES:
        compile_step(folder, source / "model.pt2", *mesh)
        outputs, states = run(folder, folder / "x.npz")
        first = first or outputs
        check(int(states["random.step"]) == 4, f"expected 4 steps to be counted, got: {states['random.step']}")
        check(numpy.array_equal(outputs["output_1"] == 0, first["output_1"] == 0), f"{source.name} on {mesh}: others are dropped than on one device")
        check_dropped(outputs)
        again, _ = run(folder, folder / "x.npz", "--state-in", folder / "after.safetensors")
        check(not numpy.array_equal(again["output_1"] == 0, outputs["output_1"] == 0), "the same are dropped in later steps")
        check_gradients(source, folder, outputs, mesh, expect)
    kept = [step != 0 for step in first["output_1"]]
    check(not any(numpy.array_equal(kept[a], kept[b]) for a in range(4) for b in range(a)), "the same are dropped in two steps")
    return first


def check_overflow(folder, mesh):
    data = dict(numpy.load(INPUTS / "data.npz"))
    bad = data["x"].copy()
    bad[1] = numpy.inf
    numpy.savez(folder / "bad.npz", x=bad[:3], labels=data["labels"][[0, 1, 3]])
    numpy.savez(folder / "good.npz", x=data["x"][[0, 2]], labels=data["labels"][[0, 3]])
    compile_step(folder, INPUTS / "mlp.mlir", "--train", "adamw", "--lr", 0.02, *LOSS, "logits", "--loss-scale", "dynamic", *mesh)
    _, good = run(folder, folder / "good.npz")
    _, skipped = run(folder, folder / "bad.npz")
    check(float(good["optimizer.scale"]) == 65536 and float(skipped["optimizer.scale"]) == 32768, "the scale is not halved by an overflow alone")
    check(int(skipped["optimizer.step"]) == 2, f"expected 2 steps to count, got: {skipped['optimizer.step']}")
    for name, value in good.items():
        if not name.startswith("optimizer.scale"):
            check(distance(skipped[name], value) < 1e-6, f"{name} was changed by a step that overflows, on {mesh}")


def check_labels(folder, mesh):
    data = dict(numpy.load(INPUTS / "data.npz"))
    for label in (7, -1):
        labels = data["labels"].copy()
        labels[0, 2] = label
        numpy.savez(folder / "labels.npz", x=data["x"], labels=labels)
        compile_step(folder, INPUTS / "mlp.mlir", "--train", "sgd", *LOSS, "logits", *mesh)
        said = weft("run", folder / "step.weft", "--data", folder / "labels.npz", code=3)
        check(str(label) in said and "loss" in said, f"label {label} on {mesh}: {said}")


def main():
    models = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for mesh in MESHES:
            check_batch_norm(models / "batch_norm", folder, mesh)
            check_overflow(folder, mesh)
            check_labels(folder, mesh)
        check_dropout(models / "dropout", folder, expect_layers)
        check_alpha(check_dropout(models / "attention", folder, expect_attention))
    print("all as expected")


if __name__ == "__main__":
    main()
