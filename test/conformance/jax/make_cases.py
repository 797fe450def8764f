"""make_cases.py OUT.tar.xz: JAX functions as StableHLO in its generic form, with inputs and what JAX computes from them.

Made with JAX 0.10.2 on CPU. Each case is NAME/model.mlir and NAME/values.bin: the bytes of all inputs, then of all
results, row-major, booleans one byte an element, in the order and of the types that @main declares.
"""
import functools
import io
import sys
import tarfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

CASES = {}
RNG = np.random.default_rng(7)


def floats(*shape, low=-2.0, high=2.0, dtype=np.float32):
    return RNG.uniform(low, high, shape).astype(dtype)


def ints(*shape, low=-9, high=9, dtype=np.int32):
    return RNG.integers(low, high, shape).astype(dtype)


def bools(*shape):
    return RNG.integers(0, 2, shape).astype(bool)


def case(name, function, *inputs):
    assert name not in CASES, name
    CASES[name] = (function, inputs)


# ---------------------------------------------------------------------------------------------------------------------
# lax, element by element
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-3, -1e-6, 3.7, -3.2, 12.0, np.inf, -np.inf, np.nan], np.float32)
for name in ("abs acos acosh asin asinh atan atanh cbrt ceil cos cosh digamma erf erf_inv erfc exp exp2 expm1 floor is_finite "
             "lgamma log log1p logistic neg reciprocal rsqrt sign sin sinh sqrt square tan tanh bessel_i0e bessel_i1e").split():
    case("lax_" + name, getattr(lax, name), SPECIAL)
    if name not in ("acosh", "is_finite"):
        case("grad_" + name, jax.vmap(jax.grad(getattr(lax, name))), np.array([0.1, 0.3, 0.45, 0.7, 0.9], np.float32))
case("lax_round_away", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), np.append(SPECIAL, np.float32(0.49999997)))
case("lax_round_even", lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), SPECIAL)
case("lax_integer_pow", lambda x: (lax.integer_pow(x, 3), lax.integer_pow(x, -2)), SPECIAL)
for name in "add atan2 div max min mul nextafter pow rem sub".split():
    left, right = np.repeat(SPECIAL, len(SPECIAL)), np.tile(SPECIAL, len(SPECIAL))
    case("lax_" + name, getattr(lax, name), left, right)
for name in "eq ge gt le lt ne".split():
    left, right = np.repeat(SPECIAL, len(SPECIAL)), np.tile(SPECIAL, len(SPECIAL))
    case("lax_" + name, getattr(lax, name), left, right)
    case(f"lax_{name}_ui32", getattr(lax, name), ints(9, low=0, high=4, dtype=np.uint32), ints(9, low=0, high=4, dtype=np.uint32))
    case(f"lax_{name}_bool", getattr(lax, name), bools(8), bools(8))
EDGES = np.array([0, 1, -1, 2, 7, -8, 2**31 - 1, -(2**31)], np.int32)
for name in "add and div max min mul or rem shift_left shift_right_arithmetic shift_right_logical sub xor".split():
    function = getattr(lax, {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}.get(name, name))
    left, right = np.repeat(EDGES, len(EDGES)), np.tile(EDGES, len(EDGES))
    case(f"int_{name}_i32", function, left, right)
    case(f"int_{name}_ui32", function, left.astype(np.uint32), right.astype(np.uint32))
    case(f"int_{name}_i8", function, ints(16, low=-128, high=128, dtype=np.int8), ints(16, low=-3, high=12, dtype=np.int8))
    if name in ("and", "or", "xor"):
        case(f"int_{name}_bool", function, bools(8), bools(8))
for name in "abs clz neg not population_count sign".split():
    function = getattr(lax, "bitwise_not" if name == "not" else name)
    for dtype in (np.int32, np.uint32, np.int8, np.uint16):
        if name != "abs" or dtype in (np.int32, np.int8):
            case(f"int_{name}_{np.dtype(dtype).name}", function, EDGES.astype(dtype))
case("int_pow", lambda x, y: (lax.pow(x, y), jnp.power(y, y)), floats(8), ints(8, low=0, high=6))
case("lax_clamp", lambda a, x, b: lax.clamp(a, x, b), np.float32(-1), SPECIAL, np.float32(1.25))
case("lax_clamp_arrays", lax.clamp, ints(6, low=-5, high=0), ints(6), ints(6, low=0, high=5))
case("lax_select_n", lambda c, x, y: lax.select_n(c, x, y), bools(3, 4), floats(3, 4), floats(3, 4))
case("lax_select_n_many", lambda c, x, y, z: lax.select_n(c, x, y, z), ints(3, 4, low=0, high=3), floats(3, 4), floats(3, 4), floats(3, 4))
for source in (np.float32, np.int32, np.uint8, np.int8, np.bool_, np.float16):
    for target in ("float32", "int32", "uint32", "uint8", "int8", "bool", "float16", "bfloat16"):
        values = np.array([0, 1, 2.6, 3.5, 100, 127], np.float64)
        values = values if source in (np.uint8, np.bool_) else np.concatenate([values, [-1, -2.6, -100]])
        if target.startswith("u") and source in (np.float32, np.float16):
            values = np.abs(values)
        case(f"convert_{np.dtype(source).name}_{target}", lambda x, target=target: x.astype(target), values.astype(source))
case("lax_reduce_precision", lambda x: lax.reduce_precision(x, 5, 10), floats(9))
case("bitcast_f32_ui32", lambda x: lax.bitcast_convert_type(x, jnp.uint32), SPECIAL[:-1])
case("bitcast_ui32_f32", lambda x: lax.bitcast_convert_type(x, jnp.float32), ints(16, low=0, high=2**31 - 2**24, dtype=np.uint32))
case("bitcast_f16_i16", lambda x: lax.bitcast_convert_type(x, jnp.int16), floats(6, dtype=np.float16))
case("bitcast_i32_ui32", lambda x: lax.bitcast_convert_type(x, jnp.uint32), EDGES)
case("bitcast_widths", lambda x: lax.bitcast_convert_type(x, jnp.uint8), ints(4, dtype=np.uint32, low=0))
case("complex_abs", lambda x: jnp.abs(lax.complex(x, x)), floats(4))

# ---------------------------------------------------------------------------------------------------------------------
# Shapes
case("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 5, 4), (0, 2)), floats(3, 4))
case("broadcast_unit", lambda x: lax.broadcast_in_dim(x, (3, 5, 4), (0, 1, 2)), floats(3, 1, 4))
case("concatenate", lambda x, y, z: lax.concatenate([x, y, z], 1), floats(2, 3), floats(2, 1), floats(2, 4))
case("iota", lambda: (lax.iota(np.float32, 5), lax.broadcasted_iota(np.uint8, (2, 3), 1), jnp.arange(2, 11, 3)))
case("pad", lambda x, v: lax.pad(x, v, [(1, 2, 0), (0, 1, 2)]), floats(2, 3), np.float32(7))
case("pad_negative", lambda x, v: lax.pad(x, v, [(-1, 2, 1), (1, -2, 2)]), floats(3, 4), np.float32(7))
case("pad_int", lambda x: jnp.pad(x, ((1, 1), (2, 0)), constant_values=3), ints(2, 3))
for mode in ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean"):
    case("pad_" + mode, lambda x, mode=mode: jnp.pad(x, ((1, 2), (2, 1)), mode=mode), floats(4, 5))
case("reshape", lambda x: x.reshape(4, 6).reshape(2, 2, 6), floats(2, 3, 4))
case("rev", lambda x: lax.rev(x, (0, 2)), floats(2, 3, 4))
case("slice", lambda x: lax.slice(x, (1, 0, 2), (3, 5, 9), (1, 2, 3)), floats(4, 5, 9))
case("squeeze_expand", lambda x: jnp.expand_dims(jnp.squeeze(x, 1), (0, 3)), floats(3, 1, 4))
case("transpose", lambda x: lax.transpose(x, (2, 0, 1)), floats(2, 3, 4))
case("tile_repeat_roll", lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 2, 1), jnp.roll(x, 2, 1), jnp.rot90(x)), floats(3, 4))
case("stack_split", lambda x: jnp.stack([*jnp.split(x, 3, 1)], 0), floats(2, 6))
case("tril_triu", lambda x: (jnp.tril(x, 1), jnp.triu(x, -1), jnp.diag(x), jnp.eye(3, 5)), floats(4, 4))
case("where_broadcast", lambda c, x: jnp.where(c[:, None], x, -1.0), bools(3), floats(3, 4))
case("dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)), floats(5, 6), np.int32(1), np.int32(2))
case("dynamic_slice_clamped", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)), floats(5, 6), np.int32(-4), np.int32(9))
case("dynamic_slice_known", lambda x: lax.dynamic_slice(x, (7, -1), (2, 3)), floats(5, 6))
case("dynamic_slice_ui8", lambda x, i: lax.dynamic_slice(x, (i,), (2,)), floats(9), np.uint8(200))
case("dynamic_update_slice", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), floats(5, 6), floats(2, 3), np.int32(3), np.int32(1))
case("dynamic_update_clamped", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), floats(5, 6), floats(2, 3), np.int32(9), np.int32(-9))
case("dynamic_update_known", lambda x, u: lax.dynamic_update_slice(x, u, (1, 4)), floats(5, 6), floats(2, 3))
case("dynamic_update_mixed", lambda x, u, i: lax.dynamic_update_slice(x, u, (1, i, 0)), floats(4, 5, 6), floats(2, 3, 6), np.int32(1))
case("grad_dynamic_slice", lambda x, i: jax.grad(lambda x: (lax.dynamic_slice(x, (i, 1), (2, 3)) ** 2).sum())(x), floats(5, 6), np.int32(2))
case("vmap_dynamic_slice", lambda x, i: jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (3,)))(x, i), floats(4, 6), ints(4, low=-2, high=8))
case("vmap_dynamic_update", lambda x, u, i: jax.vmap(lambda x, u, i: lax.dynamic_update_slice(x, u, (i,)))(x, u, i), floats(4, 6), floats(4, 2), ints(4, low=-2, high=8))

# ---------------------------------------------------------------------------------------------------------------------
# Products
case("dot_vectors", jnp.dot, floats(5), floats(5))
case("dot_matrix_vector", jnp.dot, floats(4, 5), floats(5))
case("dot_general_batch", lambda x, y: lax.dot_general(x, y, (((3,), (1,)), ((0, 2), (3, 0)))), floats(2, 3, 4, 5), floats(4, 5, 6, 2))
case("dot_general_two", lambda x, y: lax.dot_general(x, y, (((1, 2), (2, 0)), ((), ()))), floats(2, 3, 4), floats(4, 5, 3))
case("dot_int", lambda x, y: lax.dot(x, y), ints(3, 4), ints(4, 2))
case("dot_preferred", lambda x, y: lax.dot(x, y, preferred_element_type=np.float32), floats(3, 4, dtype=jnp.bfloat16), floats(4, 2, dtype=jnp.bfloat16))
case("dot_bf16", lambda x, y: lax.dot(x, y), floats(3, 4, dtype=jnp.bfloat16), floats(4, 2, dtype=jnp.bfloat16))
case("dot_int8", lambda x, y: lax.dot(x, y, preferred_element_type=np.int32), ints(3, 4, dtype=np.int8), ints(4, 2, dtype=np.int8))
for index, equation in enumerate(("ij,jk->ik", "bij,bkj->bik", "ijk,k->ij", "ii->i", "ij->", "bqhd,bkhd->bhqk", "gsec,gsm->egcm", "i,j->ij")):
    sizes = dict(zip("bcdeghijkmqs", (2, 3, 4, 2, 3, 2, 4, 4, 3, 5, 3, 4)))
    case(f"einsum_{index}", functools.partial(jnp.einsum, equation), *[floats(*[sizes[c] for c in term]) for term in equation.split("->")[0].split(",")])
case("matmul_grad", jax.grad(lambda x, y: jnp.tanh(x @ y).sum(), (0, 1)), floats(2, 3, 4), floats(4, 5))
case("tensordot_outer_kron", lambda x, y: (jnp.tensordot(x, y, 1), jnp.outer(x, y), jnp.kron(x, y)), floats(3, 3), floats(3, 2))
case("cross_norm", lambda x, y: (jnp.cross(x, y), jnp.linalg.norm(x, axis=1)), floats(4, 3), floats(4, 3))

# ---------------------------------------------------------------------------------------------------------------------
# Reductions
for name in "all any argmax argmin max mean median min nanmax nansum prod ptp std sum var".split():
    values = bools(3, 4, 5) if name in ("all", "any") else floats(3, 4, 5)
    case("reduce_" + name, lambda x, name=name: (getattr(jnp, name)(x, axis=1), getattr(jnp, name)(x)), values)
for name in "max min prod sum argmax".split():
    case(f"reduce_{name}_int", lambda x, name=name: getattr(jnp, name)(x, axis=0), ints(4, 5))
    case(f"reduce_{name}_nan", lambda x, name=name: getattr(jnp, name)(x, axis=0), SPECIAL.reshape(17, 1))
for name in "and or xor".split():
    case(f"reduce_{name}", lambda x, name=name: lax.reduce(x, np.int32(-1 if name == "and" else 0), getattr(lax, "bitwise_" + name), (1,)), ints(3, 5))
    case(f"reduce_{name}_bool", lambda x, name=name: lax.reduce(x, np.bool_(name == "and"), getattr(lax, "bitwise_" + name), (1,)), bools(3, 5))
case("reduce_from", lambda x: (lax.reduce(x, np.float32(3), lax.add, (0,)), lax.reduce(x, np.float32(0.5), lax.max, (0, 1))), floats(3, 5))
case("reduce_custom", lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b + a * b, (0, 2)), floats(3, 2, 5, low=-0.5, high=0.5))
case("reduce_many", lambda x, y: lax.reduce((x, y), (np.float32(0), np.float32(1)), lambda a, b: (a[0] + b[0] * 1, a[1] * b[1]), (1,)), floats(3, 7), floats(3, 7))
case("reduce_order", lambda x: lax.reduce(x, np.float32(-np.inf), lambda a, b: jnp.where(b > -5, b, a), (0,)), floats(7, 2))
case("logsumexp", lambda x: (jax.nn.logsumexp(x, 1), jax.nn.softmax(x, 0), jax.nn.log_softmax(x)), floats(3, 5))
case("logaddexp", jnp.logaddexp, SPECIAL[:14], SPECIAL[1:15])
for name in "cumsum cumprod cummax cummin cumlogsumexp".split():
    case(name, lambda x, name=name: (getattr(lax, name)(x, 1), getattr(lax, name)(x, 0, reverse=True)), floats(3, 7))
case("cumsum_int", lambda x: (jnp.cumsum(x, 1), jnp.cumsum(x)), ints(3, 7))
case("cumsum_grad", jax.grad(lambda x: (jnp.cumsum(x, 0) ** 2).sum()), floats(5, 2))
case("associative_scan", lambda x: lax.associative_scan(lambda a, b: a * b + a, x, axis=0), floats(6, 2))
case("diff_ediff_trapz", lambda x: (jnp.diff(x, 2, axis=1), jnp.trapezoid(x, axis=1)), floats(3, 6))

# ---------------------------------------------------------------------------------------------------------------------
# Windows and convolutions
NHWC, NCHW = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")


def pool(x, init, function, window, strides, padding, **rest):
    return lax.reduce_window(x, np.float32(init), function, window, strides, padding, **rest)


case("max_pool", lambda x: pool(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), floats(2, 6, 6, 3))
case("max_pool_same", lambda x: pool(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), floats(2, 7, 5, 3))
case("avg_pool", lambda x: pool(x, 0, lax.add, (1, 3, 2, 1), (1, 1, 2, 1), "SAME") / 6, floats(2, 6, 6, 3))
case("min_pool", lambda x: pool(x, np.inf, lax.min, (2, 2), (1, 1), "VALID"), floats(4, 5))
case("prod_pool", lambda x: pool(x, 1, lax.mul, (3, 5), (2, 1), "SAME"), floats(6, 7))
case("pool_dilated", lambda x: pool(x, 0, lax.add, (2, 3), (1, 2), [(1, 2), (0, 3)], base_dilation=(2, 1), window_dilation=(1, 2)), floats(4, 7))
case("pool_from", lambda x: pool(x, 0.25, lax.add, (2, 3), (1, 2), [(1, 2), (0, 3)]), floats(4, 7))
case("pool_large", lambda x: pool(x, -np.inf, lax.max, (13,), (1,), [(6, 6)]), floats(20))
case("max_pool_grad", jax.grad(lambda x: (pool(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum()), floats(2, 4, 4, 3))
case("max_pool_grad_overlap", jax.grad(lambda x: (pool(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum()), floats(2, 7, 5, 2))
case("min_pool_grad", jax.grad(lambda x: (pool(x, np.inf, lax.min, (2, 3), (1, 2), "SAME") ** 2).sum()), floats(5, 7))
case("max_pool_ties_grad", jax.grad(lambda x: (pool(x, -np.inf, lax.max, (2, 2), (1, 1), "VALID") * jnp.arange(1.0, 10).reshape(3, 3)).sum()), np.ones((4, 4), np.float32))
case("avg_pool_grad", jax.grad(lambda x: (pool(x, 0, lax.add, (2, 2), (2, 2), "VALID") ** 2).sum()), floats(5, 6))


def conv(x, k, strides=(1, 1), padding="SAME", dims=NHWC, **rest):
    return lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=dims, **rest)


CONVS = {
    "plain": ((2, 6, 6, 3), (3, 3, 3, 4), {}),
    "strided": ((2, 7, 6, 3), (3, 2, 3, 4), dict(strides=(2, 3), padding="VALID")),
    "padded": ((2, 5, 6, 3), (3, 3, 3, 4), dict(padding=[(2, 1), (0, 3)])),
    "cropped": ((1, 7, 8, 2), (2, 3, 2, 3), dict(padding=[(-1, 2), (1, -2)])),
    "nchw": ((2, 3, 6, 5), (4, 3, 3, 3), dict(dims=NCHW)),
    "dilated": ((1, 8, 8, 2), (3, 3, 2, 3), dict(rhs_dilation=(2, 3))),
    "transposed": ((1, 4, 5, 2), (3, 3, 2, 3), dict(lhs_dilation=(2, 3), padding=[(1, 2), (2, 1)])),
    "grouped": ((2, 5, 5, 6), (3, 3, 2, 6), dict(feature_group_count=3)),
    "depthwise": ((1, 5, 5, 4), (3, 3, 1, 8), dict(feature_group_count=4)),
    "batch_groups": ((4, 5, 5, 3), (3, 3, 3, 6), dict(batch_group_count=2)),
}
for name, (x, k, options) in CONVS.items():
    case("conv_" + name, functools.partial(conv, **options), floats(*x), floats(*k))
    if name != "batch_groups":
        case(f"conv_{name}_grad", jax.grad(lambda x, k, options=options: (conv(x, k, **options) ** 2).sum(), (0, 1)), floats(*x), floats(*k))
case("conv_1d", lambda x, k: lax.conv_general_dilated(x, k, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), floats(2, 9, 3), floats(3, 3, 4))
case("conv_3d", lambda x, k: lax.conv_general_dilated(x, k, (1, 2, 1), "VALID", dimension_numbers=("NCDHW", "OIDHW", "NCDHW")), floats(1, 2, 4, 5, 4), floats(3, 2, 2, 3, 2))
case("conv_transpose", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=NHWC), floats(1, 4, 4, 2), floats(3, 3, 2, 3))
case("conv_swapped_result", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "VALID", dimension_numbers=("HWNC", "IHWO", "CHNW")), floats(5, 6, 2, 3), floats(3, 2, 3, 4))
case("conv_bf16", lambda x, k: conv(x, k), floats(1, 5, 5, 2, dtype=jnp.bfloat16), floats(3, 3, 2, 2, dtype=jnp.bfloat16))
case("convolve", lambda x, k: jnp.convolve(x, k), floats(9), floats(4))
case("conv_int", lambda x, k: conv(x, k), ints(1, 5, 5, 2), ints(3, 3, 2, 2))

# ---------------------------------------------------------------------------------------------------------------------
# Gathers, scatters, sorts
ROWS = ints(6, low=-4, high=4)
for mode in ("clip", "fill", "wrap"):
    rows = ints(6, low=-9, high=9)
    case("take_" + mode, lambda x, i, mode=mode: (jnp.take(x, i, axis=0, mode=mode), jnp.take(x, i, axis=1, mode=mode)), floats(5, 5, 2), rows)
    case("take_grad_" + mode, lambda x, i, mode=mode: jax.grad(lambda x: (jnp.take(x, i, axis=1, mode=mode, fill_value=0.5) ** 2).sum())(x), floats(4, 5, 2), rows)
case("index_rows", lambda x, i: (x[i], x[i, 1], x[:, i], x[i, i], x[i, :, 1]), floats(5, 4, 4), ROWS)
case("index_mixed", lambda x, i: (x[i, :, i], x[1, i], x[..., i], x[i][:, None]), floats(5, 4, 5), ROWS)
case("index_bool_mask", lambda x, m: jnp.where(m, x, 0).sum(), floats(5, 4), bools(5, 4))
case("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), floats(4, 6), ints(4, 3, low=-6, high=6))
case("take_along_axis_0", lambda x, i: jnp.take_along_axis(x, i, 0), floats(4, 6, 2), ints(3, 6, 2, low=0, high=4))
case("take_along_grad", lambda x, i: jax.grad(lambda x: (jnp.take_along_axis(x, i, 1) ** 2).sum())(x), floats(4, 6), ints(4, 3, low=0, high=6))
case("vmap_index", lambda x, i: jax.vmap(lambda x, i: x[i])(x, i), floats(3, 5, 2), ints(3, 4, low=0, high=5))
case("vmap_index_shared", lambda x, i: jax.vmap(lambda i: x[:, i])(i), floats(3, 5, 2), ints(3, 4, low=0, high=5))
case("gather_blocks", lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers((1, 2), (), (0, 1)), (2, 3)), floats(6, 7), ints(4, 2, low=-2, high=8))
case("gather_kept", lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers((1, 2), (), (1,)), (3, 1), mode="clip"), floats(6, 7), ints(4, 1, low=-2, high=8))
case("gather_offset_first", lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers((0, 2), (1,), (1, 0)), (2, 1, 3), mode="clip"), floats(4, 5, 3), ints(3, 2, low=0, high=4))
case("gather_partial", lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 3), mode="clip"), floats(4, 5), ints(6, 1, low=-1, high=5))
case("scatter_add_blocks", lambda x, i, u: lax.scatter_add(x, i, u, lax.ScatterDimensionNumbers((1, 2), (), (0, 1))), floats(6, 7), ints(4, 2, low=-2, high=8), floats(4, 2, 3))
case("scatter_partial", lambda x, i, u: lax.scatter_add(x, i, u, lax.ScatterDimensionNumbers((1,), (0,), (0,))), floats(4, 5), ints(6, 1, low=-1, high=5), floats(6, 3))
DISTINCT = np.array([3, 0, 9, -1, 1], np.int32)
for mode in ("drop", "clip"):
    case("at_set_" + mode, lambda x, i, u, mode=mode: x.at[i].set(u, mode=mode), floats(6, 3), DISTINCT if mode == "drop" else DISTINCT[[0, 1, 4, 4, 4]], floats(5, 3) if mode == "drop" else np.ones((5, 3), np.float32))
for method in ("add", "multiply", "max", "min", "set"):
    case("at_" + method, lambda x, i, u, method=method: getattr(x.at[i], method)(u), floats(6, 3), DISTINCT if method == "set" else ROWS, floats(5, 3) if method == "set" else floats(6, 3))
case("at_add_pairs", lambda x, i, u: x.at[i, i].add(u), floats(6, 6), ROWS, floats(6))
case("at_set_slice", lambda x, u: x.at[1:3, ::2].set(u), floats(4, 6), floats(2, 3))
case("at_set_int", lambda x, u: x.at[1].set(u), ints(4, 6), ints(6))
case("at_get_fill", lambda x, i: x.at[i].get(mode="fill", fill_value=-7), floats(5), ints(6, low=-9, high=9))
case("at_mul_column", lambda x, i: x.at[:, i].multiply(2.0), floats(4, 6), np.int32(-2))
case("vmap_scatter", lambda x, i, u: jax.vmap(lambda x, i, u: x.at[i].add(u))(x, i, u), floats(3, 6), ints(3, 4, low=0, high=6), floats(3, 4))
case("vmap_scatter_rows", lambda x, i, u: jax.vmap(lambda x, i, u: x.at[i].max(u))(x, i, u), floats(3, 6, 2), ints(3, 4, low=-8, high=9), floats(3, 4, 2))
case("vmap_scatter_set", lambda x, i, u: jax.vmap(lambda x, i, u: x.at[i].set(u, mode="drop"))(x, i, u), floats(3, 6), np.array([[0, 7], [2, 3], [9, 5]], np.int32), floats(3, 2))
case("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 4), floats(7, 2), ints(7, low=0, high=5))
case("segment_max", lambda x, i: jax.ops.segment_max(x, i, 4), floats(7), ints(7, low=0, high=4))
case("bincount_histogram", lambda i: jnp.bincount(i, length=6), ints(9, low=0, high=6))
case("one_hot", lambda i: jax.nn.one_hot(i, 5), ints(4, low=-1, high=6))
case("sort", lambda x: (jnp.sort(x, 0), jnp.sort(x, 1), -jnp.sort(-x, 1)), floats(4, 5))
case("sort_special", lambda x: (jnp.sort(x), jnp.argsort(x)), SPECIAL)
case("sort_descending", lambda x: (jnp.sort(x, descending=True), jnp.argsort(x, descending=True)), ints(9, low=0, high=4))
case("argsort", lambda x: (jnp.argsort(x, 0), jnp.argsort(x, 1)), floats(4, 5))
case("sort_int", lambda x: (jnp.sort(x), jnp.argsort(x)), ints(3, 8, low=0, high=4))
case("sort_bool", lambda x: jnp.sort(x), bools(9))
case("sort_ui8", lambda x: jnp.sort(x), ints(9, low=0, high=255, dtype=np.uint8))
case("sort_pairs", lambda x, y: lax.sort((x, y), num_keys=1), ints(9, low=0, high=4), floats(9))
case("sort_two_keys", lambda x, y, z: lax.sort((x, y, z), num_keys=2), ints(9, low=0, high=3), ints(9, low=0, high=3), floats(9))
case("lexsort", lambda x, y: jnp.lexsort((x, y)), ints(8, low=0, high=3), ints(8, low=0, high=3))
case("sort_grad", jax.grad(lambda x: (jnp.sort(x) * jnp.arange(5.0)).sum()), floats(5))
case("top_k", lambda x: lax.top_k(x, 3), floats(4, 7))
case("top_k_ties", lambda x: lax.top_k(x, 4), ints(3, 7, low=0, high=3))
case("top_k_grad", jax.grad(lambda x: (lax.top_k(x, 2)[0] ** 2).sum()), floats(3, 5))
case("approx_top_k", lambda x: (lax.approx_max_k(x, 3), lax.approx_min_k(x, 2, reduction_dimension=0)), np.random.default_rng(8).uniform(-2, 2, (5, 7)).astype(np.float32))
case("searchsorted", lambda a, v: jnp.searchsorted(jnp.sort(a), v), floats(9), floats(4))
case("unique_sized", lambda x: jnp.unique(x, size=6, fill_value=-1), ints(9, low=0, high=4))
case("quantile", lambda x: (jnp.quantile(x, 0.3, axis=0), jnp.percentile(x, 75)), floats(6, 3))
case("nonzero_sized", lambda x: jnp.nonzero(x, size=5, fill_value=0)[0], ints(9, low=0, high=2))

# ---------------------------------------------------------------------------------------------------------------------
# Control flow
case("scan", lambda w, x: lax.scan(lambda c, w: (jnp.tanh(c @ w), c.sum(1)), x, w), floats(3, 4, 4), floats(2, 4))
case("scan_reverse", lambda w, x: lax.scan(lambda c, w: (c * w, c + w), x, w, reverse=True), floats(5, 3), floats(3))
case("scan_unroll", lambda w, x: lax.scan(lambda c, w: (c * w + 1, c), x, w, unroll=2), floats(5, 3), floats(3))
case("scan_grad", jax.grad(lambda w, x: lax.scan(lambda c, w: (jnp.tanh(c @ w), c.sum()), x, w)[0].sum(), (0, 1)), floats(3, 4, 4), floats(2, 4))
case("scan_nested", lambda x: lax.scan(lambda c, r: (lax.scan(lambda a, b: (a + b, a * b), c, r)), jnp.float32(0), x), floats(3, 4))
case("map", lambda x: lax.map(lambda r: jnp.sin(r).sum(), x), floats(4, 3))
case("fori_loop", lambda x: lax.fori_loop(0, 5, lambda i, c: c * 0.5 + x[i % 3] + i, x), floats(3, 4))
case("fori_loop_down", lambda x: lax.fori_loop(2, 9, lambda i, c: c.at[i % 4].add(i), x), floats(4))
case("while_known", lambda x: lax.while_loop(lambda c: c[0] < 7, lambda c: (c[0] + 2, c[1] * 1.5), (0, x)), floats(3))
case("while_unknown", lambda x: lax.while_loop(lambda c: c.sum() < 7, lambda c: c * 1.5 + 1, x), floats(3))
case("cond", lambda p, x: lax.cond(p > 0, jnp.sin, jnp.cos, x), np.int32(1), floats(3))
case("cond_false", lambda p, x: lax.cond(p > 0, lambda x: (x, x * 2), lambda x: (x + 1, x), x), np.int32(0), floats(3))
case("cond_known", lambda x: lax.cond(True, jnp.sin, jnp.cos, x), floats(3))
case("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x), np.int32(1), floats(3))
case("switch_clamped", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x), np.int32(7), floats(3))
case("vmap_cond", lambda p, x: jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x))(p, x), bools(4), floats(4, 3))
case("cond_grad", lambda p, x: jax.grad(lambda x: lax.cond(p, jnp.sin, jnp.cos, x).sum())(x), np.bool_(True), floats(3))
case("checkpoint_grad", jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), floats(4))
case("custom_jvp", jax.grad(lambda x: (jax.nn.relu(x) * jax.nn.silu(x) + jax.nn.softplus(x)).sum()), floats(6))
case("nested_jit", lambda x: jax.jit(lambda y: jax.jit(jnp.sin)(y) + jax.jit(jnp.sin)(y * 2))(x), floats(3))
case("jvp_hessian", lambda x: (jax.jvp(jnp.tanh, (x,), (x,))[1], jax.hessian(lambda y: (y ** 3).sum())(x)), floats(3))

# ---------------------------------------------------------------------------------------------------------------------
# Random numbers
KEY = np.array([3, 41], np.uint32)
for name, function in {
        "bits": lambda k: jax.random.bits(k, (5,)), "bits_8": lambda k: jax.random.bits(k, (5,), np.uint8),
        "uniform": lambda k: jax.random.uniform(k, (3, 5)), "normal": lambda k: jax.random.normal(k, (3, 5)),
        "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (9,)), "randint": lambda k: jax.random.randint(k, (9,), -3, 11),
        "split": lambda k: jax.random.split(k, 3), "fold_in": lambda k: jax.random.fold_in(k, 7),
        "permutation": lambda k: jax.random.permutation(k, 9), "categorical": lambda k: jax.random.categorical(k, jnp.arange(5.0), shape=(6,)),
        "truncated_normal": lambda k: jax.random.truncated_normal(k, -1, 1, (5,)), "exponential": lambda k: jax.random.exponential(k, (5,)),
        "gumbel": lambda k: jax.random.gumbel(k, (5,)), "laplace": lambda k: jax.random.laplace(k, (5,)),
        "choice": lambda k: jax.random.choice(k, 7, (4,)),
}.items():
    case("random_" + name, function, KEY)
case("random_dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.8, x.shape), x / 0.8, 0), KEY, floats(4, 5))

# ---------------------------------------------------------------------------------------------------------------------
# Networks' parts
for name in "celu elu gelu glu hard_sigmoid hard_swish hard_tanh leaky_relu log_sigmoid mish relu relu6 selu sigmoid silu soft_sign softplus squareplus".split():
    case("nn_" + name, getattr(jax.nn, name), floats(4, 6))
case("nn_gelu_exact", lambda x: jax.nn.gelu(x, approximate=False), floats(4, 6))
case("nn_standardize", lambda x: jax.nn.standardize(x, axis=-1), floats(4, 6))
case("layer_norm", lambda x, g, b: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g + b, floats(2, 3, 8), floats(8), floats(8))
case("rms_norm_grad", jax.grad(lambda x, g: (x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g).sum(), (0, 1)), floats(2, 3, 8), floats(8))
case("batch_norm_train", lambda x, g, b: jax.nn.standardize(x, axis=(0, 1, 2)) * g + b, floats(2, 4, 4, 3), floats(3), floats(3))
case("attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), floats(2, 6, 4, 8), floats(2, 6, 2, 8), floats(2, 6, 2, 8))
case("attention_masked", lambda q, k, v, m: jax.nn.dot_product_attention(q, k, v, mask=m), floats(2, 6, 2, 8), floats(2, 5, 2, 8), floats(2, 5, 2, 8), bools(2, 1, 6, 5))
case("attention_window_grad", jax.grad(lambda q, k, v: jax.nn.dot_product_attention(q, k, v, local_window_size=(2, 1)).sum(), (0, 1, 2)), floats(1, 6, 2, 4), floats(1, 6, 2, 4), floats(1, 6, 2, 4))
case("cross_entropy_grad", lambda x, y: jax.value_and_grad(lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean())(x), floats(5, 7), ints(5, low=0, high=7))
case("recurrent_cell", lambda x, w: lax.scan(lambda c, s: ((jnp.tanh(c[0] @ w + s), c[1] * 0.5 + s), c[0]), (x[0], x[1]), x), floats(4, 2, 3), floats(3, 3))
case("interp_polyval", lambda x: (jnp.interp(x, jnp.linspace(-2.0, 2, 5), jnp.arange(5.0)), jnp.polyval(jnp.array([1.0, 2, 3]), x)), floats(6))
case("image_resize", lambda x: (jax.image.resize(x, (6, 9), "bilinear"), jax.image.resize(x, (2, 3), "nearest"), jax.image.resize(x, (7, 5), "cubic")), floats(4, 6))
case("fft", lambda x: jnp.abs(jnp.fft.fft(x)), floats(8))
case("cholesky", lambda x: jnp.linalg.cholesky(x @ x.T + 3 * jnp.eye(3)), floats(3, 3))
case("triangular_solve", lambda x, y: lax.linalg.triangular_solve(jnp.tril(x) + 3 * jnp.eye(3), y, left_side=True, lower=True), floats(3, 3), floats(3, 2))
case("igamma_betainc", lambda x: (lax.igamma(x, x), lax.igammac(x, x)), floats(4, low=0.5, high=3))
case("numpy_mod", lambda x, y: (jnp.mod(x, y), jnp.floor_divide(x, y), jnp.fmod(x, y), jnp.remainder(x, y)), floats(8), floats(8))
case("numpy_mod_int", lambda x, y: (jnp.mod(x, y), jnp.floor_divide(x, y), jnp.divmod(x, y)), ints(8), ints(8, low=1, high=5))
case("numpy_misc", lambda x: (jnp.sign(x), jnp.signbit(x), jnp.nan_to_num(x), jnp.isnan(x), jnp.isinf(x), jnp.copysign(2.0, x), jnp.heaviside(x, 0.5), jnp.hypot(x, 1), jnp.deg2rad(x), jnp.sinc(x), jnp.trunc(x), jnp.clip(x, -1, 1), jnp.exp2(x), jnp.log2(x), jnp.log10(x), jnp.float_power(x, 2)), SPECIAL)
case("numpy_logic", lambda x, y: (jnp.logical_and(x, y), jnp.logical_xor(x, y), jnp.logical_not(x), x == y, jnp.allclose(x, y)), bools(6), bools(6))
case("float16", lambda x: (jnp.exp(x), x * x + 1, x.sum(), jnp.tanh(x)), floats(7, dtype=np.float16))
case("bfloat16", lambda x: (x * x + 1, x.astype(jnp.float32) * 3, jnp.maximum(x, 0)), floats(7, dtype=jnp.bfloat16))
case("constants", lambda x: x + np.arange(2400, dtype=np.float32).reshape(2, 1200) @ np.ones((1200, 3), np.float32), floats(2, 3))
case("results", lambda x: (x, jnp.ones(3), x, jnp.float32(4)), floats(3))

# ---------------------------------------------------------------------------------------------------------------------
# Complex numbers between real ones
TURNS = np.exp(1j * np.outer(np.arange(8), 1 / 10 ** np.arange(4))).astype(np.complex64)


def rotate(x, turns):
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    turned = lax.complex(pairs[..., 0], pairs[..., 1]) * turns[:, None]
    return jnp.stack((jnp.real(turned), jnp.imag(turned)), -1).reshape(x.shape)


def diagonal_scan(x, rate, angle):
    factor = jnp.exp(-jnp.exp(rate) + 1j * angle)
    join = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
    return lax.associative_scan(join, (jnp.broadcast_to(factor, x.shape), x * (1 - 1j * factor)))[1].real


case("complex_rotary", lambda x, ids: rotate(x, jnp.take(TURNS, ids, axis=0)), floats(2, 5, 3, 8), ints(5, low=0, high=8))
case("complex_rotary_grad", jax.grad(lambda x, w: (rotate(x, TURNS[:5]) * w).sum(), 0), floats(2, 5, 3, 8), floats(2, 5, 3, 8))
case("complex_rotary_jit", lambda x: jax.jit(lambda z, n: lax.dynamic_slice(z, (n, 0), (5, 4)))(jnp.asarray(TURNS), 2).imag + x, floats(5, 4))
case("complex_arithmetic", lambda x, y: [f(z) for z in [(x + 1j * y) / (y - 2j * x), -(x - 1j * y), 1 / (x + 3j), (x + 1j) ** 2] for f in (jnp.real, jnp.imag)], floats(6), floats(6, low=1))
case("complex_exp", lambda x, y: (jnp.exp(x + 1j * y).real, jnp.abs(x + 1j * y), jnp.conj(x + 1j * y).imag), floats(6), floats(6))
case("complex_einsum", lambda x, y: jnp.einsum("bij,bjk->bki", x + 1j, lax.complex(y, -y)).imag, floats(2, 3, 4), floats(2, 4, 5))
case("complex_moves", lambda x, y: [f(jnp.where(x > 0, jnp.concatenate([z[1:], z[:1] * 2]).T[::-1].T, jnp.pad(z, ((1, 0), (0, 0)))[:-1])) for z in [lax.complex(x, y)] for f in (jnp.real, jnp.imag)], floats(4, 3), floats(4, 3))
case("complex_sums", lambda x, y: [f(g(lax.complex(x, y))) for f in (jnp.real, jnp.imag) for g in (lambda z: z.sum(0), lambda z: z.mean(), lambda z: jnp.cumsum(z, 1))], floats(4, 3), floats(4, 3))
case("complex_scatter", lambda x, i: jnp.abs(jnp.zeros((5, 3), jnp.complex64).at[i].add(lax.complex(x, 2 * x)).at[0].set(1j)), floats(4, 3), ints(4, low=0, high=5))
case("complex_scan", lambda x, rate, angle: lax.scan(lambda c, s: (c * jnp.exp(-rate + 1j * angle) + s, c.real), jnp.zeros(3, jnp.complex64), x)[1], floats(5, 3), floats(3, low=0), floats(3))
case("complex_branches", lambda p, x: lax.cond(p, lambda z: z * 2j, jnp.conj, lax.complex(x, x * x)).imag, np.bool_(True), floats(3))
case("diagonal_scan", lambda x, rate, angle: diagonal_scan(x, rate, angle), floats(9, 3), floats(3), floats(3))
case("diagonal_scan_grad", jax.grad(lambda x, rate, angle: (diagonal_scan(x, rate, angle) ** 2).sum(), (0, 1, 2)), floats(6, 3), floats(3), floats(3))
case("complex_sort", lambda x: jnp.sort(lax.complex(x, -x)).real, floats(5))


def text_and_values(function, inputs):
    lowered = jax.jit(function, keep_unused=True).lower(*inputs)
    text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True, enable_debug_info=False)
    results = jax.tree.leaves(jax.jit(function)(*inputs))
    return text, b"".join(np.ascontiguousarray(value).tobytes() for value in [*map(np.asarray, inputs), *map(np.asarray, results)])


def main():
    # Like cases lie together, which the compression likes; the time is fixed, so that files compare.
    with tarfile.open(sys.argv[1], "w:xz", preset=9) as archive:
        for name, (function, inputs) in CASES.items():
            text, values = text_and_values(function, inputs)
            for member, data in ((f"{name}/model.mlir", text.encode()), (f"{name}/values.bin", values)):
                info = tarfile.TarInfo(member)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    print(len(CASES), "cases")


if __name__ == "__main__":
    main()
