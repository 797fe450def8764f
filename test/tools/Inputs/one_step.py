"""one_step.py N: writes one step's inputs of train.mlir into the folder stepN; one_step.py wide: wide.npz, with a column of labels more;
one_step.py lookup: lookup.npz, of train_lookup.mlir, with an index out of range in step 3."""
import os
import sys

import numpy
import train

x, labels = train.arrays()
if sys.argv[1] == "wide":
    numpy.savez("wide.npz", x=x, labels=numpy.concatenate([labels, labels[:, :, :1]], 2))
elif sys.argv[1] == "lookup":
    ids = numpy.arange(40).reshape(5, 8)
    ids[3, 5] = 50
    numpy.savez("lookup.npz", ids=ids)
else:
    step = int(sys.argv[1])
    folder = f"step{step}"
    os.makedirs(folder, exist_ok=True)
    numpy.save(f"{folder}/x.npy", x[step]), numpy.save(f"{folder}/labels.npy", labels[step])
