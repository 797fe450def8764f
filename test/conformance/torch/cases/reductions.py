"""Reductions, scans, and what is ordered by values."""
import torch

from .common import case, f, i, mask, positive

aten = torch.ops.aten

for name in "sum mean amax amin prod std var logsumexp".split():
    function = getattr(torch, name)
    if name not in ("logsumexp", "prod"):
        case(f"{name}_all", lambda x, function=function: function(x), f(2, 3))
        case(f"{name}_dims", lambda x, function=function: function(x, (0, -1)), f(2, 3, 4))
        case(f"{name}_dims_keep", lambda x, function=function: function(x, (0, 2), keepdim=True), f(2, 3, 4))
    case(f"{name}_dim", lambda x, function=function: function(x, 1), f(2, 3, 4))
    case(f"{name}_keep", lambda x, function=function: function(x, -1, keepdim=True), f(2, 3, 4))
    case(f"{name}_f16", lambda x, function=function: function(x, -1), f(2, 8, dtype=torch.float16))
case("logsumexp_dims", lambda x: torch.logsumexp(x, (0, 1)), f(2, 3))
case("logsumexp_infinite", lambda x: torch.logsumexp(x, 1), torch.tensor([[-float("inf")] * 2, [0.0, float("inf")]]))
case("prod_all", torch.prod, f(2, 3))
for name in "sum prod cumsum cumprod".split():  # integers and bools are summed as int64
    function = getattr(torch, name)
    case(f"{name}_i32", lambda x, function=function: function(x, 1), i(2, 3, dtype=torch.int32))
    case(f"{name}_bool", lambda x, function=function: function(x, 1), mask(2, 3))
    case(f"{name}_dtype", lambda x, function=function: function(x, 1, dtype=torch.float64), f(2, 3))
case("sum_bool_all", torch.sum, mask(2, 3))
case("sum_empty_dims", lambda x: x.sum(()), f(2, 3))
case("mean_dtype", lambda x: torch.mean(x, 1, dtype=torch.float32), i(2, 3))
case("mean_bf16", lambda x: torch.mean(x, -1), f(2, 8, dtype=torch.bfloat16))
case("var_biased", lambda x: torch.var(x, 1, unbiased=False), f(2, 3))
case("var_correction", lambda x: torch.var(x, (0, 1), correction=2), f(2, 3))
case("var_dim_overload", lambda x: aten.var.dim(x, [1], True, True), f(2, 3))
case("std_biased", lambda x: torch.std(x, 1, correction=0, keepdim=True), f(2, 3))
case("var_mean", lambda x: torch.var_mean(x, 1), f(2, 3))
case("std_mean", lambda x: torch.std_mean(x, 1, correction=0), f(2, 3))
case("amax_int", lambda x: torch.amax(x, 1), i(2, 3))
case("amax_nan", lambda x: torch.amax(x, 1), torch.tensor([[1.0, float("nan")], [1.0, 2.0]]))
case("aminmax", lambda x: torch.aminmax(x, dim=1), f(2, 3))
case("nansum", torch.nansum, torch.tensor([1.0, float("nan"), 2.0]))
case("nanmean", torch.nanmean, torch.tensor([1.0, float("nan"), 2.0]))
case("count_nonzero", lambda x: torch.count_nonzero(x, 1), i(2, 5, low=-1, high=2))
for name in "any all".split():
    function = getattr(torch, name)
    case(f"{name}_all", function, mask(2, 3))
    case(f"{name}_dim", lambda x, function=function: function(x, 1), mask(2, 3))
    case(f"{name}_dims", lambda x, function=function: function(x, (0, 1)), mask(2, 3, 2))
    case(f"{name}_int", lambda x, function=function: function(x, 1, keepdim=True), i(3, 2, low=0, high=2))
    case(f"{name}_float", function, f(2, 3))
case("equal_reduced", lambda x, y: (x == y).all(), i(3), i(3))

# Norms.
case("norm", torch.norm, f(2, 3))
for p in (0, 1, 2, 3, float("inf"), -float("inf"), 0.5):
    case(f"vector_norm_{p}", lambda x, p=p: torch.linalg.vector_norm(x, p, dim=1), f(2, 3))
case("vector_norm_all", torch.linalg.vector_norm, f(2, 3))
case("vector_norm_keep", lambda x: torch.linalg.vector_norm(x, 2, (0, 2), True), f(2, 3, 2))
case("norm_dim", lambda x: torch.norm(x, 2, 1, keepdim=True), f(2, 3))
case("matrix_norm", torch.linalg.matrix_norm, f(2, 3))
case("normalize", lambda x: torch.nn.functional.normalize(x, dim=-1), f(2, 3))
case("normalize_p1", lambda x: torch.nn.functional.normalize(x, p=1.0, dim=0), f(2, 3))
case("dist", torch.dist, f(4), f(4))
case("cdist", torch.cdist, f(3, 4), f(2, 4))
case("cdist_p1", lambda x, y: torch.cdist(x, y, p=1.0), f(2, 3, 4), f(2, 2, 4))
case("pdist", torch.pdist, f(4, 3))

# Positions.
for name in "max min".split():
    function = getattr(torch, name)
    case(f"{name}_values", function, f(2, 3))
    case(f"{name}_dim", lambda x, function=function: function(x, 1), f(2, 3))
    case(f"{name}_dim_keep", lambda x, function=function: function(x, 0, keepdim=True), i(3, 4, low=0, high=100))
    case(f"{name}_other", function, f(2, 3), f(3))
    case(f"arg{name}", lambda x, name=name: getattr(torch, f"arg{name}")(x, 1), f(2, 5))
    case(f"arg{name}_all", lambda x, name=name: getattr(torch, f"arg{name}")(x), f(2, 5))
    case(f"arg{name}_keep", lambda x, name=name: getattr(torch, f"arg{name}")(x, -1, keepdim=True), f(2, 5))
case("argmax_ties", lambda x: torch.argmax(x, 0), torch.tensor([1, 3, 3, 2]))
case("max_ties", lambda x: torch.max(x, 0), torch.tensor([1.0, 3.0, 3.0, 2.0]))
case("argmax_nan", lambda x: torch.argmax(x, 0), torch.tensor([1.0, float("nan"), 3.0]))

# Order.
case("sort", torch.sort, f(2, 5))
case("sort_descending", lambda x: torch.sort(x, dim=0, descending=True), f(5, 2))
case("sort_stable", lambda x: torch.sort(x, stable=True), i(2, 8, low=0, high=3))
case("sort_stable_descending", lambda x: torch.sort(x, stable=True, descending=True), i(2, 8, low=0, high=3))
case("sort_int", lambda x: torch.sort(x)[0], i(7))
case("sort_nan", lambda x: torch.sort(x), torch.tensor([2.0, float("nan"), -1.0, float("inf")]))
case("argsort", lambda x: torch.argsort(x, dim=1), f(2, 5))
case("argsort_descending", lambda x: torch.argsort(x, dim=-1, descending=True), f(2, 5))
case("msort", torch.msort, f(5, 2))
case("topk", lambda x: torch.topk(x, 3), f(2, 6))
case("topk_smallest", lambda x: torch.topk(x, 2, dim=0, largest=False), f(5, 2))
case("topk_one", lambda x: torch.topk(x, 1, dim=-1), f(2, 6))
case("topk_all", lambda x: torch.topk(x, 4, dim=-1)[1], f(2, 4))
case("topk_int", lambda x: torch.topk(x, 2)[0], i(2, 6, low=0, high=100))
case("kthvalue", lambda x: torch.kthvalue(x, 2, 1), f(2, 5))
case("median", lambda x: torch.median(x, 1), f(2, 5))
case("median_all", torch.median, f(2, 4))
case("quantile", lambda x: torch.quantile(x, 0.3, dim=1), f(2, 5))

# Scans.
case("cumsum", lambda x: torch.cumsum(x, 1), f(2, 5))
case("cumsum_first", lambda x: torch.cumsum(x, 0), f(3, 2))
case("cumprod", lambda x: torch.cumprod(x, 1), f(2, 5))
case("cummax", lambda x: torch.cummax(x, 1), f(2, 5))
case("cummin", lambda x: torch.cummin(x, 1), f(2, 5))
case("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), f(2, 5))
case("histc", lambda x: torch.histc(x, bins=4, min=0, max=3), i(12, low=-1, high=5).float())
case("histc_parts", lambda x: torch.histc(x, bins=5, min=-1, max=1), f(20))
case("diff", torch.diff, f(2, 5))
case("trapezoid", torch.trapezoid, f(5))
