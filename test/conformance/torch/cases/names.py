"""Operators by their second names, and others that programs hold now and then."""
import torch
from torch import tensor

from .common import case, f, i, mask, positive, unit

aten = torch.ops.aten

for name in "absolute arcsinh arctan fix negative".split():
    case(f"second_{name}", getattr(torch, name), f(2, 5))
for name in "arccos arcsin arctanh".split():
    case(f"second_{name}", getattr(torch, name), unit(2, 5))
case("second_arccosh", torch.arccosh, positive(2, 5) + 1)
for name in "arctan2 divide greater greater_equal less less_equal multiply not_equal subtract".split():
    case(f"second_{name}", getattr(torch, name), f(2, 3), positive(3))
for name in "divide greater greater_equal less less_equal multiply not_equal subtract".split():
    case(f"second_{name}_number", lambda x, name=name: getattr(torch, name)(x, 0.5), f(2, 3))
case("second_divide_floor", lambda x, y: torch.divide(x, y, rounding_mode="floor"), f(2, 3), positive(3))
case("second_divide_trunc", lambda x: torch.divide(x, 0.75, rounding_mode="trunc"), f(2, 3))
case("second_subtract_alpha", lambda x, y: torch.subtract(x, y, alpha=2), f(2, 3), f(3))
case("second_multiply_in_place", lambda x, y: (x + 1).multiply_(y), f(2, 3), f(3))
case("second_clip", lambda x: torch.clip(x, -0.5, 0.5), f(2, 3))
case("second_clip_tensor", lambda x, y: torch.clip(x, max=y), f(2, 3), f(3))
case("second_ger", torch.ger, f(2), f(3))
case("second_matmul", torch.linalg.matmul, f(2, 3), f(3, 2))
case("second_row_stack", lambda x, y: torch.row_stack((x, y)), f(3), f(2, 3))
case("second_trapz", lambda y: torch.trapz(y, dx=0.5), f(2, 4))
case("second_trapz_x", torch.trapz, f(2, 4), f(2, 4))
case("second_native_channel_shuffle", lambda x: torch.native_channel_shuffle(x, 2), f(1, 4, 2, 2))
case("second_unsafe_index", lambda x, at: aten._unsafe_index.Tensor(x, [at]), f(4, 2), i(3, low=0, high=4))
case("second_stack", lambda x, y: aten._stack.default([x, y], 1), f(2, 3), f(2, 3))
case("second_all_true", lambda x: (aten._is_all_true.default(x), aten._is_any_true.default(x)), mask(2, 3))
case("second_softmax", lambda x: torch.special.softmax(x, 1), f(2, 3))
case("second_log_softmax", lambda x: torch.special.log_softmax(x, 0), f(2, 3))
case("second_logsumexp", lambda x: torch.special.logsumexp(x, 1), f(2, 3))
case("second_xlogy_numbers", lambda x: torch.special.xlogy(x, 2.0) + torch.special.xlogy(0.5, x), positive(3))

case("isin", torch.isin, i(2, 3), i(4))
case("isin_inverted", lambda x, y: torch.isin(x, y, invert=True), i(2, 3), i(2, 2))
case("isin_number", lambda x: torch.isin(x, 2), i(2, 3))
case("isin_of_number", lambda x: torch.isin(2, x), i(2, 3))
case("cross_first_of_three", torch.cross, f(2, 3, 3), f(2, 3, 3))
case("vecdot", torch.linalg.vecdot, f(2, 3), f(2, 3))
case("vecdot_dim", lambda x, y: torch.linalg.vecdot(x, y, dim=0), f(3, 2), f(3, 2))
case("sum_to_size", lambda x: x.sum_to_size(3, 1), f(2, 3, 4))
case("ldexp", torch.ldexp, f(2, 3), i(3, low=-3, high=4))
case("bitwise_of_number", lambda x: (torch.bitwise_and(6, x), torch.bitwise_or(6, x), torch.bitwise_xor(6, x)), i(4))
case("embedding_bag_short", lambda at, w: aten.embedding_bag.default(w, at, tensor([0, 2]))[0], i(5, low=0, high=4), f(4, 3))
