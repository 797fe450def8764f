"""Activation functions and losses."""
import torch
import torch.nn.functional as F

from .common import case, f, i, positive

aten = torch.ops.aten

for name in ("celu elu gelu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu relu6 selu sigmoid silu softplus "
             "softsign tanh tanhshrink hardshrink softshrink").split():
    case(f"nn_{name}", getattr(F, name), f(2, 7) * 3)
case("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), f(2, 5))
case("leaky_relu_slope", lambda x: F.leaky_relu(x, 0.3), f(2, 5))
case("elu_alpha", lambda x: F.elu(x, 0.7), f(2, 5))
case("elu_scales", lambda x: aten.elu.default(x, 0.7, 1.5, 0.5), f(2, 5))
case("celu_alpha", lambda x: F.celu(x, 0.7), f(2, 5))
case("hardtanh_bounds", lambda x: F.hardtanh(x, -0.2, 0.9), f(2, 5))
case("softplus_beta", lambda x: F.softplus(x, beta=2, threshold=1), f(2, 5))
case("softplus_large", F.softplus, torch.tensor([-100.0, 0.0, 19.0, 21.0, 100.0]))
case("threshold", lambda x: F.threshold(x, 0.1, 20.0), f(2, 5))
case("hardshrink_lambda", lambda x: F.hardshrink(x, 0.3), f(2, 5))
case("softshrink_lambda", lambda x: F.softshrink(x, 0.3), f(2, 5))
case("prelu", lambda x, w: F.prelu(x, w), f(2, 3, 4), f(3))
case("prelu_one", lambda x, w: F.prelu(x, w), f(2, 3, 4), f(1))
case("rrelu_eval", lambda x: F.rrelu(x, training=False), f(2, 5))
case("glu", F.glu, f(2, 6))
case("glu_dim", lambda x: F.glu(x, 0), f(4, 3))
case("softmin", lambda x: F.softmin(x, 1), f(2, 5))
case("dropout_eval", lambda x: F.dropout(x, 0.5, training=False), f(2, 5))
case("dropout2d_eval", lambda x: F.dropout2d(x, 0.5, training=False), f(1, 2, 2, 2))
case("native_dropout_eval", lambda x: aten.native_dropout.default(x, 0.5, False), f(2, 5))
case("alpha_dropout_eval", lambda x: F.alpha_dropout(x, 0.5, training=False), f(2, 5))
case("silu_bf16", F.silu, f(2, 5, dtype=torch.bfloat16))

for dim in (0, 1, -1):
    case(f"softmax_dim{dim}", lambda x, dim=dim: F.softmax(x, dim), f(2, 3, 4))
    case(f"log_softmax_dim{dim}", lambda x, dim=dim: F.log_softmax(x, dim), f(2, 3, 4))
case("softmax_large", lambda x: F.softmax(x, -1), torch.tensor([[1000.0, 1001.0], [-1000.0, -999.0]]))
case("softmax_infinite", lambda x: F.softmax(x, -1), torch.tensor([[0.0, -float("inf")], [-float("inf"), -float("inf")]]))
case("softmax_dtype", lambda x: F.softmax(x, -1, dtype=torch.float32), f(2, 3, dtype=torch.bfloat16))
case("log_softmax_dtype", lambda x: F.log_softmax(x, -1, dtype=torch.float64), f(2, 3))
case("softmax_f16", lambda x: F.softmax(x, -1), f(2, 3, dtype=torch.float16))
case("softmax_scalar", lambda x: F.softmax(x, 0), f())
case("softmax_core", lambda x: aten._softmax.default(x, 1, False), f(2, 3))
case("log_softmax_core", lambda x: aten._log_softmax.default(x, 1, False), f(2, 3))

# Losses.
LABELS = i(4, low=0, high=5)
for reduction in "mean sum none".split():
    case(f"cross_entropy_{reduction}", lambda x, y, r=reduction: F.cross_entropy(x, y, reduction=r), f(4, 5), LABELS)
    case(f"nll_loss_{reduction}", lambda x, y, r=reduction: F.nll_loss(F.log_softmax(x, 1), y, reduction=r), f(4, 5), LABELS)
    case(f"mse_loss_{reduction}", lambda x, y, r=reduction: F.mse_loss(x, y, reduction=r), f(4, 5), f(4, 5))
    case(f"l1_loss_{reduction}", lambda x, y, r=reduction: F.l1_loss(x, y, reduction=r), f(4, 5), f(4, 5))
    case(f"smooth_l1_loss_{reduction}", lambda x, y, r=reduction: F.smooth_l1_loss(x, y, reduction=r, beta=0.7), f(4, 5), f(4, 5))
    case(f"huber_loss_{reduction}", lambda x, y, r=reduction: F.huber_loss(x, y, reduction=r, delta=0.7), f(4, 5), f(4, 5))
    case(f"kl_div_{reduction}", lambda x, y, r=reduction: F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction=r), f(4, 5), f(4, 5))
    case(f"bce_{reduction}", lambda x, y, r=reduction: F.binary_cross_entropy(torch.sigmoid(x), y, reduction=r), f(4, 5), torch.rand(4, 5))
    case(f"bce_logits_{reduction}", lambda x, y, r=reduction: F.binary_cross_entropy_with_logits(x, y, reduction=r), f(4, 5), torch.rand(4, 5))
case("cross_entropy_ignore", F.cross_entropy, f(4, 5), torch.tensor([0, -100, 4, -100]))
case("cross_entropy_ignore_index", lambda x, y: F.cross_entropy(x, y, ignore_index=2), f(4, 5), torch.tensor([0, 2, 4, 1]))
case("cross_entropy_weight", lambda x, y, w: F.cross_entropy(x, y, weight=w), f(4, 5), LABELS, positive(5))
case("cross_entropy_smoothing", lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), f(4, 5), LABELS)
case("cross_entropy_spatial", F.cross_entropy, f(2, 5, 3), i(2, 3, low=0, high=5))
case("cross_entropy_images", F.cross_entropy, f(2, 5, 2, 3), i(2, 2, 3, low=0, high=5))
case("cross_entropy_probabilities", lambda x, y: F.cross_entropy(x, F.softmax(y, 1)), f(4, 5), f(4, 5))
case("cross_entropy_one", F.cross_entropy, f(5), torch.tensor(3))
case("nll_loss_weight", lambda x, y, w: F.nll_loss(x, y, weight=w, reduction="sum"), f(4, 5), LABELS, positive(5))
case("bce_weight", lambda x, y, w: F.binary_cross_entropy(torch.sigmoid(x), y, weight=w), f(4, 5), torch.rand(4, 5), positive(5))
case("bce_logits_positive", lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, pos_weight=w), f(4, 5), torch.rand(4, 5), positive(5))
case("kl_div_log_target", lambda x, y: F.kl_div(F.log_softmax(x, 1), F.log_softmax(y, 1), reduction="sum", log_target=True), f(4, 5), f(4, 5))
case("cosine_similarity", F.cosine_similarity, f(4, 5), f(4, 5))
case("cosine_similarity_dim", lambda x, y: F.cosine_similarity(x, y, dim=0), f(4, 5), f(4, 5))
case("pairwise_distance", F.pairwise_distance, f(4, 5), f(4, 5))
case("triplet_margin", F.triplet_margin_loss, f(4, 5), f(4, 5), f(4, 5))
case("margin_ranking", F.margin_ranking_loss, f(4), f(4), torch.tensor([1.0, -1, 1, -1]))
case("hinge_embedding", F.hinge_embedding_loss, f(4), torch.tensor([1.0, -1, 1, -1]))
case("poisson_nll", F.poisson_nll_loss, f(4), positive(4))
case("gaussian_nll", F.gaussian_nll_loss, f(4), f(4), positive(4))
case("soft_margin", F.soft_margin_loss, f(4), torch.tensor([1.0, -1, 1, -1]))
