"""check_optimizers.py MESH [OPTION… --] [NAME…]: losses and optimizers against torch and optax, on a mesh ("" for one device).

For each configuration of Inputs/optimizers/configurations.py (or those named) the model is compiled with its options, and those given, and trained on
data.npz; the loss of every step, the gradients of the first and the parameters behind the last must be those of expected.npz.
"""
import pathlib
import sys
import tempfile

import numpy

INPUTS = pathlib.Path(__file__).resolve().parent / "Inputs" / "optimizers"
sys.path.insert(0, str(INPUTS))
sys.dont_write_bytecode = True
from configurations import CONFIGURATIONS, STEPS  # noqa: E402
from training_files import distance, read_losses, read_safetensors, weft  # noqa: E402

MODELS = {"f32": "mlp.mlir", "bf16": "mlp_bf16.mlir", "f16": "mlp_f16.mlir"}
# Narrow types round every product their own way.
TOLERANCES = {"f32": 1e-5, "bf16": 3e-2, "f16": 4e-3}


def write_data(folder, configuration):
    data = numpy.load(INPUTS / "data.npz")
    labels = "labels" if configuration.loss == "cross_entropy" else "targets"
    x = data["x"].astype(numpy.float16) if configuration.dtype == "f16" else data["x"]
    numpy.savez(folder / "data.npz", **{"x": x, labels: data[labels]})


def train(configuration, split, folder):
    write_data(folder, configuration)
    weft("compile", INPUTS / MODELS[configuration.dtype], *configuration.options, *split, "-o", folder / "step.weft", "--quiet")
    weft("verify", folder / "step.weft", "--quiet")
    weft("train", folder / "step.weft", "--data", folder / "data.npz", "--steps", STEPS, "--log", folder / "log.jsonl", "--export-weights",
         folder / "after.safetensors", "--dump-gradients", folder / "gradients.safetensors", "--quiet")
    gradients = read_safetensors(folder / "gradients.safetensors")
    return {"loss": read_losses(folder / "log.jsonl"), **read_safetensors(folder / "after.safetensors"),
            **{f"grad:{key.removeprefix('grad:')}": value for key, value in gradients.items()}}


def main():
    expected = dict(numpy.load(INPUTS / "expected.npz"))
    problems = []
    mesh, given = sys.argv[1], sys.argv[2:]
    names = given[given.index("--") + 1:] if "--" in given else given
    split = [*(["--mesh", mesh] if mesh else []), *given[:max(0, len(given) - len(names) - 1)]]
    for name in names or CONFIGURATIONS:
        configuration = CONFIGURATIONS[name]
        with tempfile.TemporaryDirectory() as folder:
            actual = train(configuration, split, pathlib.Path(folder))
        for key in expected:
            if not key.startswith(f"{name}/"):
                continue
            value = actual.get(key.removeprefix(f"{name}/"))
            error = numpy.inf if value is None else distance(value, expected[key])
            if not error <= TOLERANCES[configuration.dtype]:
                problems.append(f"{key}: " + ("missing" if value is None else f"differs by {error:.2e} of its scale"))
    print("\n".join(problems) or "all as expected")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
