"""states.py FOLDER: programs that change what they are given: in place, and as outputs of their own (as decompositions leave them)."""
import os
import sys

import numpy as np
from archive import Archive, argument, graph, node

os.makedirs(sys.argv[1], exist_ok=True)


def mutation(archive, kind, name, value, key):
    archive.graph["outputs"].append(argument(value))
    archive.signature["output_specs"].append({kind: {"arg": {"name": value}, key: name}})


def write(archive, name, result="updated"):
    archive.node("aten.neg.default", "result", {"self": result})
    archive.output("result")
    archive.write(f"{sys.argv[1]}/{name}.pt2")


for name in ("inplace", "functional", "through", "graph", "unsure", "view", "shared"):
    archive = Archive()
    x = archive.input("x", "int64", [3])
    count = archive.stored("buffer", "count", np.arange(3), sizes=[3])
    result = "updated"
    if name == "inplace":
        archive.node("aten.add_.Tensor", "updated", {"self": count, "other": x})
    elif name == "functional":
        archive.node("aten.add.Tensor", "updated", {"self": count, "other": x})
        mutation(archive, "buffer_mutation", "count", "updated", "buffer_name")
    elif name == "through":  # a view of the buffer is changed, the buffer read afterwards
        archive.node("aten.slice.Tensor", "part", {"self": count, "dim": 0, "start": 1, "end": 2})
        archive.node("aten.add_.Tensor", "more", {"self": "part", "other": 1})
        archive.node("aten.add.Tensor", "updated", {"self": count, "other": x})
    elif name in ("graph", "unsure"):
        inner = graph(["b", "y"], [node("aten.add_.Tensor", "sum", {"self": "b", "other": "y"})], ["sum"])
        held = {"as_graph": {"name": "inner", "graph": inner}}
        if name == "graph":
            archive.node("higher_order.wrap_with_set_grad_enabled", ["updated"], {"0": False, "1": held, "2": count, "3": x})
        else:
            archive.input("p", "bool", [])
            archive.node("higher_order.cond", ["updated"], {"0": "p", "1": held, "2": held, "3": [count, x]})
    elif name == "view":  # only read through a view
        archive.node("aten.slice.Tensor", "part", {"self": count, "dim": 0, "start": 0, "end": 3})
        archive.node("aten.add.Tensor", "updated", {"self": "part", "other": x})
    else:
        other = archive.stored("buffer", "other", np.arange(3), sizes=[3], file="weight_0")
        archive.node("aten.add_.Tensor", "updated", {"self": count, "other": other})
    write(archive, name)

for name in ("input", "input_functional"):
    archive = Archive()
    x, cache = archive.input("x", "float32", [3]), archive.input("cache", "float32", [3])
    if name == "input":
        archive.node("aten.add_.Tensor", "updated", {"self": cache, "other": x})
    else:
        archive.node("aten.add.Tensor", "updated", {"self": cache, "other": x})
        mutation(archive, "user_input_mutation", "cache", "updated", "user_input_name")
    write(archive, name)
