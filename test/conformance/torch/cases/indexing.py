"""Operators that take or put elements at indices."""
import torch
import torch.nn.functional as F
from torch import tensor

from .common import case, f, i, mask

aten = torch.ops.aten

case("embedding", F.embedding, i(2, 3, low=0, high=7), f(7, 4))
case("embedding_i32", F.embedding, i(2, 3, low=0, high=7, dtype=torch.int32), f(7, 4))
case("embedding_padding", lambda x, w: F.embedding(x, w, padding_idx=0), i(2, 3, low=0, high=7), f(7, 4))
case("embedding_bag_mean", lambda x, w: F.embedding_bag(x, w), i(2, 3, low=0, high=7), f(7, 4))
case("embedding_bag_sum", lambda x, w: F.embedding_bag(x, w, mode="sum"), i(2, 3, low=0, high=7), f(7, 4))
case("one_hot", lambda x: F.one_hot(x, 5), i(2, 3, low=0, high=5))
case("index_select", lambda x, y: torch.index_select(x, 1, y), f(2, 4), tensor([3, 0, 3]))
case("gather", lambda x, y: torch.gather(x, 1, y), f(2, 4), i(2, 3, low=0, high=4))
case("gather_smaller", lambda x, y: torch.gather(x, 0, y), f(4, 3), i(2, 2, low=0, high=4))
case("take", torch.take, f(2, 4), i(3, low=-8, high=8))
case("take_along_dim", lambda x, y: torch.take_along_dim(x, y, 1), f(2, 4), i(2, 3, low=0, high=4))

# index.Tensor: any mixture of positions.
case("index", lambda x, y: x[y], f(4, 3), tensor([3, 0, -1]))
case("index_matrix", lambda x, y: x[y], f(4, 3), i(2, 2, low=-4, high=4))
case("index_second", lambda x, y: x[:, y], f(2, 4, 3), tensor([3, 0]))
case("index_two", lambda x, y, z: x[y, z], f(4, 3, 2), tensor([3, 0, 1]), tensor([-1, 0, 2]))
case("index_broadcast", lambda x, y, z: x[y, z], f(4, 3), tensor([[3], [0]]), tensor([1, 2, 0]))
case("index_middle", lambda x, y, z: x[:, y, z], f(2, 4, 3), tensor([3, 0]), tensor([1, 2]))
case("index_apart", lambda x, y, z: x[y, :, z], f(4, 2, 3), tensor([3, 0, 1]), tensor([1, 2, 0]))
case("index_number", lambda x, y: x[:, 1, y], f(2, 4, 3), tensor([1, 2]))
case("index_i32", lambda x, y: x[y], f(4, 3), tensor([3, 0], dtype=torch.int32))
case("index_ranges", lambda x: x[torch.arange(2)[:, None], torch.arange(3)], f(2, 3, 2))
case("index_last_token", lambda x, y: x[torch.arange(2), y], f(2, 4, 3), tensor([3, 1]))
case("index_constant_mask", lambda x: x[torch.tensor([True, False, True])], f(3, 2))
case("index_mask", lambda x, m: x[m], f(3, 2), mask(3))
case("masked_select", torch.masked_select, f(3, 2), mask(3, 2))
case("nonzero", torch.nonzero, mask(3, 2))
case("nonzero_constant", lambda x: x + torch.nonzero(torch.tensor([0, 1, 1]))[:, 0], f(2))
case("unique", lambda x: torch.unique(x), i(5))

# index_put.
case("index_put", lambda x, y, v: torch.index_put(x, (y,), v), f(4, 3), tensor([3, 0]), f(2, 3))
case("index_put_scalar", lambda x, y: torch.index_put(x, (y,), torch.tensor(2.0)), f(4, 3), tensor([3, 0]))
case("index_put_two", lambda x, y, z, v: torch.index_put(x, (y, z), v), f(4, 3), tensor([3, 0]), tensor([-1, 1]), f(2))
case("index_put_add", lambda x, y, v: torch.index_put(x, (y,), v, accumulate=True), f(4, 3), tensor([3, 0, 3]), f(3, 3))
case("index_put_second", lambda x, y, v: aten.index_put.default(x, [None, y], v), f(2, 4), tensor([3, 0]), f(2, 2))
case("index_put_apart", lambda x, y, z, v: aten.index_put.default(x, [y, None, z], v), f(4, 2, 3), tensor([3, 0]), tensor([1, 2]), f(2, 2))
case("index_put_mask", lambda x, m: aten.index_put.default(x, [m], torch.tensor(1.5)), f(3, 2), mask(3, 2))
case("index_put_mask_rows", lambda x, m, v: aten.index_put.default(x, [m], v), f(3, 2), mask(3), f(2))
case("index_add", lambda x, y, v: torch.index_add(x, 0, y, v), f(4, 3), tensor([3, 0, 3]), f(3, 3))
case("index_add_alpha", lambda x, y, v: torch.index_add(x, 1, y, v, alpha=2), f(2, 3), tensor([2, 0]), f(2, 2))
case("index_copy", lambda x, y, v: torch.index_copy(x, 0, y, v), f(4, 3), tensor([3, 0]), f(2, 3))
case("index_fill", lambda x, y: torch.index_fill(x, 1, y, 2.0), f(2, 4), tensor([3, 0]))
case("index_reduce", lambda x, y, v: torch.index_reduce(x, 0, y, v, "amax"), f(4, 3), tensor([3, 0, 3]), f(3, 3))
case("masked_scatter", torch.masked_scatter, f(2, 3), mask(2, 3), f(6))

# scatter.
INDEX = tensor([[0, 2], [3, 1]])
case("scatter", lambda x, y, v: torch.scatter(x, 1, y, v), f(2, 4), INDEX, f(2, 2))
case("scatter_larger_source", lambda x, y, v: torch.scatter(x, 1, y, v), f(3, 4), INDEX, f(3, 3))
case("scatter_value", lambda x, y: torch.scatter(x, 1, y, 2.5), f(2, 4), INDEX)
case("scatter_value_int", lambda x, y: torch.scatter(x, 0, y, 1), i(4, 2), INDEX)
case("scatter_add", lambda x, y, v: torch.scatter_add(x, 1, y, v), f(2, 4), tensor([[0, 0], [3, 3]]), f(2, 2))
case("scatter_reduce_value_add", lambda x, y: torch.scatter(x, 1, y, 2.5, reduce="add"), f(2, 4), INDEX)
case("scatter_multiply", lambda x, y, v: torch.scatter(x, 1, y, v, reduce="multiply"), f(2, 4), INDEX, f(2, 2))
for kind in "sum prod mean amax amin".split():
    for own in (True, False):
        case(f"scatter_reduce_{kind}{'' if own else '_fresh'}",
             lambda x, y, v, kind=kind, own=own: torch.scatter_reduce(x, 1, y, v, kind, include_self=own),
             f(2, 4), tensor([[0, 0, 2], [3, 3, 3]]), f(2, 3))
case("bincount_constant_free", lambda x: F.one_hot(x, 4).sum(0), i(6, low=0, high=4))

# Mutation, which default exports keep: through the tensor and through views of it.
def assign_rows(x, y):
    z = torch.zeros_like(x)
    z[1] = y
    return z


def assign_block(x, y):
    z = x.clone()
    z[:, 1:3] = y
    z[0, 0] = 5.0
    return z, z.sum()


def assign_through_view(x, y):
    z = x.clone()
    rows = z.view(4, 3)
    part = rows[1:3].t()
    part.mul_(2).add_(y)
    return z, rows


def assign_strided(x):
    z = x * 1
    z[::2] = -z[::2]
    return z


def assign_mask(x, m):
    z = x.clone()
    z[m] = 0
    return z


def assign_indices(x, y, v):
    z = x.clone()
    z[y] = v
    z.index_put_((y,), v, accumulate=True)
    return z


def old_value(x):
    z = x + 1
    before = z * 1
    view = z[0]
    z.fill_(3)
    return before, view, z


case("mutate_add", lambda x, y: (x * 1).add_(y), f(2, 3), f(3))
case("mutate_relu", lambda x: F.relu(x + 1, inplace=True), f(2, 3))
case("mutate_masked_fill", lambda x, m: (x * 1).masked_fill_(m, 0.5), f(2, 3), mask(2, 3))
case("mutate_copy", lambda x, y: torch.empty_like(x).copy_(y), f(2, 3), i(3))
case("mutate_scatter", lambda x, y, v: torch.zeros(2, 4).scatter_(1, y, v) + x, f(2, 4), INDEX, f(2, 2))
case("mutate_zero", lambda x: (x * 1).zero_() + x, f(3))
case("mutate_clamp", lambda x: (x * 1).clamp_(0, 1), f(4))
case("mutate_type_kept", lambda x, y: (x * 1).add_(y), f(2, dtype=torch.float16), f(2))
case("assign_rows", assign_rows, f(2, 3), f(3))
case("assign_block", assign_block, f(2, 4), f(2, 2))
case("assign_through_view", assign_through_view, f(2, 6), f(2))
case("assign_strided", assign_strided, f(5, 2))
case("assign_mask", assign_mask, f(2, 3), mask(2, 3))
case("assign_indices", assign_indices, f(4, 2), tensor([3, 0]), f(2, 2))
case("assign_old_value", old_value, f(2, 3))
