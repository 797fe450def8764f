"""check_empty.py MODULE DIRECTORY: tensors without elements come in, are computed with, and go out, on one rank and on two."""
import pathlib
import subprocess
import sys

import numpy as np


def main():
    module, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    (directory / "inputs").mkdir(parents=True, exist_ok=True)
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    for name, value in {"x": x, "e": np.zeros((0, 4), np.float32), "i": np.zeros((0, 1), np.int64)}.items():
        np.save(directory / "inputs" / f"{name}.npy", value)
    expected = {"joined": x, "places": np.zeros((0, 2), np.int64), "product": np.zeros((2, 3), np.float32),
                "sum": np.zeros(4, np.float32), "scattered": x}
    for mesh in ("data=1", "data=2"):
        subprocess.run(["weft", "compile", module, "--mesh", mesh, "-o", directory / "empty.weft", "--quiet"], check=True)
        subprocess.run(["weft", "run", directory / "empty.weft", "--input-dir", directory / "inputs", "--output-dir",
                        directory / "outputs", "--quiet"], check=True)
        for name, value in expected.items():
            output = np.load(directory / "outputs" / f"{name}.npy")
            if output.dtype != value.dtype or not np.array_equal(output, value):
                sys.exit(f"{name} on {mesh}: {output.dtype}{output.shape} {output}")


if __name__ == "__main__":
    main()
