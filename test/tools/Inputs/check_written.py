"""check_written.py FOLDER: makes the weights and the input of written.mlir, or, with outputs there, checks them."""
import pathlib
import sys

import numpy

folder = pathlib.Path(sys.argv[1])
random = numpy.random.default_rng(1)
up, down, x = (random.standard_normal(shape, dtype=numpy.float32) for shape in ((8, 16), (16, 8), (4, 8)))
if (folder / "outputs").exists():
    assert numpy.allclose(numpy.load(folder / "outputs" / "y.npy"), x @ up @ down, rtol=1e-4, atol=1e-4)
else:
    (folder / "written.bin").write_bytes(up.tobytes() + down.tobytes())
    (folder / "inputs").mkdir()
    numpy.save(folder / "inputs" / "x.npy", x)
