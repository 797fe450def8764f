"""quantised.py FOLDER: integers that stand for floats, more of them than ONNX's own tests have, against numpy's integers."""
import pathlib
import sys

import numpy as np
from nodes import check_node

RNG = np.random.default_rng(3)


def draw(kind, *shape):
    info = np.iinfo(kind)
    return RNG.integers(info.min, info.max + 1, shape).astype(kind)


def convolve(x, kernel, groups, stride):
    """Windows of 3 x 3 that reach one element over the border, by int64."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::stride, ::stride]
    parts = zip(np.split(windows, groups, 1), np.split(kernel, groups))
    return np.concatenate([np.einsum("ncyxij,ocij->noyx", *part) for part in parts], 1)


def check_products(folder):
    a, b, a_zero, b_zero = draw(np.uint8, 2, 5, 700), draw(np.int8, 700, 6), draw(np.uint8, 1)[0], draw(np.int8, 6)
    exact = (a.astype(np.int64) - a_zero) @ (b.astype(np.int64) - b_zero)
    check_node(folder, "product", "MatMulInteger", [("a", a), ("b", b), ("az", np.array(a_zero)), ("bz", b_zero)],
               [("y", exact.astype(np.int32))], {}, tolerance=0)


def check_convolutions(folder):
    x, x_zero = draw(np.uint8, 2, 64, 17, 12), draw(np.uint8, 1)[0]
    for name, groups, stride in (("convolution", 1, 1), ("groups", 2, 2), ("wide", 1, 1)):
        kernel = draw(np.int8, 32, 64 // groups, 3, 3)
        if name == "wide":
            x, kernel = draw(np.uint8, 1, 300, 4, 5), draw(np.int8, 6, 300, 3, 3)
        exact = convolve(x.astype(np.int64) - x_zero, kernel.astype(np.int64), groups, stride)
        check_node(folder, name, "ConvInteger", [("x", x), ("w", kernel), ("xz", np.array(x_zero))], [("y", exact.astype(np.int32))],
                   {"group": groups, "pads": [1, 1, 1, 1], "strides": [stride, stride]}, tolerance=0)


def check_linear(folder):
    x, scale = RNG.uniform(-40, 40, (3, 4, 5)).astype(np.float32), np.array([0.25, 0.003, 1, 0.125], np.float32)
    zero = np.array([-7, 0, 100, -30000], np.int16)
    spread = lambda array: array.reshape(1, 4, 1)
    q = np.clip(np.rint(x / spread(scale)) + spread(zero), -32768, 32767).astype(np.int16)
    check_node(folder, "quantise", "QuantizeLinear", [("x", x), ("s", scale), ("z", zero)], [("y", q)], {"axis": -2}, tolerance=0)
    back = ((q.astype(np.float32) - spread(zero)) * spread(scale)).astype(np.float32)
    check_node(folder, "dequantise", "DequantizeLinear", [("x", q), ("s", scale), ("z", zero)], [("y", back)], {"axis": 1}, tolerance=0)
    nothing = np.zeros((2, 3), np.float32)
    check_node(folder, "nothing", "DynamicQuantizeLinear", [("x", nothing)],
               [("y", nothing.astype(np.uint8)), ("s", np.float32(1).reshape(())), ("z", np.uint8(0).reshape(()))], {}, tolerance=0)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    check_products(folder)
    check_convolutions(folder)
    check_linear(folder)


if __name__ == "__main__":
    main()
