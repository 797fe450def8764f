"""check_numpy.py INTERPRETER DIRECTORY [--seed S]: the interpreter's value of every weft operation against numpy's.

Makes seeded cases, one function each, runs them all in one call of INTERPRETER (InterpretCases), and compares: integers
exactly, floats to the precision of their type. Expected values are computed by numpy in double precision from the
operation's definition. A case for every operation of the dialect is demanded.
"""
import argparse
import math
import pathlib
import re
import subprocess
import sys

import numpy as np
from attention import attention
from windows import convolution, convolution_kernel_gradient, windows

FLOATS = ["f32", "f64", "f16", "bf16"]
INTS = ["i32", "i64", "i8", "i16", "ui8", "ui16", "ui32", "ui64"]
NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.float32, "i1": np.bool_, "i8": np.int8,
         "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
         "ui64": np.uint64}
PRECISION = {"f32": 3e-7, "f64": 1e-13, "f16": 1e-3, "bf16": 8e-3}
erf = np.vectorize(math.erf, otypes=[np.float64])


def round_bf16(array):
    """The nearest bfloat16 of each float, as float32."""
    bits = np.asarray(array, np.float32).view(np.uint32).astype(np.uint64)
    odd = bits // np.uint64(0x10000) % np.uint64(2)
    rounded = (bits + np.uint64(0x7FFF) + odd) // np.uint64(0x10000) * np.uint64(0x10000)
    values = np.asarray(rounded, np.uint32).view(np.float32)
    return np.asarray(np.where(np.isnan(array), np.float32(np.nan), values), np.float32)


def stored(array, element):
    """The array as the element type holds it."""
    array = np.asarray(array)
    return round_bf16(array) if element == "bf16" else array.astype(NUMPY[element])


def mlir_type(array, element):
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + element + ">"


def dims(values):
    return "[" + ", ".join(str(v) for v in values) + "]"


class Cases:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.functions, self.inputs, self.expected = [], [], []
        self.shared = []  # functions that they name

    def draw(self, shape, element, low=-2.0, high=2.0):
        """Values between low and high that the element type holds."""
        if element == "i1":
            return self.random.integers(0, 2, shape).astype(np.bool_)
        if element in INTS:
            low = max(int(low), 0) if element.startswith("u") else int(low)
            return self.random.integers(low, int(high) + 1, shape).astype(NUMPY[element])
        return stored(self.random.uniform(low, high, shape), element)

    def add(self, text, inputs, outputs):
        """A function of one operation. `inputs` and `outputs` are (array, element) pairs; in `text`, {i} is the type of
        input i and {r} that of the result."""
        number = len(self.functions)
        inputs = [(np.asarray(a), e) for a, e in inputs]
        outputs = [(stored(a, e), e) for a, e in outputs]
        types = {f"t{i}": mlir_type(a, e) for i, (a, e) in enumerate(inputs)}
        results = [mlir_type(a, e) for a, e in outputs]
        types["r"] = ", ".join(results)
        arguments = ", ".join(f"%{i}: {types[f't{i}']}" for i in range(len(inputs)))
        names = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
        define = f"%r:{len(results)}" if len(results) > 1 else "%r"
        body = re.sub(r"\{(t\d+|r)\}", lambda found: types[found[1]], text)
        self.functions.append(f"func.func @case{number}({arguments}) -> ({types['r']}) {{\n  {define} = weft.{body}\n"
                              f"  return {names} : {types['r']}\n}}\n")
        self.inputs.append(inputs)
        self.expected.append(outputs)


def wide(array):
    return np.asarray(array, np.float64)


# One function a family of operations; each adds its cases.

def unary(cases):
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))
    functions = {"abs": np.abs, "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan, "cbrt": np.cbrt, "ceil": np.ceil,
                 "cos": np.cos, "cosh": np.cosh, "erf": erf, "exp": np.exp, "expm1": np.expm1, "floor": np.floor, "log": np.log, "log1p": np.log1p,
                 "neg": np.negative, "reciprocal": np.reciprocal, "round": np.round,
                 "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": sigmoid, "sign": np.sign, "sin": np.sin,
                 "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh}
    ranges = {"acos": (-1, 1), "asin": (-1, 1), "log": (0.1, 9), "log1p": (-0.9, 3), "reciprocal": (0.5, 4),
              "rsqrt": (0.1, 4), "sqrt": (0, 4), "tan": (-1, 1), "round": (-5, 5)}
    for name, function in functions.items():
        for element in FLOATS:
            x = cases.draw((3, 700), element, *ranges.get(name, (-3, 3)))
            cases.add(f"{name} %0 : {{r}}", [(x, element)], [(function(wide(x)), element)])
    x = np.float32([0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan])
    for name in ("round", "abs", "neg", "sign", "exp", "sigmoid", "tanh", "erf"):
        cases.add(f"{name} %0 : {{r}}", [(x, "f32")], [(functions[name](wide(x)), "f32")])
    cases.add("is_inf %0 : {t0}", [(x, "f32")], [(np.isinf(x), "i1")])
    cases.add("is_nan %0 : {t0}", [(x, "f32")], [(np.isnan(x), "i1")])
    for element in INTS:
        x = cases.draw((5, 7), element, -100, 100)
        for name in ("abs", "neg", "sign"):
            cases.add(f"{name} %0 : {{r}}", [(x, element)], [(functions[name](x), element)])
    for element in INTS + ["i1"]:
        x = cases.draw((5, 7), element, -100, 100)
        cases.add("not %0 : {r}", [(x, element)], [(~x, element)])
        width = 1 if element == "i1" else 8 * x.dtype.itemsize
        text = [format(int(value) % 2 ** width, f"0{width}b") for value in x.flat]
        counts = {"popcount": [t.count("1") for t in text], "count_leading_zeros": [len(t) - len(t.lstrip("0")) for t in text]}
        for name, value in counts.items():
            cases.add(f"{name} %0 : {{r}}", [(x, element)], [(np.array(value).reshape(x.shape), element)])
    for element in FLOATS:
        x = cases.draw((4, 33), element)
        y = wide(x)
        cases.add("gelu erf %0 : {r}", [(x, element)], [(y / 2 * (1 + erf(y / math.sqrt(2))), element)])
        for name in ("barrier", "stop_gradient"):
            cases.add(f"{name} %0 : {{r}}", [(x, element)], [(x, element)])
        inner = math.sqrt(2 / math.pi) * (y + 0.044715 * y ** 3)
        cases.add("gelu tanh %0 : {r}", [(x, element)], [(y / 2 * (1 + np.tanh(inner)), element)])


def binary(cases):
    def truncated(a, b):
        return np.sign(wide(a)) * np.sign(wide(b)) * (np.abs(wide(a)) // np.abs(wide(b)))
    shape = (4, 300)
    for element in FLOATS:
        a, b = cases.draw(shape, element), cases.draw(shape, element, 0.5, 2)
        x, y = wide(a), wide(b)
        for name, value in {"add": x + y, "atan2": np.arctan2(x, y), "sub": x - y, "mul": x * y, "div": x / y, "max": np.maximum(x, y),
                            "min": np.minimum(x, y), "rem": np.fmod(x, y), "pow": np.abs(x) ** y}.items():
            left = np.abs(a) if name == "pow" else a
            cases.add(f"{name} %0, %1 : {{r}}", [(left, element), (b, element)], [(value, element)])
    nan = np.float32([np.nan, 1, 2]), np.float32([1, np.nan, 3])
    for name, function in {"max": np.maximum, "min": np.minimum}.items():
        cases.add(f"{name} %0, %1 : {{r}}", [(nan[0], "f32"), (nan[1], "f32")], [(function(*nan), "f32")])
    for element in INTS:
        a, b = cases.draw(shape, element, -100, 100), cases.draw(shape, element, 1, 9)
        with np.errstate(all="ignore"):
            for name, value in {"add": a + b, "sub": a - b, "mul": a * b, "div": truncated(a, b), "max": np.maximum(a, b),
                                "min": np.minimum(a, b), "rem": np.fmod(a, b), "pow": a ** (b % 3)}.items():
                right = (b % 3).astype(b.dtype) if name == "pow" else b
                cases.add(f"{name} %0, %1 : {{r}}", [(a, element), (right, element)], [(value, element)])
    for element in INTS + ["i1"]:
        a, b = cases.draw(shape, element, -100, 100), cases.draw(shape, element, -100, 100)
        for name, value in {"and": a & b, "or": a | b, "xor": a ^ b}.items():
            cases.add(f"{name} %0, %1 : {{r}}", [(a, element), (b, element)], [(value, element)])
    for element in INTS:  # places beyond the width, and negative ones, leave only what moves in
        a, width = cases.draw(shape, element, -100, 100), 8 * np.dtype(NUMPY[element]).itemsize
        places = cases.draw(shape, element, -2, width + 2)
        far = (places.astype(np.int64) < 0) | (places.astype(np.int64) >= width)
        near = np.where(far, 0, places).astype(a.dtype)
        right = np.where(far, np.where(a < 0, -1, 0).astype(a.dtype), np.right_shift(a, near))
        for name, value in {"shift_left": np.where(far, 0, np.left_shift(a, near)), "shift_right": right}.items():
            cases.add(f"{name} %0, %1 : {{r}}", [(a, element), (places, element)], [(value.astype(a.dtype), element)])
        zero = np.zeros(shape, a.dtype)
        cases.add("div %0, %1 : {r}", [(a, element), (zero, element)], [(~zero, element)])
        cases.add("rem %0, %1 : {r}", [(a, element), (zero, element)], [(a, element)])
    directions = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                  "ge": np.greater_equal}
    for element in ["f32", "i32", "ui64", "i1"]:
        a, b = cases.draw(shape, element, -3, 3), cases.draw(shape, element, -3, 3)
        if element == "f32":
            a[0, :3] = np.nan
        for name, function in directions.items():
            cases.add(f"compare {name} %0, %1 : {{t0}}", [(a, element), (b, element)], [(function(a, b), "i1")])
    for element in ["f32", "bf16", "i8", "i64"]:
        c, a, b = cases.draw(shape, "i1"), cases.draw(shape, element), cases.draw(shape, element)
        cases.add("select %0, %1, %2 : {t0}, {r}", [(c, "i1"), (a, element), (b, element)],
                  [(np.where(c, a, b), element)])


def casts(cases):
    for source in FLOATS + INTS + ["i1"]:
        for target in FLOATS + INTS + ["i1"]:
            x = cases.draw((3, 11), source, 0 if target.startswith("u") else -9, 9)
            value = x != 0 if target == "i1" else np.trunc(wide(x)) if target in INTS else wide(x)
            cases.add("cast %0 : {t0} to {r}", [(x, source)], [(value, target)])
    x = np.float64([1e30, -1e30, np.nan, np.inf, 2.0 ** 31, -2.0 ** 31, 0.5])
    top, low = 2 ** 31 - 1, -2 ** 31
    cases.add("cast %0 : {t0} to {r}", [(x, "f64")], [(np.array([top, low, 0, top, top, low, 0]), "i32")])
    cases.add("cast %0 : {t0} to {r}", [(x, "f64")], [(np.array([1, 1, 1, 1, 1, 1, 1]), "i1")])
    ties = np.float32([1 + 2 ** -8, 1 + 3 * 2 ** -8, 3.4e38])
    cases.add("cast %0 : {t0} to {r}", [(ties, "f32")], [(np.float32([1, 1 + 2 ** -6, np.inf]), "bf16")])


def movement(cases):
    for element in ["f32", "i64", "i1", "f16", "bf16"]:
        x = cases.draw((2, 3, 4), element, -9, 9)
        one = (x, element)
        cases.add("broadcast %0 dims [1, 2, 4] : {t0} to {r}", [one],
                  [(np.broadcast_to(x[None, :, :, None, :], (5, 2, 3, 2, 4)), element)])
        unit = x[:, :1, :]
        cases.add("broadcast %0 dims [0, 1, 2] : {t0} to {r}", [(unit, element)],
                  [(np.broadcast_to(unit, (2, 6, 4)), element)])
        parts = [cases.draw((2, n, 4), element, -9, 9) for n in (1, 3, 2)]
        cases.add("concat %0, %1, %2 axis 1 : ({t0}, {t1}, {t2}) -> {r}", [(p, element) for p in parts],
                  [(np.concatenate(parts, 1), element)])
        value = cases.draw((), element, -9, 9)
        padded = np.full((3, 6, 6), value, x.dtype)
        padded[1:3, 0:3, 2:6] = x
        cases.add("pad %0, %1 low [1, 0, 2] high [0, 3, 0] : ({t0}, {t1}) -> {r}", [one, (value, element)],
                  [(padded, element)])
        cases.add("reshape %0 : {t0} to {r}", [one], [(x.reshape(4, 1, 6), element)])
        cases.add("reverse %0 dims [0, 2] : {r}", [one], [(x[::-1, :, ::-1], element)])
        cases.add("slice %0 starts [1, 0, 1] strides [1, 2, 1] : {t0} to {r}", [one], [(x[1:2, 0:3:2, 1:3], element)])
        for order in ([2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]):
            cases.add(f"transpose %0 {dims(order)} : {{t0}} -> {{r}}", [one], [(x.transpose(order), element)])
    empty = np.zeros((0, 3), np.float32)
    cases.add("reshape %0 : {t0} to {r}", [(empty, "f32")], [(empty.reshape(3, 0), "f32")])
    for element in ["i64", "i32", "f32"]:
        for dim in (0, 1):
            index = np.indices((3, 5))[dim]
            cases.add(f"iota {dim} : {{r}}", [], [(index, element)])
    for element in ["f32", "i64"]:
        x = cases.draw((3, 4, 2), element, -9, 9)
        for axis in (0, 1, 2):
            for flags in ("", " exclusive", " reverse", " exclusive reverse"):
                y = np.flip(x, axis) if "reverse" in flags else x
                total = np.cumsum(wide(y), axis)
                total = total - y if "exclusive" in flags else total
                total = np.flip(total, axis) if "reverse" in flags else total
                cases.add(f"cumsum %0 axis {axis}{flags} : {{r}}", [(x, element)], [(total, element)])


def reductions(cases):
    kinds = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}
    for element in ["f32", "f16", "i32", "ui8", "f64"]:
        x = cases.draw((3, 4, 5), element, -2, 2)
        for name, function in kinds.items():
            for over in ([0], [1], [2], [0, 2], [0, 1, 2], []):
                value = function(x if element in INTS else wide(x), axis=tuple(over)) if over else x
                cases.add(f"reduce {name} %0 dims {dims(over)} : {{t0}} -> {{r}}", [(x, element)], [(value, element)])
    for element in ["f32", "i8", "ui16", "f64"]:
        x = cases.draw((2, 5, 7), element, -2, 2)
        for name, function in kinds.items():
            cases.add(f"reduce_window {name} %0 window [1, 3, 2] strides [1, 2, 1] dilations [1, 1, 3] low [0, 1, 2] "
                      "high [0, 1, 0] : {t0} -> {r}", [(x, element)],
                      [(windows(x, name, function, [1, 3, 2], [1, 2, 1], [1, 1, 3], [0, 1, 2], [0, 1, 0], [1, 1, 1]), element)])
            cases.add(f"reduce_window {name} %0 window [2, 2, 3] strides [1, 1, 2] dilations [1, 2, 1] low [-1, 0, 3] "
                      "high [1, -1, -2] input_dilations [1, 3, 2] : {t0} -> {r}", [(x, element)],
                      [(windows(x, name, function, [2, 2, 3], [1, 1, 2], [1, 2, 1], [-1, 0, 3], [1, -1, -2], [1, 3, 2]), element)])
    flags = cases.draw((3, 4), "i1")
    cases.add("reduce max %0 dims [1] : {t0} -> {r}", [(flags, "i1")], [(flags.any(1), "i1")])
    cases.add("reduce min %0 dims [1] : {t0} -> {r}", [(flags, "i1")], [(flags.all(1), "i1")])


def sorting(cases):
    for element in FLOATS + INTS + ["i1"]:
        x = cases.draw((3, 70, 4), element, -9, 9)
        if element in FLOATS:
            x[0, :5, 0] = [np.nan, -0.0, 0.0, np.inf, np.nan]
        for axis, count in [(0, 3), (1, 70), (1, 5), (2, 2)]:
            ascending = np.argsort(x, axis, kind="stable")
            backwards = x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis, kind="stable")
            for flag, order in [("", ascending), (" descending", np.flip(backwards, axis))]:
                order = np.take(order, range(count), axis)
                cases.add(f"sort %0 axis {axis} count {count}{flag} : {{t0}} -> {{r}}", [(x, element)],
                          [(np.take_along_axis(x, order, axis), element), (order, "i64")])


def indexing(cases):
    table, order = cases.draw((7, 5, 3), "f32"), cases.random
    for axis in (0, 1, 2):
        n = table.shape[axis]
        ids = order.integers(-n, n, (2, 4))
        cases.add(f"gather %0, %1 axis {axis} : ({{t0}}, {{t1}}) -> {{r}}", [(table, "f32"), (ids, "i64")],
                  [(np.take(table, ids, axis), "f32")])
    ids, first = order.integers(0, 21, (2, 4)), np.int64(7)
    shard = np.where(((ids >= 7) & (ids < 14))[..., None, None], table[np.clip(ids - 7, 0, 6)], 0)
    cases.add("gather %0, %1 offset %2 : tensor<i64> axis 0 extent 21 : ({t0}, {t1}) -> {r}",
              [(table, "f32"), (ids, "i64"), (first, "i64")], [(shard, "f32")])
    x = cases.draw((4, 6), "f32")
    picks = order.integers(-6, 6, (4, 2))
    cases.add("gather_elements %0, %1 axis 1 : ({t0}, {t1}) -> {r}", [(x, "f32"), (picks, "i64")],
              [(np.take_along_axis(x, picks % 6, 1), "f32")])
    tuples = np.stack([order.integers(0, 7, (2, 3)), order.integers(-5, 5, (2, 3))], -1)
    cases.add("gather_nd %0, %1 batch_dims 0 : ({t0}, {t1}) -> {r}", [(table, "f32"), (tuples, "i64")],
              [(table[tuples[..., 0], tuples[..., 1]], "f32")])
    batched = order.integers(0, 5, (7, 2, 1))
    cases.add("gather_nd %0, %1 batch_dims 1 : ({t0}, {t1}) -> {r}", [(table, "f32"), (batched, "i64")],
              [(np.stack([table[b, batched[b, :, 0]] for b in range(7)]), "f32")])
    joins = {"set": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    for element in ["f32", "i32"]:
        for kind, join in joins.items():
            x, updates = cases.draw((4, 6), element, -3, 3), cases.draw((4, 3), element, -3, 3)
            at = np.stack([order.permutation(6)[:3] for _ in range(4)])
            if kind != "set":
                at[:, 1] = at[:, 0]
            value = x.copy()
            for i, j in np.ndindex(4, 3):
                value[i, at[i, j]] = join(value[i, at[i, j]], updates[i, j])
            cases.add(f"scatter_elements {kind} %0, %1, %2 axis 1 : ({{t0}}, {{t1}}, {{t2}}) -> {{r}}",
                      [(x, element), (at, "i64"), (updates, element)], [(value, element)])
            rows, updates = order.permutation(4)[:2][:, None], cases.draw((2, 6), element, -3, 3)
            value = x.copy()
            for i in range(2):
                value[rows[i, 0]] = join(value[rows[i, 0]], updates[i])
            cases.add(f"scatter_nd {kind} %0, %1, %2 : ({{t0}}, {{t1}}, {{t2}}) -> {{r}}",
                      [(x, element), (rows, "i32"), (updates, element)], [(value, element)])
            value, far = x.copy(), np.int64([[4], [-1], [2], [9]])
            updates = cases.draw((4, 6), element, -3, 3)
            value[2] = join(value[2], updates[2])
            cases.add(f"scatter_nd {kind} %0, %1, %2 drop : ({{t0}}, {{t1}}, {{t2}}) -> {{r}}",
                      [(x, element), (far, "i64"), (updates, element)], [(value, element)])
            value, far = x.copy(), np.int64([[11], [8], [10], [-1]])  # rows 8 … 11 of 12: the last is there twice
            for i, row in enumerate([3, 0, 2, 3]):
                value[row] = join(value[row], updates[i])
            cases.add(f"scatter_nd {kind} %0, %1, %2 offset %3 : tensor<i64> extent 12 : ({{t0}}, {{t1}}, {{t2}}) -> {{r}}",
                      [(x, element), (far, "i64"), (updates, element), (np.int64(8), "i64")], [(value, element)])
            far = np.int64([[0, 7], [5, 1], [-2, 9], [6, 3]])  # columns 2 … 7 of 9
            value = x.copy()
            updates = cases.draw((4, 2), element, -3, 3)
            for i, j in np.ndindex(4, 2):
                if 2 <= far[i, j] < 8:
                    value[i, far[i, j] - 2] = join(value[i, far[i, j] - 2], updates[i, j])
            cases.add(f"scatter_elements {kind} %0, %1, %2 offset %3 : tensor<i64> axis 1 drop extent 9 "
                      ": ({t0}, {t1}, {t2}) -> {r}",
                      [(x, element), (far, "i64"), (updates, element), (np.int64(2), "i64")], [(value, element)])


def products(cases):
    for element in FLOATS + ["i32"]:
        a, b = cases.draw((2, 3, 4, 5), element), cases.draw((5, 2, 6), element)
        value = np.einsum("bmnk,kbj->bmnj", wide(a), wide(b))
        cases.add("dot_general %0, %1 batch [0] x [1] contract [3] x [0] : ({t0}, {t1}) -> {r}",
                  [(a, element), (b, element)], [(value, element)])
    a, b = cases.draw((4, 5, 3), "f32"), cases.draw((3, 5), "f32")
    cases.add("dot_general %0, %1 batch [] x [] contract [1, 2] x [1, 0] : ({t0}, {t1}) -> {r}",
              [(a, "f32"), (b, "f32")], [(np.einsum("mkl,lk->m", wide(a), wide(b)), "f32")])
    plain, spread = [1, 1], [2, 3]
    for groups, strides, dilations, low, high, inner in [
            (1, plain, plain, [0, 0], [0, 0], plain), (2, [2, 1], [1, 2], [1, 0], [0, 2], plain),
            (4, [1, 3], [2, 1], [1, 1], [1, 1], plain), (2, [1, 2], plain, [2, 1], [1, 2], spread),
            (1, plain, [1, 2], [-1, 0], [-2, 1], plain), (1, [2, 1], plain, [-3, 1], [0, -4], spread)]:
        x, w = cases.draw((2, 4, 7, 6), "f32"), cases.draw((8, 4 // groups, 3, 2), "f32")
        value = convolution(wide(x), wide(w), groups, strides, dilations, low, high, inner)
        between = f"input_dilations {dims(inner)} " if inner != plain else ""
        cases.add(f"conv %0, %1 strides {dims(strides)} low {dims(low)} high {dims(high)} dilations {dims(dilations)} "
                  f"{between}groups {groups} : ({{t0}}, {{t1}}) -> {{r}}", [(x, "f32"), (w, "f32")], [(value, "f32")])
        g = cases.draw(value.shape, "f32")
        value = convolution_kernel_gradient(wide(x), wide(g), w.shape, groups, strides, dilations, low, high, inner)
        cases.add(f"conv_kernel_gradient %0, %1 strides {dims(strides)} low {dims(low)} high {dims(high)} dilations {dims(dilations)} "
                  f"{between}groups {groups} : ({{t0}}, {{t1}}) -> {{r}}", [(x, "f32"), (g, "f32")], [(value, "f32")])


def random_numbers(cases):
    """Against the vectors that the authors of Random123 give for Threefry-2x32 of 20 rounds: (counter, key, result), low word first."""
    known = [((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)), ((2**32 - 1,) * 2, (2**32 - 1,) * 2, (0x1CB996FC, 0xBB002BE7)),
             ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0))]
    columns = [np.uint64([low + high * 2**32 for low, high in column]) for column in zip(*known)]
    cases.add("random_bits %0, %1 : {r}", [(columns[0], "ui64"), (columns[1], "ui64")], [(columns[2], "ui64")])


def normalisations(cases):
    x = cases.draw((3, 4, 6), "f32")
    y = wide(x)
    for axis in (0, 1, 2):
        over, shape = tuple(range(axis, 3)), x.shape[axis:]
        scale, bias = cases.draw(shape, "f32"), cases.draw(shape, "f32")
        normal = (y - y.mean(over, keepdims=True)) / np.sqrt(y.var(over, keepdims=True) + 1e-3)
        for s, b in [(0, 0), (1, 0), (0, 1), (1, 1)]:
            inputs = [(x, "f32")] + [(scale, "f32")] * s + [(bias, "f32")] * b
            text = "layer_norm %0" + " scale %1 : {t1}" * s + f" bias %{1 + s} : {{t{1 + s}}}" * b
            cases.add(f"{text} axis {axis} epsilon 1.0e-3 : {{r}}", inputs, [(normal * (scale if s else 1) + (bias if b else 0), "f32")])
        square = y / np.sqrt((y ** 2).mean(over, keepdims=True) + 1e-3)
        cases.add(f"rms_norm %0 axis {axis} epsilon 1.0e-3 : {{r}}", [(x, "f32")], [(square, "f32")])
        cases.add(f"rms_norm %0 scale %1 : {{t1}} axis {axis} epsilon 1.0e-3 : {{r}}", [(x, "f32"), (scale, "f32")],
                  [(square * scale, "f32")])
        e = np.exp(y - y.max(axis, keepdims=True))
        cases.add(f"softmax %0 axis {axis} : {{r}}", [(x, "f32")], [(e / e.sum(axis, keepdims=True), "f32")])
    masked = np.float32([[-np.inf, -np.inf], [0, -np.inf]])
    cases.add("softmax %0 axis 1 : {r}", [(masked, "f32")], [(np.float32([[np.nan, np.nan], [1, 0]]), "f32")])
    for batch in (1, 2):
        x, angle = cases.draw((2, 3, 5, 8), "f32"), cases.draw((batch, 5, 3), "f64")
        c, s = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
        for interleaved in (False, True):
            pick = (slice(0, 6, 2), slice(1, 6, 2)) if interleaved else (slice(0, 3), slice(3, 6))
            value, a, b = wide(x), wide(x)[..., pick[0]], wide(x)[..., pick[1]]
            value[..., pick[0]] = a * c[:, None] - b * s[:, None]
            value[..., pick[1]] = b * c[:, None] + a * s[:, None]
            flag = " interleaved" if interleaved else ""
            cases.add(f"rotary %0, %1, %2{flag} : {{t0}}, {{t1}}, {{t2}}", [(x, "f32"), (c, "f32"), (s, "f32")],
                      [(value, "f32")])


def maps(cases):
    """Tensors and scalars, of one type and of two; operations that scalars alone go into; a result that is one of them."""
    cases.shared.append("""func.func private @moves(%x: tensor<bf16>, %g: tensor<f32>, %rate: tensor<f32>) -> (tensor<bf16>, tensor<f32>, tensor<f32>) {
  %two = weft.constant dense<2.0> : tensor<f32>
  %0 = weft.mul %rate, %two : tensor<f32>
  %1 = weft.mul %g, %0 : tensor<f32>
  %2 = weft.cast %x : tensor<bf16> to tensor<f32>
  %3 = weft.sub %2, %1 : tensor<f32>
  %4 = weft.cast %3 : tensor<f32> to tensor<bf16>
  return %4, %3, %0 : tensor<bf16>, tensor<f32>, tensor<f32>
}
""")
    for shape in ((5, 7), (1,), ()):
        x, g, rate = cases.draw(shape, "bf16"), cases.draw(shape, "f32"), cases.draw((), "f32")
        moved = wide(x) - wide(g) * 2 * wide(rate)
        cases.add("map @moves(%0, %1, %2) : ({t0}, {t1}, {t2}) -> ({r})", [(x, "bf16"), (g, "f32"), (rate, "f32")],
                  [(moved, "bf16"), (moved, "f32"), (np.full(shape, 2 * wide(rate)), "f32")])


def difference(value, expected, element):
    """What is wrong with a result, or nothing."""
    if value.shape != expected.shape or value.dtype != expected.dtype:
        return f"{value.dtype}{value.shape} instead of {expected.dtype}{expected.shape}"
    if element not in FLOATS:
        return "" if np.array_equal(value, expected) else f"{value}\ninstead of\n{expected}"
    limit = PRECISION[element]
    if np.allclose(value, expected, rtol=limit, atol=limit, equal_nan=True):
        return ""
    return f"largest difference {np.nanmax(np.abs(wide(value) - wide(expected)))} in\n{value}\ninstead of\n{expected}"


def dialect_operations():
    """The operations that have values, from the .td files."""
    folder = pathlib.Path(__file__).parents[3] / "dialects/Weft/IR"
    text = "".join((folder / f"Weft{family}.td").read_text() for family in ("Elementwise", "Structural", "Semantic"))
    return set(re.findall(r'def Weft_\w+Op : Weft_\w+<"(\w+)"', text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("interpreter")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cases = Cases(options.seed)
    with np.errstate(all="ignore"):
        for family in (unary, binary, casts, movement, reductions, sorting, indexing, products, random_numbers, normalisations, maps, attention):
            family(cases)
    module = options.directory / "cases.mlir"
    module.write_text("\n".join(cases.shared + cases.functions))
    for number, inputs in enumerate(cases.inputs):
        for index, (array, element) in enumerate(inputs):
            np.save(options.directory / f"case{number}.in{index}.npy", np.asarray(array, NUMPY[element], order="C"))
    subprocess.run([options.interpreter, module, options.directory], check=True)
    failures = 0
    for number, outputs in enumerate(cases.expected):
        for index, (expected, element) in enumerate(outputs):
            why = difference(np.load(options.directory / f"case{number}.out{index}.npy"), expected, element)
            if why:
                failures += 1
                print(f"{cases.functions[number]}: {why}")
    missing = dialect_operations() - set(re.findall(r"= weft\.(\w+)", "".join(cases.functions)))
    print(f"{len(cases.functions)} cases, {failures} failures; operations without a case: {sorted(missing) or 'none'}")
    return 1 if failures or missing else 0


if __name__ == "__main__":
    sys.exit(main())
