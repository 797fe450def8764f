"""Operators that compute each element from one element of each operand, with torch's type promotion."""
import torch
import torch.nn.functional as F
from torch import tensor

from .common import FLOATS, case, f, i, mask, positive, unit

aten = torch.ops.aten
SPECIAL = tensor([float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.5, -2.5, 0.5])

# Unary, over the whole line, over positive numbers, over (-1, 1).
for name in ("abs atan ceil cos cosh erf exp expm1 floor neg reciprocal relu round sigmoid sign sin sinh tan tanh trunc "
             "square erfc exp2 sgn frac asinh").split():
    case(name, getattr(torch, name), f(2, 5))
for name in "log log10 log1p log2 sqrt rsqrt".split():
    case(name, getattr(torch, name), positive(2, 5))
for name in "acos asin atanh erfinv".split():
    case(name, getattr(torch, name), unit(2, 5))
case("acosh", torch.acosh, positive(2, 5) + 1)
case("lgamma", torch.lgamma, positive(2, 5))
case("digamma", torch.digamma, positive(2, 5))
GAMMA = tensor([0.0, -0.0, -1.0, -2.0, 0.25, -0.5, -2.25, -7.75, 40.5, 1e20, float("inf"), float("nan")])
case("lgamma_special", torch.lgamma, GAMMA)
case("digamma_special", torch.digamma, GAMMA)
case("lgamma_int", torch.lgamma, tensor([1, 2, 5, 20]))
case("lgamma_f64", torch.lgamma, tensor([0.125, 3.5, -3.5, 60.25], dtype=torch.float64))
case("digamma_f16", torch.digamma, tensor([0.125, 3.5, -3.5, 60.25], dtype=torch.float16))
case("erfinv_special", torch.erfinv, tensor([0.0, -0.0, 1.0, -1.0, 1.5, 0.99999, float("nan")]))
case("erfinv_f64", torch.erfinv, tensor([1e-9, -0.375, 0.9999999], dtype=torch.float64))
case("asinh_special", torch.asinh, tensor([0.0, -0.0, 1e25, -1e25, float("inf"), float("nan")]))
case("acosh_special", torch.acosh, tensor([1.0, 0.5, 1e25, float("inf"), float("nan")]))
case("atanh_special", torch.atanh, tensor([0.0, -0.0, 1.0, -1.0, 2.0]))
for name in "digamma erf erfc erfinv exp2 expit expm1 gammaln log1p logit psi round sinc".split():
    case(f"special_{name}", getattr(torch.special, name), tensor([0.25, 0.5, 0.75]))
case("special_xlogy", torch.special.xlogy, tensor([0.0, 1.0, 2.0]), tensor([0.0, 0.5, 3.0]))
case("deg2rad", torch.deg2rad, f(5))
case("rad2deg", torch.rad2deg, f(5))
case("logit", torch.logit, torch.rand(5))
case("logit_eps", lambda x: torch.logit(x, 0.2), torch.rand(5))
case("sinc", torch.sinc, tensor([0.0, 0.5, -1.5, 2.0]))
case("nan_to_num", torch.nan_to_num, SPECIAL)
case("nan_to_num_values", lambda x: torch.nan_to_num(x, 1.0, 2.0, -3.0), SPECIAL)
case("round_decimals", lambda x: torch.round(x, decimals=1), f(5))
case("round_ties", torch.round, tensor([0.5, 1.5, 2.5, -0.5, -1.5]))
case("signbit", torch.signbit, tensor([1.0, -2.0, 0.0]))
for name in "isnan isinf isfinite isposinf isneginf".split():
    case(name, getattr(torch, name), SPECIAL)
case("isnan_int", torch.isnan, i(4))
case("isfinite_int", torch.isfinite, i(4))
case("sign_special", torch.sign, SPECIAL)
for name in "abs neg sign relu square".split():
    case(f"{name}_int", getattr(torch, name), i(2, 5))
for name in "ceil floor round trunc".split():
    case(f"{name}_int", getattr(torch, name), i(4))
for name in "exp sqrt sigmoid tanh reciprocal rsqrt log".split():  # integers become floats
    case(f"{name}_int", getattr(torch, name), i(2, 3, low=1, high=6))
case("exp_bool", torch.exp, mask(4))
for name, dtype in FLOATS.items():
    case(f"exp_{name}", torch.exp, f(2, 3, dtype=dtype))
    case(f"gelu_{name}", F.gelu, f(2, 3, dtype=dtype))
    case(f"sigmoid_{name}", torch.sigmoid, f(2, 3, dtype=dtype))
    case(f"add_{name}", torch.add, f(2, 3, dtype=dtype), f(3, dtype=dtype))
    case(f"add_{name}_scalar", lambda x: x + 0.1, f(2, 3, dtype=dtype))
    case(f"mul_{name}_f32", torch.mul, f(2, 3, dtype=dtype), f(2, 3))
    case(f"add_{name}_f32_scalar_tensor", torch.add, f(2, 3, dtype=dtype), f())

# Binary: broadcasting and promotion between tensors, scalar tensors and numbers.
PAIRS = {"f32": (f(2, 3), f(2, 3) + 3), "broadcast": (f(2, 1, 3), f(4, 1)), "i64": (i(2, 3), i(2, 3, low=1)),
         "mixed": (f(2, 3), i(3, low=1)), "mixed_small": (i(2, 3, dtype=torch.int32), i(3, low=1)),
         "scalar_tensor": (i(3), tensor(2.5)), "f64_pair": (f(2, dtype=torch.float64), f(2) + 3)}
for name in "add sub mul div maximum minimum fmod remainder floor_divide atan2 true_divide".split():
    for kind, (lhs, rhs) in PAIRS.items():
        case(f"{name}_{kind}", getattr(torch, name), lhs, rhs)
for name in "add sub mul div fmod remainder floor_divide pow".split():
    function = getattr(torch, name)
    case(f"{name}_number", lambda x, function=function: function(x, 2), f(2, 3).abs() + 0.1)
    case(f"{name}_int_number", lambda x, function=function: function(x, 2), i(2, 3))
    case(f"{name}_int_float_number", lambda x, function=function: function(x, 2.5), i(2, 3, low=1))
case("add_alpha", lambda x, y: torch.add(x, y, alpha=2), f(2, 3), f(3))
case("add_alpha_int", lambda x, y: torch.add(x, y, alpha=3), i(2, 3), i(3))
case("sub_alpha", lambda x, y: torch.sub(x, y, alpha=0.5), f(2, 3), f(3))
case("add_bool_int", torch.add, mask(4), i(4))
case("add_bool_bool", torch.add, mask(4), mask(4))
case("mul_bool_bool", torch.mul, mask(4), mask(4))
case("mul_bool_f32", torch.mul, mask(4), f(4))
case("add_bool_number", lambda x: x + 1, mask(4))
case("mul_bool_float", lambda x: x * 0.5, mask(4))
case("add_u8_number", lambda x: x + 1, i(4, low=0, high=200, dtype=torch.uint8))
case("add_u8_i8", torch.add, i(4, low=0, high=100, dtype=torch.uint8), i(4, dtype=torch.int8))
case("add_i16_wraps", torch.add, tensor([32767, 1], dtype=torch.int16), tensor([1, 1], dtype=torch.int16))
case("div_ints", torch.div, i(4), tensor([2, -2, 3, 4]))
case("div_bool", torch.div, mask(4), tensor([2, -2, 3, 4]))
for mode in "floor trunc".split():
    case(f"div_{mode}", lambda x, y, mode=mode: torch.div(x, y, rounding_mode=mode), f(8) * 5, f(8))
    case(f"div_{mode}_int", lambda x, y, mode=mode: torch.div(x, y, rounding_mode=mode), i(8), tensor([2, -2, 3, -3] * 2))
    case(f"div_{mode}_number", lambda x, mode=mode: torch.div(x, 2.5, rounding_mode=mode), f(8) * 5)
    case(f"div_{mode}_int_number", lambda x, mode=mode: torch.div(x, -2, rounding_mode=mode), i(8))
case("rsub", lambda x: 2 - x, f(3))
case("rsub_int", lambda x: 2 - x, i(3))
case("rsub_alpha", lambda x, y: torch.rsub(x, y, alpha=2), f(3), f(3))
case("rdiv", lambda x: 1 / x, positive(3))
case("rpow", lambda x: 2 ** x, f(3))
case("rpow_int", lambda x: 2 ** x, i(3, low=0))
case("rfloordiv", lambda x: 7 // x, tensor([2, -2, 3]))
case("remainder_signs", torch.remainder, tensor([5, -5, 5, -5]), tensor([3, 3, -3, -3]))
case("remainder_f32_signs", torch.remainder, tensor([5.5, -5.5, 5.5, -5.5]), tensor([3.0, 3, -3, -3]))
case("fmod_signs", torch.fmod, tensor([5, -5, 5, -5]), tensor([3, 3, -3, -3]))
case("remainder_of_number", lambda x: torch.remainder(7, x), tensor([2, -2, 3]))
case("pow", torch.pow, positive(2, 3), f(2, 3))
case("pow_int", torch.pow, i(2, 3), i(2, 3, low=0, high=4))
case("pow_mixed", torch.pow, i(2, 3, low=1), f(3))
case("pow_half", lambda x: x ** 0.5, positive(3))
case("pow_negative", lambda x: x ** -1, positive(3))
case("pow_cube", lambda x: x ** 3, f(3))
case("pow_zero", lambda x: x ** 0, f(3))
case("float_power", lambda x: torch.float_power(x, 2), i(3))
case("hypot", torch.hypot, f(3), f(3))
case("copysign", torch.copysign, f(4), tensor([1.0, -1.0, 2.0, -0.5]))
case("fmax", torch.fmax, tensor([1.0, float("nan"), 3.0]), tensor([2.0, 1.0, float("nan")]))
case("fmin", torch.fmin, tensor([1.0, float("nan"), 3.0]), tensor([2.0, 1.0, float("nan")]))
case("maximum_nan", torch.maximum, tensor([1.0, float("nan"), 3.0]), tensor([2.0, 1.0, float("nan")]))
case("logaddexp", torch.logaddexp, f(4), f(4))
case("logaddexp2", torch.logaddexp2, f(4), f(4))
case("xlogy", torch.xlogy, tensor([0.0, 1.0, 2.0]), tensor([0.0, 0.5, 3.0]))
case("lerp", torch.lerp, f(4), f(4), torch.rand(4))
case("lerp_number", lambda x, y: torch.lerp(x, y, 0.25), f(4), f(4))
case("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), f(2, 3), f(2, 3), f(3))
case("addcdiv", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), f(2, 3), f(2, 3), positive(3))
case("gcd", torch.gcd, i(4), i(4))

# Comparisons and logic.
for name in "eq ne lt le gt ge".split():
    function = getattr(torch, name)
    case(name, function, i(2, 5), i(5))
    case(f"{name}_f32", function, f(2, 5), f(5))
    case(f"{name}_mixed", function, f(5), i(5))
    case(f"{name}_number", lambda x, function=function: function(x, 0), f(5))
    case(f"{name}_int_number", lambda x, function=function: function(x, 0.5), i(5))
    case(f"{name}_special", lambda x, function=function: function(x, x), SPECIAL)
case("eq_bool", torch.eq, mask(4), mask(4))
case("isclose", torch.isclose, tensor([1.0, 2.0]), tensor([1.0 + 1e-7, 2.1]))
for name in "and or xor".split():
    case(f"logical_{name}", getattr(torch, f"logical_{name}"), mask(4), mask(4))
    case(f"logical_{name}_f32", getattr(torch, f"logical_{name}"), tensor([0.0, 1.0, 2.0]), tensor([0, 0, 3]))
    bitwise = getattr(torch, f"bitwise_{name}")
    case(f"bitwise_{name}", bitwise, i(4), i(4))
    case(f"bitwise_{name}_bool", bitwise, mask(4), mask(4))
    case(f"bitwise_{name}_mixed", bitwise, i(4), i(4, dtype=torch.int32))
    case(f"bitwise_{name}_number", lambda x, bitwise=bitwise: bitwise(x, 6), i(4))
case("logical_not", torch.logical_not, mask(4))
case("logical_not_f32", torch.logical_not, tensor([0.0, 1.0]))
case("bitwise_not", torch.bitwise_not, i(4))
case("bitwise_not_bool", torch.bitwise_not, mask(4))
case("operators_bool", lambda x, y: (x & y) | ~(x ^ y), mask(4), mask(4))
case("left_shift", lambda x: x << 2, i(4))
case("right_shift", lambda x: x >> 1, i(4))

# Choice.
case("where", torch.where, mask(2, 3), f(2, 3), f(3))
case("where_mixed", torch.where, mask(2, 3), f(2, 3), i(3))
case("where_number", lambda c, x: torch.where(c, x, 0.0), mask(2, 3), f(2, 3))
case("where_number_first", lambda c, x: torch.where(c, 1, x), mask(2, 3), f(2, 3))
case("where_numbers", lambda c: torch.where(c, 1.0, 0.0), mask(2, 3))
case("where_int_numbers", lambda c: torch.where(c, 1, 0), mask(2, 3))
case("where_int_float_number", lambda c, x: torch.where(c, x, 0.5), mask(2, 3), i(2, 3))
case("masked_fill", lambda x, m: x.masked_fill(m, -1e9), f(2, 3), mask(3))
case("masked_fill_infinite", lambda x, m: x.masked_fill(m, float("-inf")), f(2, 3), mask(2, 3))
case("masked_fill_tensor", lambda x, m, v: x.masked_fill(m, v), f(2, 3), mask(2, 1), f())
case("masked_fill_int", lambda x, m: x.masked_fill(m, 7), i(2, 3), mask(2, 3))
case("clamp", lambda x: torch.clamp(x, -0.5, 0.5), f(2, 5))
case("clamp_low", lambda x: torch.clamp(x, min=0), f(5))
case("clamp_high", lambda x: torch.clamp(x, max=0.5), f(5))
case("clamp_int", lambda x: torch.clamp(x, -2, 2), i(5))
case("clamp_int_float", lambda x: torch.clamp(x, -1.5, 2), i(5))
case("clamp_tensors", torch.clamp, f(2, 3), f(3) - 1, f(2, 1) + 1)
case("clamp_crossed", lambda x: torch.clamp(x, 1.0, -1.0), f(4))
case("clamp_min", lambda x: torch.clamp_min(x, 0.1), f(4))
case("clamp_max", lambda x: torch.clamp_max(x, 0.1), f(4))
case("clamp_nan", lambda x: torch.clamp(x, -1.0, 1.0), SPECIAL)

# Conversions.
TYPES = {"f32": torch.float32, "i64": torch.int64, "i32": torch.int32, "bool": torch.bool, "u8": torch.uint8,
         "i8": torch.int8, "i16": torch.int16, **FLOATS}
for name, dtype in TYPES.items():
    case(f"to_{name}", lambda x, dtype=dtype: x.to(dtype), f(4).abs() * 4)
    case(f"to_{name}_int", lambda x, dtype=dtype: x.to(dtype), i(4, low=0))
    case(f"from_{name}", lambda x: x.to(torch.float32), (f(4).abs() * 4).to(dtype))
case("to_truncates", lambda x: x.long(), tensor([1.7, -1.7, 0.5]))
case("type_as", lambda x, y: x.type_as(y), i(3), f(3))
case("to_other", lambda x, y: x.to(y), i(3), f(3))
case("to_device", lambda x: x.to("cpu", torch.float64, copy=True), i(3))
case("clone", lambda x: x.clone(), f(3))
case("detach", lambda x: x.detach() * 2, f(3))
case("contiguous", lambda x: x.t().contiguous(), f(2, 3))
case("heaviside", torch.heaviside, torch.tensor([-1.0, 0, 2, float("nan")]), f(4))
case("heaviside_int", torch.heaviside, i(2, 4, low=-1, high=2), i(4))
