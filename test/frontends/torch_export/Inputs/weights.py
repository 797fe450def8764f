"""weights.py OUT.pt2 INPUTS OUTPUTS: weights in every way that they may lie in an archive, and the sums of all of them (of complex ones, of their parts) by numpy."""
import os
import sys

import numpy as np
from archive import Archive, numbers

archive = Archive()
x = archive.input("x", "float32", [2, 4, 3])
base = numbers(4, 3)
wide = numbers(4, 10)
transposed = numbers(3, 4)
expected = np.zeros((2, 4, 3), np.float32)


def use(value, array):
    global x, expected
    x = archive.node("aten.add.Tensor", f"sum_{value}", {"self": x, "other": value}, "body.part")
    expected = expected + array


use(archive.stored("parameter", "plain.weight", base), base)
use(archive.stored("parameter", "tied.weight", None, [4, 3], file="weight_0"), base)
use(archive.stored("parameter", "transposed", transposed, [4, 3], [1, 4]), transposed.T)
use(archive.stored("parameter", "part", wide, [4, 3], [10, 1], 3), wide[:, 3:6])
use(archive.stored("parameter", "columns", wide, [4, 3], [10, 2], 1), wide[:, 1:6:2])
use(archive.stored("buffer", "row", base[:1], [4, 3], [0, 1]), np.broadcast_to(base[0], (4, 3)))
use(archive.stored("buffer", "overlapping", numbers(6), [4, 3], [1, 1]), np.add.outer(np.arange(4), np.arange(3)) * np.float32(0.25) - 1)
use(archive.stored("buffer", "compressed", base * 2), base * 2)
use(archive.stored("parameter", "zip64", base * 3), base * 3)
use(archive.stored("tensor_constant", "lifted", np.array(0.5, np.float32)), np.float32(0.5))
use(archive.stored("buffer", "counts", np.arange(3)), np.arange(3))
turns = (numbers(5, 5) + 1j * numbers(5, 5)[::-1]).astype(np.complex64)
turn = archive.stored("buffer", "turns", turns, [4, 3], [1, 5], 6)
use(archive.node("aten.real.default", "real", {"self": turn}), turns[1:4, 1:].T.real)
use(archive.node("aten.imag.default", "imaginary", {"self": turn}), turns[1:4, 1:].T.imag)
archive.compressed = {"data/weights/weight_7", "models/model.json"}
archive.zip64 = {"data/weights/weight_8", "data/weights/weight_2"}
archive.output(x)
archive.write(sys.argv[1])

value = numbers(2, 4, 3)
for folder, name, array in ((sys.argv[2], "x", value), (sys.argv[3], "output", value + expected)):
    os.makedirs(folder, exist_ok=True)
    np.save(f"{folder}/{name}.npy", array.astype(np.float32))
