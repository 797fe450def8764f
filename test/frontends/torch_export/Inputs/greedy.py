"""greedy.py FOLDER: imports small archives that ask for much, or for what is not there, and prints what weft says of them."""
import os
import resource
import subprocess
import sys

from archive import Archive, numbers

folder = sys.argv[1]
MOST_BYTES, MOST_SECONDS = 4 << 30, 60


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def report(name, archive):
    path = f"{folder}/{name}.pt2"
    archive.write(path)
    run = subprocess.run(["weft", "import", path, "-o", path + ".mlir"], capture_output=True, text=True, timeout=MOST_SECONDS, preexec_fn=limit)
    print(f"{name}: exit {run.returncode}")
    print(run.stderr.replace(path, "FILE"), end="")


def case(name, target, arguments, shapes, outputs=("y",)):
    """One node; `shapes` gives its operands' sizes, floats but where a type stands before them."""
    archive = Archive()
    for operand, shape in shapes.items():
        dtype, shape = shape if isinstance(shape, tuple) else ("float32", shape)
        archive.input(operand, dtype, shape)
    archive.node(f"aten.{target}", list(outputs) if len(outputs) > 1 else outputs[0], arguments)
    archive.output(outputs[0])
    report(name, archive)


os.makedirs(folder, exist_ok=True)
image = {"x": [1, 1, 16384, 16384]}
case("adaptive_maximum", "adaptive_max_pool2d.default", {"self": "x", "output_size": [10**9, 10**9]}, {"x": [1, 1, 7, 7]}, ("y", "i"))
case("resized", "upsample_bilinear2d.default", {"self": "x", "output_size": [16383, 16383], "align_corners": False}, image)
case("affine", "affine_grid_generator.default", {"theta": "x", "size": [1, 1, 16384, 16384], "align_corners": False}, {"x": [1, 2, 3]})
case("triangle", "tril_indices.default", {"row": 16384, "col": 16384, "offset": 16384}, {"x": [1]})
case("unfolded", "unfold.default", {"self": "x", "dimension": 0, "size": 2**19, "step": 1}, {"x": ("int8", [2**20])})
case("columns", "im2col.default", {"self": "x", "kernel_size": [2**19, 1], "dilation": [1, 1], "padding": [0, 0], "stride": [1, 1]},
     {"x": ("int8", [1, 1, 2**20, 1])})
case("split", "split.Tensor", {"self": "x", "split_size": 1, "dim": 0}, {"x": ("int8", [2**34])})
case("unbound", "unbind.int", {"self": "x", "dim": 0}, {"x": ("int8", [2**46])})
case("differences", "diff.default", {"self": "x", "n": 10**12}, {"x": ("int8", [2**40])})
case("strided", "as_strided.default", {"self": "x", "size": [2, 2, 2], "stride": [2**62, 2**62, 1], "storage_offset": 0}, {"x": [8]})
case("far_diagonal", "diag_embed.default", {"self": "x", "offset": -2**63, "dim1": 0, "dim2": 1}, {"x": [3]})

# Dimensions of scalars.
scalar = {"x": []}
case("narrowed", "narrow.default", {"self": "x", "dim": 0, "start": 0, "length": 1}, scalar)
case("gated", "glu.default", {"self": "x", "dim": 0}, scalar)
case("rolled", "roll.default", {"self": "x", "shifts": [1], "dims": [0]}, scalar)
case("unflattened", "unflatten.int", {"self": "x", "dim": 0, "sizes": [1, 1]}, scalar)
masks = {"output_mask": {"as_bools": [True, True, True]}}
case("norm_gradient", "native_layer_norm_backward.default",
     {"grad_out": "x", "input": "x", "normalized_shape": [1, 1, 1], "mean": "x", "rstd": "x", "weight": None, "bias": None, **masks}, {"x": [2, 3]})
case("pool_gradient", "avg_pool2d_backward.default",
     {"grad_output": "g", "self": "x", "kernel_size": [1, 1], "stride": [], "padding": [0, 0], "ceil_mode": False, "count_include_pad": True},
     {"x": [1, 2, 2], "g": []})
case("conv_gradient", "convolution_backward.default",
     {"grad_output": "x", "input": "x", "weight": "w", "bias_sizes": None, "stride": [1], "padding": [0], "dilation": [1], "transposed": False,
      "output_padding": [0], "groups": 1, **masks}, {"x": [1, 1, 3], "w": [1]}, ("y", "z"))

# No batch at all.
empty = Archive()
empty.input("x", "float32", [2, 4, 3])
empty.node("aten.slice.Tensor", "none", {"self": "x", "dim": 0, "start": 0, "end": 0})
empty.node("aten.native_group_norm.default", ["y", "mean", "rstd"],
           {"input": "none", "weight": None, "bias": None, "N": 0, "C": 4, "HxW": 3, "group": 2, "eps": 1e-5})
empty.output("mean")
report("no_batch", empty)

# Many views of one small storage, each larger than it.
views = Archive()
views.stored("parameter", "v0", numbers(8192), sizes=[3000, 3000], strides=[1, 1], file="storage")
for index in range(1, 30):
    views.stored("parameter", f"v{index}", None, sizes=[3000, 3000], strides=[1, 1], offset=index, file="storage")
views.input("x", "float32", [4])
views.output(views.node("aten.neg.default", "y", {"self": "x"}))
report("overlapping", views)

# A change at one end of a long chain of views, seen at the other.
chain = Archive()
chain.input("x", "float32", [4])
chain.node("aten.add.Tensor", "v0", {"self": "x", "other": "x"})
for index in range(20000):
    chain.node("aten.view.default", f"v{index + 1}", {"self": f"v{index}", "size": [4]})
chain.node("aten.add_.Tensor", "changed", {"self": "v20000", "other": "x"})
chain.node("aten.add_.Tensor", "again", {"self": "v0", "other": "x"})
chain.output(chain.node("aten.neg.default", "y", {"self": "v20000"}))
report("chain", chain)
