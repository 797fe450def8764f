"""indices.py FOLDER: which operators take indices that count from the end, and which refuse them, on one device and on two."""
import os
import subprocess
import sys

import numpy as np
from archive import Archive

table = np.arange(12, dtype=np.float32).reshape(4, 3)
at = np.array([2, 0], np.int64)
tall = np.zeros((2, 3), np.int64) + at[:, None]
rows = -np.ones((2, 3), np.float32)
cases = {
    "embedding": ("embedding.default", {"weight": "table", "indices": at}),
    "embedding_narrow": ("embedding.default", {"weight": "table", "indices": at.astype(np.int32)}),
    "embedding_bag": ("embedding_bag.padding_idx", {"weight": "table", "indices": at, "offsets": "offsets"}),
    "gather": ("gather.default", {"self": "table", "dim": 0, "index": tall}),
    "index_select": ("index_select.default", {"self": "table", "dim": 0, "index": at}),
    "index_add": ("index_add.default", {"self": "table", "dim": 0, "index": at, "source": "rows"}),
    "index_copy": ("index_copy.default", {"self": "table", "dim": 0, "index": at, "source": "rows"}),
    "scatter": ("scatter.src", {"self": "table", "dim": 0, "index": tall, "src": "rows"}),
    "index": ("index.Tensor", {"self": "table", "indices": at}),
    "index_put": ("index_put.default", {"self": "table", "indices": at, "values": "rows"}),
    "index_fill": ("index_fill.int_Scalar", {"self": "table", "dim": 0, "index": at, "value": -1.0}),
    "take": ("take.default", {"self": "table", "index": at}),
}
FIRST = {"embedding_bag": 4}  # results, where there are several


def build(path):
    archive = Archive()
    feeds = {}
    archive.input("table", "float32", [4, 3])
    archive.input("rows", "float32", [2, 3])
    constants = {"offsets": archive.stored("buffer", "offsets", np.array([0, 1], np.int64))}
    for name, (target, arguments) in cases.items():
        given = dict(arguments)
        for key, value in arguments.items():
            if isinstance(value, np.ndarray):
                feeds[name] = value
                archive.input(name, str(value.dtype), list(value.shape))
                given[key] = [name] if key == "indices" and target.startswith("index") else name
            elif value in constants:
                given[key] = constants[value]
        outputs = [f"{name}_{index}" for index in range(FIRST.get(name, 1))]
        archive.node(f"aten.{target}", outputs[0] if len(outputs) == 1 else outputs, given)
        archive.output(outputs[0])
    archive.write(path)
    return feeds


def run(program, feeds, out):
    options = []
    for name, value in {"table": table, "rows": rows, **feeds}.items():
        np.save(f"{folder}/{name}.npy", value)
        options += ["--input", f"{name}={folder}/{name}.npy"]
    return subprocess.run(["weft", "run", program, "--quiet", *options, "--output-dir", out], capture_output=True, text=True)


folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
feeds = build(f"{folder}/indices.pt2")
for mesh in ([], ["--mesh", "model=2", "--shard", "table=[{model},{}]"]):
    program = f"{folder}/indices{len(mesh)}.weft"
    subprocess.run(["weft", "compile", f"{folder}/indices.pt2", "--quiet", *mesh, "-o", program], check=True)
    plain = run(program, feeds, f"{folder}/plain")
    assert plain.returncode == 0, plain.stderr
    for name, value in feeds.items():
        moved = np.where(value == 2, value - (table.size if name == "take" else len(table)), value).astype(value.dtype)
        other = run(program, {**feeds, name: moved}, f"{folder}/other")
        if other.returncode == 0:
            number = list(cases).index(name)
            same = np.array_equal(np.load(f"{folder}/plain/output_{number}.npy"), np.load(f"{folder}/other/output_{number}.npy"))
            print(f"{name}: " + ("from the end" if same else "wrong"))
        else:
            print(f"{name}: exit {other.returncode}: {other.stderr.strip().splitlines()[0]}")
