"""corners.py FOLDER: operators where NaN, infinities, signs, ties and narrow types decide; results as torch 2.15 gives them."""
import os
import subprocess
import sys

import numpy as np
from archive import Archive

nan, inf = np.nan, np.inf
cases = {}


def f32(*values):
    return np.array(values, np.float32)


def of(dtype, *values):
    return np.array(values, dtype)


def case(name, target, arguments, *expected):
    """Arrays among the arguments are inputs of the program; `expected` has a result each, None where it does not matter."""
    cases[name] = (f"aten.{target}", arguments, [None if e is None else np.asarray(e) for e in expected])


# NaN is the extreme wherever there is one.
rows = f32([1, nan, 2], [inf, nan, 1], [1, 2, 3])
case("argmax", "argmax.default", {"self": rows, "dim": 1}, of("int64", 1, 1, 2))
case("argmin", "argmin.default", {"self": -rows, "dim": 1}, of("int64", 1, 1, 2))
case("max_dim", "max.dim", {"self": rows, "dim": 1}, f32(nan, nan, 3), of("int64", 1, 1, 2))
case("median_dim", "median.dim", {"self": rows, "dim": 1}, f32(nan, nan, 2), of("int64", 1, 1, 1))
case("median", "median.default", {"self": f32(1, nan, 2)}, np.float32(nan))
case("cummax", "cummax.default", {"self": f32(1, nan, 3, nan, 2), "dim": 0}, f32(1, nan, nan, nan, nan), of("int64", 0, 1, 1, 3, 3))
case("softshrink", "softshrink.default", {"self": f32(nan, 1, -1, 0.25)}, f32(nan, 0.5, -0.5, 0))
case("threshold", "threshold.default", {"self": f32(nan, 1, -1), "threshold": 0.125, "value": 20}, f32(nan, 1, 20))
case("searchsorted", "searchsorted.Tensor", {"sorted_sequence": f32(1, 2, 2, 3), "self": f32(2, nan, 0), "right": True}, of("int64", 3, 4, 0))
case("bucketize", "bucketize.Tensor", {"self": f32(2, nan, 0), "boundaries": f32(1, 2, 3)}, of("int64", 1, 3, 0))

# What runs or is joined starts from the type's own bounds.
case("cummin_u8", "cummin.default", {"self": of("uint8", 200, 230, 210), "dim": 0}, of("uint8", 200, 200, 200), of("int64", 0, 0, 0))
case("cummax_bool", "cummax.default", {"self": of("bool", 0, 0, 1, 0), "dim": 0}, of("bool", 0, 0, 1, 1), of("int64", 0, 1, 2, 2))
case("cummin_bool", "cummin.default", {"self": of("bool", 1, 1, 0, 1), "dim": 0}, of("bool", 1, 1, 0, 0), of("int64", 0, 1, 2, 2))
fresh = {"dim": 0, "index": of("int64", 0, 0, 2), "include_self": False}
case("amin_u8", "scatter_reduce.two", {"self": of("uint8", 1, 2, 3), **fresh, "src": of("uint8", 200, 210, 220), "reduce": "=amin"},
     of("uint8", 200, 2, 220))
case("mean_i64", "scatter_reduce.two", {"self": of("int64", 1, 2, 3), **fresh, "src": of("int64", -2, -1, -7), "reduce": "=mean"},
     of("int64", -2, 2, -7))
case("many_i8", "scatter_reduce.two", {"self": of("int8", 1, 2, 3), "dim": 0, "index": np.zeros(200, "int64"), "include_self": False,
                                       "src": np.zeros(200, "int8"), "reduce": "=sum"}, of("int8", 0, 2, 3))

# Quotients, signs and sizes.
case("floor_divide", "floor_divide.default", {"self": f32(1, 5, -1, inf, 0.7, 1, 6, -6, 7), "other": f32(.1, .1, .1, 1, .1, 0, inf, inf, -2)},
     f32(9, 49, -10, nan, 6, inf, 0, -1, -4))
case("copysign", "copysign.Tensor", {"self": f32(1, 2, 3), "other": f32(-0.0, 0, -1)}, f32(-1, 2, -3))
case("hypot", "hypot.default", {"self": f32(1e20, 3e-30, inf, 0, nan), "other": f32(1e20, 4e-30, nan, 0, 1)}, f32(1.4142136e20, 5e-30, inf, 0, nan))
case("lerp", "lerp.Scalar", {"self": f32(1e8, 1), "end": f32(1, 1e-8), "weight": 1.0}, f32(1, 1e-8))
case("lerp_tensor", "lerp.Tensor", {"self": f32(1e8, 2), "end": f32(1, 4), "weight": f32(1, 0.25)}, f32(1, 2.5))

# Labels that do not count leave infinite logits alone.
case("ignored", "nll_loss.default", {"self": f32([-inf, -1], [-2, -3]), "target": of("int64", 0, 1), "reduction": 1, "ignore_index": 0}, np.float32(3))

# A scale that is given counts even where the sizes are the same; ties go as f32 rounds them.
nine = np.arange(9, dtype=np.float32).reshape(1, 1, 9)
case("same_size", "upsample_nearest1d.vec", {"input": nine, "scale_factors": {"as_floats": [1.1]}}, f32([[0, 0, 1, 2, 3, 4, 5, 6, 7]]))
case("same_size_exact", "_upsample_nearest_exact1d.vec", {"input": nine, "scale_factors": {"as_floats": [1.1]}},
     f32([[0, 1, 2, 3, 4, 5, 5, 6, 7]]))
case("tie", "upsample_nearest1d.default", {"self": f32([[0, 1]]), "output_size": [82]}, (np.arange(82) >= 42).astype(np.float32).reshape(1, 1, 82))
case("antialiased", "_upsample_bilinear2d_aa.default", {"self": nine.reshape(1, 1, 1, 9), "output_size": [1, 3], "align_corners": True},
     f32([[[1.8928571, 5.3870969, 7.4444447]]]))


def build(path):
    archive, expected = Archive(), []
    feeds = {}
    for name, (target, arguments, results) in cases.items():
        given = {}
        for key, value in arguments.items():
            if isinstance(value, np.ndarray):
                feed = f"{name}_{key}"
                archive.input(feed, str(value.dtype), list(value.shape))
                feeds[feed] = value
                value = feed
            given[key] = value
        outputs = [f"{name}_{index}" for index in range(len(results))]
        archive.node(target, outputs[0] if len(outputs) == 1 else outputs, given)
        for output, result in zip(outputs, results):
            if result is not None:
                archive.output(output)
                expected.append((output, result))
    archive.write(path)
    return feeds, expected


folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
feeds, expected = build(f"{folder}/corners.pt2")
options = []
for name, value in feeds.items():
    np.save(f"{folder}/{name}.npy", value)
    options += ["--input", f"{name}={folder}/{name}.npy"]
subprocess.run(["weft", "compile", f"{folder}/corners.pt2", "--quiet", "-o", f"{folder}/corners.weft"], check=True)
subprocess.run(["weft", "run", f"{folder}/corners.weft", "--quiet", *options, "--output-dir", f"{folder}/out"], check=True)
for index, (name, result) in enumerate(expected):
    got = np.load(f"{folder}/out/output_{index}.npy")
    same = got.dtype == result.dtype and np.allclose(got.reshape(result.shape), result, rtol=1e-6, atol=0, equal_nan=True)
    print(f"{name}: " + ("as torch" if same else f"{got.tolist()}, but torch gives {result.tolist()}"))
