"""make_torch_cases.py: writes Inputs/torch.mlir, functions with the gradients that torch has for them (needs torch; the test does not).

Each case is a body of operations on %0, %1, … that makes %r, beside the function of torch that is the same; their arguments, of f64 or
integers; and a weight of each element of the result. Chosen where central differences cannot judge, or where torch is another's word.
"""
import pathlib

import torch
import torch.nn.functional as F

torch.manual_seed(7)
INF = float("inf")


def text(number):
    if isinstance(number, bool):
        return str(number).lower()
    if isinstance(number, int):
        return str(number)
    if number != number:
        return "0x7FF8000000000000"
    if abs(number) == INF:
        return "0x7FF0000000000000" if number > 0 else "0xFFF0000000000000"
    return repr(number) if "." in repr(number) else repr(number).replace("e", ".0e")


def type_of(tensor):
    element = {torch.float64: "f64", torch.int64: "i64", torch.bool: "i1"}[tensor.dtype]
    return f"tensor<{''.join(f'{size}x' for size in tensor.shape)}{element}>"


def dense(tensor):
    def nested(value):
        return "[" + ", ".join(map(nested, value)) + "]" if isinstance(value, list) else text(value)

    return f"dense<{nested(tensor.tolist())}> : {type_of(tensor)}"


def x(*shape):
    return torch.randn(shape, dtype=torch.float64)


def t(values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)


def i(values):
    return t(values, torch.int64)


CASES = []


def case(name, function, body, *arguments):
    CASES.append((name, function, body, arguments))


TIES = t([[1.0, 3.0, 3.0, 3.0], [-2.0, -2.0, -5.0, -2.0]])
case("abs_at_zero", torch.abs, "%r = weft.abs %0 : T0", t([0.0, -1.0, 2.0]))
case("maximum_ties", torch.maximum, "%r = weft.max %0, %1 : T0", t([1.0, 2.0, 0.0]), t([1.0, 3.0, -1.0]))
case("minimum_ties", torch.minimum, "%r = weft.min %0, %1 : T0", t([1.0, 2.0, 0.0]), t([1.0, 3.0, -1.0]))
case("relu_at_zero_by_select", lambda a: torch.where(a > 0, a, torch.zeros_like(a)),
     "%z = weft.constant dense<0.0> : T0\n%c = weft.compare gt %0, %z : T0\n%r = weft.select %c, %0, %z : tensor<3xi1>, T0", t([0.0, -1.0, 2.0]))
case("pow_at_zero", torch.pow, "%r = weft.pow %0, %1 : T0", t([0.0, 0.0, 2.0, 3.0]), t([0.0, 2.0, 0.0, -1.5]))
case("fmod", lambda a, b: torch.fmod(a, b), "%r = weft.rem %0, %1 : T0", t([5.5, -5.5, 7.0]), t([2.0, 2.0, -3.0]))
case("gelu_erf", F.gelu, "%r = weft.gelu erf %0 : T0", x(7))
case("gelu_tanh", lambda a: F.gelu(a, approximate="tanh"), "%r = weft.gelu tanh %0 : T0", x(7))
case("amax_ties", lambda a: a.amax(1), "%r = weft.reduce max %0 dims [1] : T0 -> R", TIES)
case("amin_ties", lambda a: a.amin((0, 1)), "%r = weft.reduce min %0 dims [0, 1] : T0 -> R", t([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
case("prod_zeros", lambda a: a.prod(1), "%r = weft.reduce prod %0 dims [1] : T0 -> R", t([[2.0, 0.0, 3.0], [0.0, 0.0, 4.0], [1.5, 2.0, -3.0]]))
case("cumsum", lambda a: a.cumsum(0), "%r = weft.cumsum %0 axis 0 : T0", x(4, 2))
case("sort_ties", lambda a: a.sort(dim=1, stable=True).values, "%r, %p = weft.sort %0 axis 1 count 4 : T0 -> R, tensor<2x4xi64>", TIES)
case("topk", lambda a: a.topk(2, 1).values, "%r, %p = weft.sort %0 axis 1 count 2 descending : T0 -> R, tensor<3x2xi64>", x(3, 5))
case("embedding_duplicates", lambda w, n: F.embedding(n, w), "%r = weft.gather %0, %1 axis 0 : (T0, T1) -> R", x(5, 3), i([[4, 1, 4], [4, 0, 1]]))
case("take_along_dim", lambda a, n: a.gather(1, n), "%r = weft.gather_elements %0, %1 axis 1 : (T0, T1) -> R", x(3, 4), i([[0, 0, 3], [1, 1, 1], [2, 3, 2]]))
case("scatter_add_duplicates", lambda a, n, u: a.scatter_add(0, n, u), "%r = weft.scatter_elements add %0, %1, %2 axis 0 : (T0, T1, T2) -> R",
     x(4, 2), i([[1, 3], [1, 0], [1, 3]]), x(3, 2))
case("scatter_amax_ties", lambda a, n, u: a.scatter_reduce(0, n, u, "amax"), "%r = weft.scatter_elements max %0, %1, %2 axis 0 : (T0, T1, T2) -> R",
     t([2.0, 1.0, 0.0, 5.0]), i([0, 0, 1, 1, 2, 2, 3]), t([2.0, 2.0, 3.0, 3.0, -1.0, -1.0, 4.0]))
case("scatter_prod_zeros", lambda a, n, u: a.scatter_reduce(0, n, u, "prod"), "%r = weft.scatter_elements mul %0, %1, %2 axis 0 : (T0, T1, T2) -> R",
     t([2.0, 1.0, 3.0]), i([0, 0, 1, 1, 2]), t([0.0, 2.0, 0.0, 0.0, 4.0]))
case("index_put", lambda a, n, u: a.index_put((n.squeeze(1),), u), "%r = weft.scatter_nd set %0, %1, %2 : (T0, T1, T2) -> R",
     x(4, 2), i([[2], [0]]), x(2, 2))
case("softmax", lambda a: a.softmax(1), "%r = weft.softmax %0 axis 1 : T0", x(2, 4, 3))
case("layer_norm", lambda a, w, b: F.layer_norm(a, (3, 4), w, b, 1e-5),
     "%r = weft.layer_norm %0 scale %1 : T1 bias %2 : T2 axis 1 epsilon 1.0e-5 : T0", x(2, 3, 4), x(3, 4), x(3, 4))
case("rms_norm", lambda a, w: F.rms_norm(a, (4,), w, 1e-6), "%r = weft.rms_norm %0 scale %1 : T1 axis 2 epsilon 1.0e-6 : T0", x(2, 3, 4), x(4))
case("conv2d", lambda a, k: F.conv2d(a, k, stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2),
     "%r = weft.conv %0, %1 strides [2, 1] low [1, 2] high [1, 2] dilations [1, 2] groups 2 : (T0, T1) -> R", x(2, 4, 5, 6), x(6, 2, 3, 2))
case("conv_transpose1d", lambda a, k: F.conv_transpose1d(a, k, stride=3, padding=1, output_padding=1),
     "%k = weft.reverse %1 dims [2] : T1\n%t = weft.transpose %k [1, 0, 2] : T1 -> tensor<4x3x3xf64>\n"
     "%r = weft.conv %0, %t strides [1] low [1] high [2] dilations [1] input_dilations [3] groups 1 : (T0, tensor<4x3x3xf64>) -> R", x(2, 3, 4), x(3, 4, 3))
case("max_pool_ties", lambda a: F.max_pool2d(a, 3, 2, 1),
     "%r = weft.reduce_window max %0 window [1, 1, 3, 3] strides [1, 1, 2, 2] dilations [1, 1, 1, 1] low [0, 0, 1, 1] high [0, 0, 1, 1] : T0 -> R",
     torch.randint(0, 3, (1, 2, 6, 6)).double())
case("max_pool_infinite", lambda a: F.max_pool1d(a, 2, 2),
     "%r = weft.reduce_window max %0 window [1, 1, 2] strides [1, 1, 2] dilations [1, 1, 1] low [0, 0, 0] high [0, 0, 0] : T0 -> R",
     t([[[-INF, -INF, 1.0, -INF]]]))
case("sum_pool", lambda a: F.avg_pool2d(a, 2, 1, divisor_override=1),
     "%r = weft.reduce_window sum %0 window [1, 1, 2, 2] strides [1, 1, 1, 1] dilations [1, 1, 1, 1] low [0, 0, 0, 0] high [0, 0, 0, 0] : T0 -> R", x(1, 2, 3, 4))
case("einsum", lambda a, b: torch.einsum("abcd,cebd->dbae", a, b),
     "%r = weft.dot_general %0, %1 batch [3, 1] x [3, 2] contract [2] x [0] : (T0, T1) -> R", x(2, 3, 4, 2), x(4, 5, 3, 2))

QKV = x(1, 4, 3, 2), x(1, 2, 4, 2), x(1, 2, 4, 3)
MASK = t([[[[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0]]]], torch.bool)
ATTENTION = "%r = weft.attention %0, %1, %2{extra} scale 0.7 masked_rows {rows} : (T0, T1, T2{types}) -> R"


def attend(q, k, v, mask=None, rows="nan", scale=0.7):
    k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    scores = q @ k.transpose(2, 3) * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(torch.float64).min if rows == "uniform" else -INF)
    weights = scores.softmax(3)
    if rows == "zero":
        weights = weights.masked_fill(~mask.any(3, keepdim=True), 0)
    return weights @ v


case("attention_groups", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.7, enable_gqa=True), ATTENTION.format(extra="", rows="nan", types=""), *QKV)
case("attention_causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.7),
     "%r = weft.attention %0, %1, %2 scale 0.7 causal masked_rows nan : (T0, T1, T2) -> R", x(1, 2, 3, 4), x(1, 2, 3, 4), x(1, 2, 3, 4))
case("attention_bias", lambda q, k, v, b: F.scaled_dot_product_attention(q, k, v, b, scale=0.7, enable_gqa=True),
     ATTENTION.format(extra=" bias %3", rows="nan", types=", T3"), *QKV, x(1, 4, 3, 4))
for kind in ("nan", "uniform"):
    case(f"attention_masked_{kind}", lambda q, k, v, m, kind=kind: attend(q, k, v, m, kind),
         ATTENTION.format(extra=" mask %3", rows=kind, types=", T3"), *QKV, MASK)

# As frontends write it; the gradient reads the result.
case("relu", F.relu, "%z = weft.constant dense<0.0> : T0\n%c = weft.compare le %0, %z : T0\n%r = weft.select %c, %z, %0 : tensor<4xi1>, T0",
     t([0.0, -1.0, 2.0, float("nan")]))


def write(name, function, body, arguments):
    given = [a.clone().requires_grad_() if a.is_floating_point() else a for a in arguments]
    result = function(*given)
    seed = torch.randn_like(result)
    result.backward(seed)
    gradients = ", ".join(dense(a.grad) for a in given if a.is_floating_point())
    for number, argument in enumerate(arguments):
        body = body.replace(f"T{number}", type_of(argument))
    body = body.replace("-> R", f"-> {type_of(result)}")
    parameters = ", ".join(f"%{n}: {type_of(a)} {{test.values = {dense(a)}}}" for n, a in enumerate(arguments))
    lines = "\n".join("  " + line for line in body.split("\n"))
    return (f"func.func @{name}({parameters}) -> {type_of(result)}\n    attributes {{test.seed = {dense(seed)}, test.gradients = [{gradients}]}} {{\n"
            f"{lines}\n  return %r : {type_of(result)}\n}}\n")


def main():
    path = pathlib.Path(__file__).parent / "Inputs/torch.mlir"
    head = f"// Made by make_torch_cases.py with torch {torch.__version__.split('+')[0]}.\n"
    path.write_text("\n".join([head] + [write(*each) for each in CASES]))


if __name__ == "__main__":
    main()
