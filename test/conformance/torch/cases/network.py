"""Products, convolutions, normalisations, attention, pooling, padding, resizing."""
import torch
import torch.nn.functional as F

from .common import case, f, i, mask, positive

aten = torch.ops.aten

# Products.
RANKS = {"vv": ((3,), (3,)), "vm": ((3,), (3, 2)), "mv": ((2, 3), (3,)), "mm": ((2, 3), (3, 4)), "bm": ((2, 4, 3), (3, 2)),
         "mb": ((2, 3), (4, 3, 2)), "bb": ((2, 4, 3), (2, 3, 2)), "bv": ((2, 4, 3), (3,)), "vb": ((3,), (2, 3, 4)),
         "broadcast": ((2, 1, 4, 3), (5, 3, 2))}
for name, (lhs, rhs) in RANKS.items():
    case(f"matmul_{name}", torch.matmul, f(*lhs), f(*rhs))
case("matmul_transposed", lambda x, y: x @ y.mT, f(2, 3, 4), f(2, 5, 4))
case("matmul_int", torch.matmul, i(2, 3), i(3, 2))
case("mm", torch.mm, f(2, 3), f(3, 4))
case("bmm", torch.bmm, f(2, 3, 4), f(2, 4, 1))
case("mv", torch.mv, f(2, 3), f(3))
case("dot", torch.dot, f(3), f(3))
case("vdot", torch.vdot, f(3), f(3))
case("outer", torch.outer, f(2), f(3))
case("inner", torch.inner, f(2, 3), f(4, 3))
case("addmm", torch.addmm, f(4), f(2, 3), f(3, 4))
case("addmm_factors", lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2), f(2, 4), f(2, 3), f(3, 4))
case("addbmm", torch.addbmm, f(3, 2), f(2, 3, 4), f(2, 4, 2))
case("baddbmm", lambda b, x, y: torch.baddbmm(b, x, y, beta=0.5, alpha=0.25), f(2, 3, 2), f(2, 3, 4), f(2, 4, 2))
case("baddbmm_beta_zero", lambda b, x, y: torch.baddbmm(b, x, y, beta=0), f(1, 3, 2), f(2, 3, 4), f(2, 4, 2))
case("addmv", torch.addmv, f(2), f(2, 3), f(3))
case("addr", torch.addr, f(2, 3), f(2), f(3))
case("grouped_mm", lambda x, w, e: aten._grouped_mm.default(x, w, e), f(16, 16, dtype=torch.bfloat16), f(3, 16, 16, dtype=torch.bfloat16), torch.tensor([4, 4, 16], dtype=torch.int32))
case("chain_matmul", lambda x, y, z: torch.linalg.multi_dot([x, y, z]), f(2, 3), f(3, 4), f(4, 2))
case("tensordot", lambda x, y: torch.tensordot(x, y, dims=([1, 2], [0, 1])), f(2, 3, 4), f(3, 4, 2))
case("linear", F.linear, f(2, 3), f(4, 3), f(4))
case("linear_free", F.linear, f(2, 5, 3), f(4, 3))
case("linear_vector", F.linear, f(3), f(4, 3), f(4))
case("linear_bf16", F.linear, f(2, 3, dtype=torch.bfloat16), f(4, 3, dtype=torch.bfloat16))
case("bilinear", F.bilinear, f(2, 3), f(2, 4), f(5, 3, 4), f(5))
for name, (equation, *shapes) in {
        "matmul": ("ij,jk->ik", (2, 3), (3, 4)), "implicit": ("ij,jk", (2, 3), (3, 4)), "batch": ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
        "outer": ("i,j->ij", (2,), (3,)), "sum": ("ij->", (2, 3)), "transpose": ("ij->ji", (2, 3)), "diagonal": ("ii->i", (3, 3)),
        "trace": ("ii", (3, 3)), "three": ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 2)), "ellipsis": ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
        "dispatch": ("gsec,gsd->egcd", (2, 3, 2, 2), (2, 3, 4)), "combine": ("gsec,egcd->gsd", (2, 3, 2, 2), (2, 2, 2, 4)),
        "elementwise": ("ij,ij->ij", (2, 3), (2, 3)), "reduced_side": ("ij,k->ik", (2, 3), (4,)), "spaces": ("b h i, b h j -> b i j", (2, 3, 4), (2, 3, 5)),
        "one": ("bi,oi,bi->bo", (2, 3), (4, 3), (2, 3))}.items():
    case(f"einsum_{name}", lambda *x, equation=equation: torch.einsum(equation, *x), *(f(*shape) for shape in shapes))

# Convolutions.
for rank, shape, kernel in ((1, (2, 4, 9), (3,)), (2, (2, 4, 7, 6), (3, 2)), (3, (1, 4, 5, 4, 5), (2, 3, 2))):
    conv, back = getattr(F, f"conv{rank}d"), getattr(F, f"conv_transpose{rank}d")
    case(f"conv{rank}d", conv, f(*shape), f(6, 4, *kernel), f(6))
    case(f"conv{rank}d_stride_pad", lambda x, w, conv=conv: conv(x, w, stride=2, padding=1), f(*shape), f(6, 4, *kernel))
    case(f"conv{rank}d_groups", lambda x, w, b, conv=conv: conv(x, w, b, groups=2), f(*shape), f(6, 2, *kernel), f(6))
    case(f"conv{rank}d_depthwise", lambda x, w, conv=conv: conv(x, w, groups=4, padding=1), f(*shape), f(8, 1, *kernel))
    case(f"conv{rank}d_dilation", lambda x, w, conv=conv: conv(x, w, dilation=2, padding=2), f(*shape), f(6, 4, *kernel))
    case(f"conv{rank}d_same", lambda x, w, conv=conv: conv(x, w, padding="same"), f(*shape), f(6, 4, *kernel))
    case(f"conv{rank}d_same_dilated", lambda x, w, conv=conv: conv(x, w, padding="same", dilation=2), f(*shape), f(6, 4, *kernel))
    case(f"conv{rank}d_valid", lambda x, w, conv=conv: conv(x, w, padding="valid"), f(*shape), f(6, 4, *kernel))
    case(f"conv{rank}d_unbatched", conv, f(*shape[1:]), f(6, 4, *kernel), f(6))
    case(f"conv_transpose{rank}d", back, f(*shape), f(4, 3, *kernel), f(3))
    case(f"conv_transpose{rank}d_stride", lambda x, w, back=back: back(x, w, stride=2, padding=1, output_padding=1), f(*shape), f(4, 3, *kernel))
    case(f"conv_transpose{rank}d_groups", lambda x, w, b, back=back: back(x, w, b, stride=2, groups=2), f(*shape), f(4, 3, *kernel), f(6))
    case(f"conv_transpose{rank}d_dilation", lambda x, w, back=back: back(x, w, dilation=2), f(*shape), f(4, 3, *kernel))
    case(f"conv_transpose{rank}d_unbatched", lambda x, w, back=back: back(x, w), f(*shape[1:]), f(4, 3, *kernel))
case("convolution", lambda x, w, b: aten.convolution.default(x, w, b, [2, 1], [1, 0], [1, 1], False, [0, 0], 1), f(1, 2, 5, 5), f(3, 2, 3, 3), f(3))
case("convolution_transposed", lambda x, w: aten.convolution.default(x, w, None, [2], [1], [1], True, [1], 1), f(1, 2, 5), f(2, 3, 3))
case("im2col", lambda x: F.unfold(x, (2, 3), dilation=1, padding=1, stride=2), f(1, 2, 4, 5))
case("col2im", lambda x: F.fold(x, (4, 5), (2, 2)), f(1, 8, 12))

# Normalisations.
case("layer_norm", lambda x, w, b: F.layer_norm(x, (4,), w, b), f(2, 3, 4), f(4), f(4))
case("layer_norm_two", lambda x, w, b: F.layer_norm(x, (3, 4), w, b, 1e-3), f(2, 3, 4), f(3, 4), f(3, 4))
case("layer_norm_plain", lambda x: F.layer_norm(x, (4,)), f(2, 4))
case("layer_norm_scale", lambda x, w: F.layer_norm(x, (4,), w), f(2, 4), f(4))
case("layer_norm_bf16", lambda x, w, b: F.layer_norm(x, (8,), w, b), f(2, 8, dtype=torch.bfloat16), f(8, dtype=torch.bfloat16), f(8, dtype=torch.bfloat16))
case("native_layer_norm", lambda x, w, b: aten.native_layer_norm.default(x, [4], w, b, 1e-5), f(2, 3, 4), f(4), f(4))
case("rms_norm", lambda x, w: F.rms_norm(x, (4,), w, 1e-6), f(2, 3, 4), f(4))
case("rms_norm_plain", lambda x: F.rms_norm(x, (3, 4)), f(2, 3, 4))
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), f(2, 4, 3), f(4), f(4))
case("group_norm_images", lambda x, w, b: F.group_norm(x, 4, w, b, 1e-3), f(2, 8, 3, 2), f(8), f(8))
case("group_norm_plain", lambda x: F.group_norm(x, 2), f(2, 4, 3))
case("native_group_norm", lambda x, w, b: aten.native_group_norm.default(x, w, b, 2, 4, 6, 2, 1e-5), f(2, 4, 3, 2), f(4), f(4))
for name, shape in {"rows": (4, 3), "sequence": (2, 3, 4), "images": (2, 3, 2, 2), "volumes": (1, 3, 2, 2, 2)}.items():
    case(f"batch_norm_{name}", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), f(*shape), f(3), positive(3), f(3), f(3))
case("batch_norm_plain", lambda x, m, v: F.batch_norm(x, m, v, eps=1e-2), f(2, 3, 4), f(3), positive(3))
case("batch_norm_no_training", lambda x, w, b, m, v: aten._native_batch_norm_legit_no_training.default(x, w, b, m, v, 0.1, 1e-5)[0], f(2, 3, 4), f(3), f(3), f(3), positive(3))
case("batch_norm_batch_statistics", lambda x: F.batch_norm(x, None, None, training=True), f(4, 3, 2))
case("batch_norm_training", lambda x, w, b: aten._native_batch_norm_legit.no_stats(x, w, b, True, 0.1, 1e-5), f(4, 3, 2), f(3), f(3))
case("batch_norm_legit", lambda x, m, v: aten._native_batch_norm_legit.default(x, None, None, m.clone(), v.clone(), False, 0.1, 1e-5)[0], f(4, 3, 2), f(3), positive(3))
case("instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), f(2, 3, 4, 2), f(3), f(3))
case("instance_norm_plain", lambda x: F.instance_norm(x, eps=1e-2), f(2, 3, 8))
case("instance_norm_statistics", lambda x, m, v: F.instance_norm(x, m, v, use_input_stats=False), f(2, 3, 8), f(3), positive(3))
case("local_response_norm", lambda x: F.local_response_norm(x, 3), f(1, 5, 2, 2))

# Attention.
Q, K, V = f(2, 4, 3, 8), f(2, 4, 5, 8), f(2, 4, 5, 6)
sdpa = F.scaled_dot_product_attention
case("sdpa", sdpa, Q, K, V)
case("sdpa_causal", lambda q, k, v: sdpa(q, k, v, is_causal=True), f(2, 4, 5, 8), K, V)
case("sdpa_causal_short", lambda q, k, v: sdpa(q, k, v, is_causal=True), Q, K, V)
case("sdpa_bool_mask", lambda q, k, v, m: sdpa(q, k, v, m), Q, K, V, torch.tensor([[1, 1, 0, 0, 1], [0, 1, 1, 1, 1], [1, 0, 0, 0, 0]], dtype=torch.bool))
case("sdpa_bool_mask_empty_row", lambda q, k, v, m: sdpa(q, k, v, m), Q, K, V, torch.tensor([[1, 1, 0, 0, 1], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]], dtype=torch.bool))
case("sdpa_bool_mask_heads", lambda q, k, v, m: sdpa(q, k, v, m), Q, K, V, mask(2, 1, 3, 5) | (torch.arange(5) == 2))
case("sdpa_float_mask", lambda q, k, v, m: sdpa(q, k, v, m), Q, K, V, f(2, 4, 3, 5))
case("sdpa_float_mask_infinite", lambda q, k, v, m: sdpa(q, k, v, m), Q, K, V, torch.where(mask(3, 5) | (torch.arange(5) == 2), 0.0, -float("inf")))
case("sdpa_scale", lambda q, k, v: sdpa(q, k, v, scale=0.3), Q, K, V)
case("sdpa_groups", lambda q, k, v: sdpa(q, k, v, enable_gqa=True), f(2, 4, 3, 8), f(2, 2, 5, 8), f(2, 2, 5, 8))
case("sdpa_rank3", sdpa, f(2, 3, 8), f(2, 5, 8), f(2, 5, 8))
case("sdpa_dropout_all", lambda q, k, v: sdpa(q, k, v, dropout_p=1.0, is_causal=True), Q, K, V)
case("sdpa_rank2", sdpa, f(3, 8), f(5, 8), f(5, 8))
case("sdpa_rank5", sdpa, f(2, 1, 2, 3, 8), f(2, 1, 2, 5, 8), f(2, 1, 2, 5, 8))
case("sdpa_bf16", lambda q, k, v: sdpa(q, k, v, is_causal=True), *(f(1, 2, 4, 8, dtype=torch.bfloat16) for _ in range(3)))
case("attention_by_hand", lambda q, k, v, m: torch.softmax((q @ k.mT / 8 ** 0.5).masked_fill(~m, float("-inf")), -1) @ v, Q, K, V, torch.ones(3, 5, dtype=torch.bool).tril(2))

# Pooling.
for rank, shape in ((1, (2, 3, 9)), (2, (2, 3, 7, 8)), (3, (1, 2, 5, 6, 5))):
    largest, average = getattr(F, f"max_pool{rank}d"), getattr(F, f"avg_pool{rank}d")
    case(f"max_pool{rank}d", lambda x, pool=largest: pool(x, 2), f(*shape))
    case(f"max_pool{rank}d_stride_pad", lambda x, pool=largest: pool(x, 3, 2, 1), f(*shape))
    case(f"max_pool{rank}d_ceil", lambda x, pool=largest: pool(x, 3, 2, 1, ceil_mode=True), f(*shape))
    case(f"max_pool{rank}d_dilation", lambda x, pool=largest: pool(x, 2, 1, 0, 2), f(*shape))
    case(f"max_pool{rank}d_indices", lambda x, pool=largest: pool(x, 2, 2, return_indices=True), f(*shape))
    case(f"avg_pool{rank}d", lambda x, pool=average: pool(x, 2), f(*shape))
    case(f"avg_pool{rank}d_pad", lambda x, pool=average: pool(x, 3, 2, 1), f(*shape))
    case(f"avg_pool{rank}d_exclude", lambda x, pool=average: pool(x, 3, 2, 1, count_include_pad=False), f(*shape))
    case(f"avg_pool{rank}d_ceil", lambda x, pool=average: pool(x, 3, 2, 1, ceil_mode=True), f(*shape))
    case(f"adaptive_avg_pool{rank}d_one", lambda x, rank=rank: getattr(F, f"adaptive_avg_pool{rank}d")(x, 1), f(*shape))
    case(f"adaptive_avg_pool{rank}d", lambda x, rank=rank: getattr(F, f"adaptive_avg_pool{rank}d")(x, 4), f(*shape))
    case(f"adaptive_max_pool{rank}d", lambda x, rank=rank: getattr(F, f"adaptive_max_pool{rank}d")(x, 3), f(*shape))
case("avg_pool2d_divisor", lambda x: F.avg_pool2d(x, 2, divisor_override=3), f(1, 2, 4, 4))
case("max_pool2d_unbatched", lambda x: F.max_pool2d(x, (2, 1), (1, 2)), f(3, 5, 6))
case("max_pool2d_core", lambda x: aten.max_pool2d_with_indices.default(x, [3, 3], [2, 2], [1, 1], [1, 1], True), f(1, 2, 6, 7))
case("max_pool2d_int", lambda x: F.max_pool2d(x, 2), i(1, 2, 4, 4))
case("lp_pool2d", lambda x: F.lp_pool2d(x, 2, 2), positive(1, 2, 4, 4))
case("adaptive_avg_pool2d_core", lambda x: aten._adaptive_avg_pool2d.default(x, [3, 2]), f(1, 2, 5, 4))
case("adaptive_avg_pool3d_core", lambda x: aten._adaptive_avg_pool3d.default(x, [3, 2, 1]), f(1, 2, 5, 4, 3))

# Padding.
for mode in "reflect replicate circular".split():
    case(f"pad_{mode}_1d", lambda x, mode=mode: F.pad(x, (2, 1), mode=mode), f(1, 2, 5))
    case(f"pad_{mode}_2d", lambda x, mode=mode: F.pad(x, (2, 1, 0, 3), mode=mode), f(1, 2, 4, 5))
    case(f"pad_{mode}_3d", lambda x, mode=mode: F.pad(x, (1, 1, 0, 2, 1, 0), mode=mode), f(1, 1, 3, 4, 3))
case("pad", lambda x: F.pad(x, (1, 2), value=0.5), f(2, 3))
case("pad_two", lambda x: F.pad(x, (1, 0, 0, 2)), f(2, 3))
case("pad_negative", lambda x: F.pad(x, (-1, 2)), f(2, 3))
case("pad_int", lambda x: F.pad(x, (1, 1), value=-100), i(2, 3))
case("pad_bool", lambda x: F.pad(x, (0, 1), value=False), mask(2, 3))

# Resizing.
SIZES = {"nearest": (1, 2, 3), "linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "nearest-exact": (1, 2), "area": 2}
for mode, ranks in SIZES.items():
    for rank in (ranks if isinstance(ranks, tuple) else (ranks,)):
        shape, name = (1, 2, 5, 4, 3)[:rank + 2], mode.replace("-", "_")
        case(f"interpolate_{name}_{rank}d_size", lambda x, mode=mode, rank=rank: F.interpolate(x, size=(7, 8, 2)[:rank], mode=mode), f(*shape))
        case(f"interpolate_{name}_{rank}d_scale", lambda x, mode=mode: F.interpolate(x, scale_factor=2, mode=mode), f(*shape))
        if mode.endswith("linear") or mode == "bicubic":
            case(f"interpolate_{name}_{rank}d_corners", lambda x, mode=mode: F.interpolate(x, scale_factor=2, mode=mode, align_corners=True), f(*shape))
            case(f"interpolate_{name}_{rank}d_odd_scale", lambda x, mode=mode: F.interpolate(x, scale_factor=1.7, mode=mode), f(*shape))
case("interpolate_recompute", lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True), f(1, 2, 5, 4))
case("interpolate_antialias", lambda x: F.interpolate(x, size=(3, 2), mode="bilinear", antialias=True), f(1, 2, 6, 5))
case("interpolate_down", lambda x: F.interpolate(x, size=(2, 3), mode="bilinear"), f(1, 2, 5, 7))
case("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), f(1, 2, 4, 5), torch.rand(1, 3, 3, 2) * 2.4 - 1.2)
case("grid_sample_border", lambda x, g: F.grid_sample(x, g, padding_mode="border", align_corners=True), f(1, 2, 4, 5), torch.rand(1, 3, 3, 2) * 2.4 - 1.2)
case("grid_sample_nearest", lambda x, g: F.grid_sample(x, g, mode="nearest", align_corners=False), f(1, 2, 4, 5), torch.rand(1, 3, 3, 2) * 2.4 - 1.2)
case("affine_grid", lambda t: F.affine_grid(t, (1, 1, 2, 3), align_corners=False), f(1, 2, 3))

# What the backward passes of the core set compute.
case("avg_pool2d_backward", lambda g, x: aten.avg_pool2d_backward.default(g, x, [2, 2], [2, 2], [0, 0], False, True, None), f(1, 2, 2, 2), f(1, 2, 4, 4))
case("adaptive_avg_pool2d_backward", lambda g, x: aten._adaptive_avg_pool2d_backward.default(g, x), f(1, 2, 2, 2), f(1, 2, 4, 4))
case("max_pool2d_backward", lambda g, x: aten.max_pool2d_with_indices_backward.default(g, x, [2, 2], [2, 2], [0, 0], [1, 1], False, aten.max_pool2d_with_indices.default(x, [2, 2], [2, 2])[1]), f(1, 2, 2, 2), f(1, 2, 4, 4))
case("convolution_backward", lambda g, x, w: aten.convolution_backward.default(g, x, w, [3], [1], [1], [1], False, [0], 1, [True, True, True]), f(1, 3, 5), f(1, 2, 5), f(3, 2, 3))
case("convolution_backward_stride", lambda g, x, w: aten.convolution_backward.default(g, x, w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 2, [True, True, False])[:2], f(1, 4, 3, 3), f(1, 2, 6, 6), f(4, 1, 3, 3))
case("native_layer_norm_backward", lambda g, x, w, b: aten.native_layer_norm_backward.default(g, x, [4], *aten.native_layer_norm.default(x, [4], w, b, 1e-5)[1:], w, b, [True, True, True]), f(2, 3, 4), f(2, 3, 4), f(4), f(4))
case("native_group_norm_backward", lambda g, x, w: aten.native_group_norm_backward.default(g, x, *aten.native_group_norm.default(x, w, None, 2, 4, 3, 2, 1e-5)[1:], w, 2, 4, 3, 2, [True, True, True]), f(2, 4, 3), f(2, 4, 3), f(4))
case("embedding_dense_backward", lambda g, y: aten.embedding_dense_backward.default(g, y, 5, -1, False), f(2, 3, 4), i(2, 3, low=0, high=5))
case("fft_r2c", lambda x: torch.fft.rfft(x).abs(), f(2, 8))
case("fft_c2r", lambda x: torch.fft.irfft(torch.fft.rfft(x)), f(2, 8))


case("linalg_cross", lambda x, y: torch.linalg.cross(x, y), f(2, 3), f(2, 3))
case("linalg_cross_dim", lambda x, y: torch.linalg.cross(x, y, dim=0), f(3, 2), f(3, 1))
case("weight_norm", lambda v, g: torch._weight_norm(v, g, 0), f(3, 2, 4), f(3, 1, 1))
case("weight_norm_last", lambda v, g: torch._weight_norm(v, g, 2), f(3, 2, 4), f(1, 1, 4))
case("weight_norm_whole", lambda v, g: torch._weight_norm(v, g, -1), f(3, 2), f())

# Complex numbers inside.
pairs = lambda x: torch.view_as_complex(x.unflatten(-1, (-1, 2)))
apart = lambda z: torch.view_as_real(z).flatten(-2)
case("complex_rotary", lambda x, a: apart(pairs(x) * torch.polar(torch.ones_like(a), a)[None, :, None]), f(2, 3, 2, 4), f(3, 2))
case("complex_views", lambda x: apart(pairs(x)[:, 1:].transpose(0, 1).unsqueeze(1).expand(2, 3, 2)), f(2, 6))
case("complex_parts", lambda x, y: torch.complex(x, y).real * 2 + torch.complex(x, y).imag + torch.complex(x, y).abs(), f(2, 3), f(2, 3))
case("complex_scaled", lambda x, y: apart((pairs(x) * 0.5 + pairs(y)) * x[:, :2] / 3 - pairs(y).clone()), f(2, 4), f(2, 4))

# Recurrent networks.
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def recurrent(name, kind, layers=1, directions=1, biases=True, projected=0, batch_first=False, train=False):
    """Three features become two; a sequence of three for two of the batch; weights are parameters of the call.
    In training all is dropped between layers."""
    rows, given, weights = 2 * GATES[kind], projected or 2, []
    for layer in range(layers):
        for _ in range(directions):
            weights += [f(rows, directions * given if layer else 3) / 4, f(rows, given) / 4]
            weights += [f(rows), f(rows)] if biases else []
            weights += [f(projected, 2)] if projected else []
    cells = [f(layers * directions, 2, 2)] if kind == "lstm" else []

    def run(x, hidden):
        state = [hidden, *cells] if cells else hidden
        return getattr(torch, kind)(x, state, weights, biases, layers, 1.0 if train else 0.5, train, directions == 2, batch_first)

    case(name, run, f(*((2, 3) if batch_first else (3, 2)), 3), f(layers * directions, 2, given))


for kind in GATES:
    recurrent(kind, kind)
    recurrent(f"{kind}_deep", kind, layers=2, directions=2, batch_first=True)
    recurrent(f"{kind}_free", kind, biases=False)
recurrent("lstm_projected", "lstm", layers=2, directions=2, projected=1)
recurrent("lstm_dropout", "lstm", layers=3, train=True)  # all of it, which chance does not change
case("lstm_cell", lambda x, h, c, w, u: torch.lstm_cell(x, [h, c], w, u), f(2, 3), f(2, 2), f(2, 2), f(8, 3), f(8, 2))
for kind in ("gru", "rnn_tanh", "rnn_relu"):
    rows, cell = 2 * GATES[kind], getattr(torch, f"{kind}_cell")
    case(f"{kind}_cell", lambda x, h, w, u, b, cell=cell: cell(x, h, w, u, b, b * 2), f(2, 3), f(2, 2), f(rows, 3), f(rows, 2), f(rows))
