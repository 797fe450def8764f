"""What a random model computes, by numpy: every weft operation from its definition, nothing of Weft's.

`evaluate(case, data)` takes a case.json (CaseFiles.h) and its leaves. Floats are computed in double precision and rounded
to their type after each operation; integers wrap around.
"""
import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def divide(a, b):
    """Integer quotients are truncated; by zero all bits are set."""
    if a.dtype.kind == "f":
        return a / b
    if a.dtype.kind == "u":
        return np.where(b == 0, np.iinfo(a.dtype).max, a // b)
    return np.where(b == 0, -1, np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)


def remainder(a, b):
    value = np.fmod(a, b)
    return value if a.dtype.kind == "f" else np.where(b == 0, a, value)


def shift(by_left, a, places):
    """By Python's integers: places from the width on, and negative ones, leave only what moves in."""
    width = 8 * a.dtype.itemsize

    def one(x, n):
        n = n if 0 <= n < width else width
        return (x << n) % 2 ** width if by_left else x >> n

    moved = [one(int(x), int(n)) for x, n in zip(a.flat, places.flat)]
    return np.array([x % 2 ** width for x in moved], np.uint64).astype(a.dtype).reshape(a.shape)


def on_bits(count):
    """`count` of an element's bits as text."""
    def apply(a):
        width = 8 * a.dtype.itemsize
        return np.array([count(format(int(x) % 2 ** width, f"0{width}b")) for x in a.flat], a.dtype).reshape(a.shape)
    return apply


UNARY = {"abs": np.abs, "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan, "cbrt": np.cbrt,
         "ceil": np.ceil, "cos": np.cos, "cosh": np.cosh,
         "count_leading_zeros": on_bits(lambda text: len(text) - len(text.lstrip("0"))), "erf": erf, "exp": np.exp,
         "expm1": np.expm1, "floor": np.floor, "is_inf": np.isinf, "is_nan": np.isnan,
         "log": np.log, "log1p": np.log1p, "neg": np.negative, "not": np.invert,
         "popcount": on_bits(lambda text: text.count("1")), "reciprocal": np.reciprocal,
         "round": np.round, "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": sigmoid, "sign": np.sign, "sin": np.sin,
         "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh}
BINARY = {"add": np.add, "and": np.bitwise_and, "atan2": np.arctan2, "div": divide, "max": np.maximum, "min": np.minimum, "mul": np.multiply,
          "or": np.bitwise_or, "pow": np.power, "rem": remainder,
          "shift_left": lambda a, b: shift(True, a, b), "shift_right": lambda a, b: shift(False, a, b), "sub": np.subtract, "xor": np.bitwise_xor}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
           "ge": np.greater_equal}
REDUCE = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}
SCATTER = {"set": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}



def dilated(x, dilations, low, high, fill):
    """x with fills between its elements and around them; negative padding takes away."""
    shape = [(size - 1) * step + 1 for size, step in zip(x.shape, dilations)]
    spread = np.full(shape, fill, x.dtype)
    spread[tuple(slice(None, None, step) for step in dilations)] = x
    spread = np.pad(spread, [(max(a, 0), max(b, 0)) for a, b in zip(low, high)], constant_values=fill)
    return spread[tuple(slice(max(-a, 0), size - max(-b, 0)) for a, b, size in zip(low, high, spread.shape))]


def window_at(place, window, strides, dilations):
    return tuple(slice(at * stride, at * stride + step * (size - 1) + 1, step)
                 for at, size, stride, step in zip(place, window, strides, dilations))


# One function an operation that is not elementwise: (attributes, node, operands) → value, in alphabetical order.


def attention(a, node, operands):
    query, key, value = operands[:3]
    has_mask, has_bias = a["operandSegmentSizes"][3:5]
    extra = list(operands[3:])
    groups, (s, t) = query.shape[1] // key.shape[1], (query.shape[2], key.shape[2])
    scores = np.einsum("bhid,bhjd->bhij", query, np.repeat(key, groups, 1)) * a["scale"]
    if "softcap" in a:
        scores = a["softcap"] * np.tanh(scores / a["softcap"])
    visible = np.broadcast_to(extra.pop(0), scores.shape) if has_mask else np.ones(scores.shape, bool)
    if has_bias:
        scores = scores + extra.pop(0)
    i, j = np.arange(s)[:, None] + a.get("query_offset", 0), np.arange(t)[None, :]
    if "causal" in a:
        visible = visible & (j <= i)
    if "window" in a:
        visible = visible & (i - j < a["window"]) & ((j - i < a["window"]) | ("causal" in a))
    largest = np.max(np.where(visible, scores, -np.inf), -1, keepdims=True)
    e = np.where(visible, np.exp(scores - largest), 0)
    weights, logs = e / e.sum(-1, keepdims=True), np.log(e.sum(-1)) + largest[..., 0]
    if a["masked_rows"] == "zero":  # a bias may hide all of a row, too
        visible = visible & (scores != -np.inf)
    empty = ~visible.any(-1)
    weights[empty] = {"uniform": 1 / t, "zero": 0, "nan": np.nan}[a["masked_rows"]]
    logs[empty] = -np.inf
    return np.einsum("bhij,bhje->bhie", weights, np.repeat(value, groups, 1)), logs


def broadcast(a, node, operands):
    shape = [1] * len(node["shape"])
    for size, dim in zip(operands[0].shape, a["dims"]):
        shape[dim] = size
    return np.broadcast_to(operands[0].reshape(shape), node["shape"])


def cast(a, node, operands):
    value = operands[0]
    if node["dtype"] == "bool":
        return value != 0
    if value.dtype.kind != "f" or not node["dtype"].startswith(("int", "uint")):
        return value
    limits = np.iinfo(node["dtype"])  # floats saturate
    return np.clip(np.trunc(value), limits.min, limits.max)


def conv(a, node, operands):
    x, kernel = operands
    x = dilated(x, [1, 1, *a.get("input_dilations", [1] * len(a["low"]))], [0, 0, *a["low"]], [0, 0, *a["high"]], 0)
    result = np.zeros(node["shape"])
    outs, channels = kernel.shape[0] // a["groups"], kernel.shape[1]
    for place in np.ndindex(*node["shape"][2:]):
        window = window_at(place, kernel.shape[2:], a["strides"], a["dilations"])
        for out in range(kernel.shape[0]):
            first = out // outs * channels
            block = x[(slice(None), slice(first, first + channels), *window)]
            result[(slice(None), out, *place)] = (block * kernel[out]).reshape(len(x), -1).sum(1)
    return result


def cumsum(a, node, operands):
    x, axis = operands[0], a["axis"]
    x = np.flip(x, axis) if "reverse" in a else x
    total = np.cumsum(x, axis, dtype=x.dtype)
    total = total - x if "exclusive" in a else total
    return np.flip(total, axis) if "reverse" in a else total


def dot_general(a, node, operands):
    left, right = (list(range(o.ndim)) for o in operands)
    right = [dim + 100 for dim in right]
    for mine, other in zip(a["lhs_batch"] + a["lhs_contract"], a["rhs_batch"] + a["rhs_contract"]):
        right[other] = left[mine]
    batch = [left[dim] for dim in a["lhs_batch"]]
    free = [label for label in left if label not in right] + [label for label in right if label not in left]
    labels = {label: i for i, label in enumerate(dict.fromkeys(left + right))}
    number = lambda names: [labels[name] for name in names]
    return np.einsum(operands[0], number(left), operands[1], number(right), number(batch + free))


def gather_nd(a, node, operands):
    x, index = operands
    batch = a.get("batch_dims", 0)
    grid = np.indices(index.shape[:-1])
    tuples = [grid[dim] for dim in range(batch)] + [index[..., i] for i in range(index.shape[-1])]
    return x[tuple(tuples)]


def gelu(a, node, operands):
    x = operands[0]
    if a["form"] == "erf":
        return x / 2 * (1 + erf(x / math.sqrt(2)))
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def layer_norm(a, node, operands):
    x = operands[0]
    over = tuple(range(a["axis"], x.ndim))
    value = (x - x.mean(over, keepdims=True)) / np.sqrt(x.var(over, keepdims=True) + a["epsilon"])
    _, scale, bias = a["operandSegmentSizes"]
    value = value * operands[1] if scale else value
    return value + operands[-1] if bias else value


def pad(a, node, operands):
    x, value = operands
    result = np.full(node["shape"], value, x.dtype)
    result[tuple(slice(low, low + size) for low, size in zip(a["low"], x.shape))] = x
    return result


def reduce_window(a, node, operands):
    x = operands[0]
    limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
    least, most = (-np.inf, np.inf) if x.dtype.kind == "f" else (limits.min, limits.max)
    fill = {"sum": 0, "max": least, "min": most, "prod": 1}[a["kind"]]
    x = dilated(x, a.get("input_dilations", [1] * x.ndim), a["low"], a["high"], fill)
    result = np.empty(node["shape"], x.dtype)
    for place in np.ndindex(*node["shape"]):
        result[place] = REDUCE[a["kind"]](x[window_at(place, a["window"], a["strides"], a["dilations"])])
    return result


def rms_norm(a, node, operands):
    x = operands[0]
    over = tuple(range(a["axis"], x.ndim))
    value = x / np.sqrt((x ** 2).mean(over, keepdims=True) + a["epsilon"])
    return value * operands[1] if len(operands) > 1 else value


def rotary(a, node, operands):
    x, cos, sin = operands
    half = cos.shape[2]
    first, second = ((slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if "interleaved" in a
                     else (slice(0, half), slice(half, 2 * half)))
    value, left, right = x.copy(), x[..., first], x[..., second]
    value[..., first] = left * cos[:, None] - right * sin[:, None]
    value[..., second] = right * cos[:, None] + left * sin[:, None]
    return value


def scatter_elements(a, node, operands):
    result, join = operands[0].copy(), SCATTER[a["kind"]]
    for place in np.ndindex(*operands[1].shape):
        target = list(place)
        target[a["axis"]] = operands[1][place]
        if "drop" not in a or 0 <= target[a["axis"]] < result.shape[a["axis"]]:
            result[tuple(target)] = join(result[tuple(target)], operands[2][place])
    return result


def scatter_nd(a, node, operands):
    result, join = operands[0].copy(), SCATTER[a["kind"]]
    for place in np.ndindex(*operands[1].shape[:-1]):
        target = tuple(operands[1][place])
        if "drop" not in a or all(0 <= index < size for index, size in zip(target, result.shape)):
            result[target] = join(result[target], operands[2][place])
    return result


def slices(a, node, operands):
    return operands[0][tuple(slice(start, start + (size - 1) * stride + 1, stride)
                             for start, size, stride in zip(a["starts"], node["shape"], a["strides"]))]


def softmax(a, node, operands):
    e = np.exp(operands[0] - operands[0].max(a["axis"], keepdims=True))
    return e / e.sum(a["axis"], keepdims=True)


def sort(a, node, operands):
    x, axis = operands[0], a["axis"]
    if "descending" in a:  # equal elements keep their order
        last = x.shape[axis] - 1
        order = last - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    else:
        order = np.argsort(x, axis, kind="stable")
    order = np.take(order, range(a["count"]), axis)
    return np.take_along_axis(x, order, axis), order


OTHER = {
    "attention": attention,
    "broadcast": broadcast,
    "cast": cast,
    "compare": lambda a, node, operands: COMPARE[a["direction"]](*operands),
    "concat": lambda a, node, operands: np.concatenate(operands, a["axis"]),
    "conv": conv,
    "cumsum": cumsum,
    "dot_general": dot_general,
    "gather": lambda a, node, operands: np.take(*operands, a["axis"]),
    "gather_elements": lambda a, node, operands: np.take_along_axis(
        operands[0], operands[1] % operands[0].shape[a["axis"]], a["axis"]),
    "gather_nd": gather_nd,
    "gelu": gelu,
    "iota": lambda a, node, operands: np.indices(node["shape"])[a["dim"]],
    "layer_norm": layer_norm,
    "pad": pad,
    "reduce": lambda a, node, operands: REDUCE[a["kind"]](operands[0], axis=tuple(a["dims"])),
    "reduce_window": reduce_window,
    "reshape": lambda a, node, operands: operands[0].reshape(node["shape"]),
    "reverse": lambda a, node, operands: np.flip(operands[0], a["dims"]),
    "rms_norm": rms_norm,
    "rotary": rotary,
    "scatter_elements": scatter_elements,
    "scatter_nd": scatter_nd,
    "select": lambda a, node, operands: np.where(*operands),
    "slice": slices,
    "softmax": softmax,
    "sort": sort,
    "transpose": lambda a, node, operands: operands[0].transpose(a["permutation"]),
}


def compute(node, operands):
    """The values of one operation, of which a model may use the first only."""
    name = node["op"]
    if name in UNARY:
        value = UNARY[name](*operands)
    elif name in BINARY:
        value = BINARY[name](*operands)
    else:
        value = OTHER[name](node["attributes"], node, operands)
    return value if isinstance(value, tuple) else (value,)


def elements(entry, data):
    """A leaf's or an output's array in data.bin."""
    count = math.prod(entry["shape"])
    if entry["dtype"] == "bfloat":
        bits = np.frombuffer(data, np.uint16, count, entry["offset"])
        return (bits.astype(np.uint32) * np.uint32(0x10000)).view(np.float32).reshape(entry["shape"])
    return np.frombuffer(data, entry["dtype"], count, entry["offset"]).reshape(entry["shape"])


def stored(value, dtype):
    """The array as its type holds it; bfloat16 as the floats of 32 bits that it rounds to."""
    if dtype != "bfloat":
        return value.astype(dtype)
    bits = value.astype(np.float32).view(np.uint32).astype(np.uint64)
    odd = bits // np.uint64(0x10000) % np.uint64(2)
    rounded = (bits + np.uint64(0x7FFF) + odd) // np.uint64(0x10000) * np.uint64(0x10000)
    return rounded.astype(np.uint32).view(np.float32)


def evaluate(case, data):
    """The model's outputs, in order."""
    values = {}
    with np.errstate(all="ignore"):
        for node in case["nodes"]:
            if node["op"] == "leaf":
                values[node["results"][0]] = elements(node, data)
                continue
            operands = [values[number] for number in node["operands"]]
            operands = [o.astype(np.float64) if o.dtype.kind == "f" else o for o in operands]
            for number, value, dtype in zip(node["results"], compute(node, operands), node["dtypes"]):
                values[number] = stored(np.asarray(value), dtype)
    return [values[number] for number in case["outputs"]]
