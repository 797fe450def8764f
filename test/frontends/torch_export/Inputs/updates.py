"""updates.py FOLDER: programs that update a buffer: in place, and as an output of their own (as decompositions leave them)."""
import os
import sys

import numpy as np
from archive import Archive, argument

os.makedirs(sys.argv[1], exist_ok=True)
for name in ("inplace", "functional"):
    archive = Archive()
    x = archive.input("x", "float32", [3])
    count = archive.stored("buffer", "count", np.zeros(3, np.float32))
    if name == "inplace":
        archive.node("aten.add_.Tensor", "updated", {"self": count, "other": x})
    else:
        archive.node("aten.add.Tensor", "updated", {"self": count, "other": x})
        archive.graph["outputs"].append(argument("updated"))
        archive.signature["output_specs"].append({"buffer_mutation": {"arg": {"name": "updated"}, "buffer_name": "count"}})
    archive.node("aten.neg.default", "result", {"self": "updated"})
    archive.output("result")
    archive.write(f"{sys.argv[1]}/{name}.pt2")
