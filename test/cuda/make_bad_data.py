"""make_bad_data.py MODEL FOLDER: inputs and training data of a reference model with one token outside its vocabulary."""
import pathlib
import sys

import numpy

model, folder = map(pathlib.Path, sys.argv[1:])
inputs = folder / "inputs"
inputs.mkdir(parents=True)
ids = numpy.load(model / "inputs" / "input_ids.npy")
ids[2, 5] = 50000
numpy.save(inputs / "input_ids.npy", ids)
data = dict(numpy.load(model / "train" / "data.npz"))
data["input_ids"][1, 3, 4] = 70000  # of the second step, in the last row
numpy.savez(folder / "data.npz", **data)
