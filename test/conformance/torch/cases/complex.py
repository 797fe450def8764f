"""Programs of real numbers that compute with complex ones."""
import torch

from .common import case, f, i, mask, positive


def pairs(x):
    return torch.view_as_complex(x.unflatten(-1, (-1, 2)))


def apart(z):
    return torch.view_as_real(z).flatten(-2)


case("complex_cast", lambda x: apart(pairs(x).to(torch.complex64) * x[:, :2].to(torch.complex64)), f(2, 4))
case("complex_cast_wide", lambda x: apart(pairs(x).to(torch.complex128)), f(2, 4))
case("complex_cast_other", lambda x: apart(x[:, :2].type_as(pairs(x)) + x[:, :2].to(pairs(x))), f(2, 4))
case("complex_ones", lambda x: apart(torch.polar(torch.ones_like(x), x) * 1.0), f(2, 3))
case("complex_sums", lambda x, y: apart(pairs(x) + y - 2 * pairs(x).sub(y, alpha=2)), f(2, 4), f(2, 1))
case("complex_minus", lambda x, y: apart(y - pairs(x)), f(2, 4), f(2, 2))
case("complex_quotient", lambda x, y: apart(pairs(x) / pairs(y)), f(2, 4), positive(2, 4))
case("complex_of_real", lambda x, y: apart(y / pairs(x) + pairs(x).reciprocal()), positive(2, 4), f(2, 2))
case("complex_conjugate", lambda x: apart(pairs(x).conj() * pairs(x) + torch.conj_physical(pairs(x))), f(2, 4))
case("complex_exp", lambda x: apart(torch.exp(pairs(x))), f(2, 4))
case("complex_product", lambda x, y: apart(pairs(x) @ pairs(y)), f(2, 6), f(3, 4))
case("complex_product_of_real", lambda x, y: apart(pairs(x) @ y.to(torch.complex64)), f(2, 6), f(3, 2))
case("complex_joined", lambda x, y: apart(torch.cat([pairs(x), pairs(y)], 0)), f(2, 4), f(1, 4))
case("complex_stacked", lambda x: apart(torch.stack([pairs(x), -pairs(x)]).flip(0).roll(1, 1)), f(2, 4))
case("complex_reduced", lambda x: apart(pairs(x).sum(0) + pairs(x).mean(0)), f(2, 4))
case("complex_taken", lambda x, at: apart(pairs(x)[at].index_select(1, at)), f(4, 8), i(3, low=0, high=4))
case("complex_chosen", lambda x, m: apart(torch.where(m, pairs(x), pairs(x).conj())), f(2, 4), mask(2, 2))
case("complex_multiplied", lambda x: apart(torch.multiply(pairs(x), pairs(x))), f(2, 4))
