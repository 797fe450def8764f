"""check_gradients.py FOLDER: what a program holds constant has no gradient, as in torch: detached values, those of torch.no_grad(), padding, and frozen parameters.

Of a program that has them all, a step of SGD is held against NumPy's, on one rank and on two, of the archive and of the module that
`weft import` makes of it; of a model that is not trained nothing is left of it: of the archive once it is imported, of the module in its kernels.
"""
import pathlib
import subprocess
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parents[3] / "e2e"))
from archive import Archive, tensor
from control import call, inner
from training_files import read_safetensors

RATE, PADDING = 0.5, 1
TABLE = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
SCALE, BIAS = np.float32([0.5, -1, 2, 0.25]), np.float32([0.125, 0, -0.5, 1])
IDS = np.array([[0, 1, 3], [1, 4, 3]])


def write(path):
    """loss = sum(s · (detach(s) + no_grad(sin(s)))), where s = embedding(ids) · scale + bias, and bias is frozen"""
    archive = Archive()
    table, scale = archive.stored("parameter", "table", TABLE), archive.stored("parameter", "scale", SCALE)
    bias = archive.stored("parameter", "bias", BIAS, frozen=True)
    ids = archive.input("ids", "int64", list(IDS.shape))
    rows = archive.node("aten.embedding.default", "rows", {"weight": table, "indices": ids, "padding_idx": PADDING})
    product = archive.node("aten.mul.Tensor", "scaled", {"self": rows, "other": scale})
    scaled = archive.node("aten.add.Tensor", "shifted", {"self": product, "other": bias})
    held = archive.node("aten.detach.default", "held", {"self": scaled})
    sines = call(archive, "higher_order.wrap_with_set_grad_enabled", "sines", {"as_bool": False}, inner("s", "aten.sin.default"), tensor(scaled))
    factor = archive.node("aten.add.Tensor", "factor", {"self": held, "other": sines})
    archive.output(archive.node("aten.sum.default", "loss", {"self": archive.node("aten.mul.Tensor", "products", {"self": scaled, "other": factor})}))
    archive.write(path)


def expected():
    rows = TABLE[IDS].astype(np.float64)
    gradient = rows * SCALE + BIAS + np.sin(rows * SCALE + BIAS)
    table = TABLE.astype(np.float64)
    for place in np.ndindex(IDS.shape):
        if IDS[place] != PADDING:
            table[IDS[place]] -= RATE * gradient[place] * SCALE
    return {"table": table, "scale": SCALE - RATE * (gradient * rows).sum((0, 1))}


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "inputs").mkdir(parents=True)
    np.save(folder / "inputs/ids.npy", IDS)
    write(folder / "model.pt2")
    subprocess.run(["weft", "import", folder / "model.pt2", "-o", folder / "model.mlir"], check=True)
    for model in "model.pt2", "model.mlir":
        for mesh in "data=1", "data=2":
            subprocess.run(["weft", "compile", folder / model, "--mesh", mesh, "--train", "sgd", "--lr", str(RATE), "--loss-output", "output",
                            "--quiet", "-o", folder / "step.weft"], check=True)
            subprocess.run(["weft", "run", folder / "step.weft", "--input-dir", folder / "inputs", "--quiet", "--state-out", folder / "after.safetensors"],
                           check=True)
            after = read_safetensors(folder / "after.safetensors")
            assert "bias" not in after, f"{model} on {mesh}: the bias is trained"
            for name, value in expected().items():
                np.testing.assert_allclose(after[name], value, rtol=1e-5, atol=1e-6, err_msg=f"{model} on {mesh}: {name}")
        phase = "import" if model == "model.pt2" else "fuse"
        dumped = subprocess.run(["weft", "compile", folder / model, "--dump-ir-after", phase, "--quiet", "-o", folder / "model.weft"],
                                capture_output=True, text=True, check=True)
        text = dumped.stdout + dumped.stderr
        assert "weft.gather" in text and "stop_gradient" not in text and "weft.select" not in text, text
    print("equal")


if __name__ == "__main__":
    main()
