"""Operators of the core set by their own overloads, where the functions of the other lists do not reach them."""
import torch

from .common import case, f, i, positive

aten = torch.ops.aten

for name in "add sub mul div".split():
    case(f"core_{name}_scalar", lambda x, name=name: getattr(aten, name).Scalar(x, 2.5), f(2, 3))
case("core_div_scalar_mode", lambda x: aten.div.Scalar_mode(x, 2, rounding_mode="floor"), i(4))
case("core_remainder_scalar", lambda x: aten.remainder.Scalar(x, 3), i(4))
case("core_pow_tensors", lambda x, y: aten.pow.Tensor_Tensor(x, y), positive(3), f(3))
case("core_scatter_value", lambda x, y: aten.scatter.value(x, 0, y, 1.0), f(4), torch.tensor([2, 0]))
case("core_var_dim", lambda x: aten.var.dim(x, [0], False), f(3, 2))
case("core_empty_strided", lambda x: aten.fill.Scalar(aten.empty_strided.default([3], [1]), 2.0) + x, f(3))
case("core_size", lambda x: x.reshape(aten.sym_size.int(x, 1), -1), f(2, 3))
case("core_copy", lambda x, y: aten.copy.default(x, y), f(2, 3), i(3))
case("core_expand", lambda x: aten.expand.default(x, [2, 3]), f(3))
case("core_max_pool3d", lambda x: aten.max_pool3d_with_indices.default(x, [2, 2, 2], [2, 2, 2]), f(1, 1, 4, 4, 4))
case("core_embedding_bag", lambda w, x: aten._embedding_bag.default(w, x, torch.tensor([0, 2, 3]))[0], f(5, 2), i(6, low=0, high=5))
case("core_cdist", lambda x, y: aten._cdist_forward.default(x, y, 2.0, None), f(3, 4), f(2, 4))
case("core_pdist", lambda x: aten._pdist_forward.default(x, 2.0), f(4, 3))
case("core_leaky_relu", lambda x: aten.leaky_relu.default(x, 0.2), f(5))
case("core_replication_pad2d", lambda x: aten.replication_pad2d.default(x, [1, 1, 0, 2]), f(1, 2, 3, 3))
case("core_replication_pad3d", lambda x: aten.replication_pad3d.default(x, [1, 1, 0, 2, 1, 0]), f(1, 1, 3, 3, 2))
case("core_reflection_pad1d", lambda x: aten.reflection_pad1d.default(x, [1, 2]), f(1, 2, 4))
case("core_reflection_pad2d", lambda x: aten.reflection_pad2d.default(x, [1, 1, 0, 2]), f(1, 2, 3, 3))
case("core_reflection_pad3d", lambda x: aten.reflection_pad3d.default(x, [1, 1, 0, 2, 1, 0]), f(1, 1, 3, 3, 2))
case("core_local_scalar_dense", lambda x, y: x + torch.ops.aten.item.default(y), f(3), torch.tensor(2.0))
