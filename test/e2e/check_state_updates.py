"""check_state_updates.py FILE: what one kernel makes of several states where they lie (Inputs/state_updates.mlir) is NumPy's."""
import pathlib
import sys
import tempfile

import numpy

from training_files import read_safetensors, weft


def main():
    steps = numpy.random.default_rng(5).integers(-9, 9, (3, 256, 64)).astype("f4")  # sums are exact
    total, mean, squares = numpy.ones((256, 64), "f4"), numpy.zeros((256, 64), "f4"), numpy.zeros((256, 64), "f4")
    for g in steps:
        total = total + g
        mean = mean + total
        squares = squares + total * total
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        numpy.savez(folder / "steps.npz", g=steps)
        for mesh in ("x=1", "x=2"):
            weft("compile", sys.argv[1], "--mesh", mesh, "--shard", "sum=[{x},{}]", "-o", folder / "s.weft", "--quiet")
            weft("run", folder / "s.weft", "--data", folder / "steps.npz", "--state-out", folder / "after", "--output-dir", folder, "--quiet")
            after = read_safetensors(folder / "after")
            for key, expected in (("sum", total), ("mean", mean), ("squares", squares)):
                assert numpy.array_equal(after[key], expected), f"{mesh}: {key} differs"


if __name__ == "__main__":
    main()
