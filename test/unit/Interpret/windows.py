"""Windows by numpy: over inputs with fills between their elements and around them."""
import numpy as np


def dilated(x, spread, low, high, fill):
    """x with `spread` - 1 fills between its elements and `low` and `high` around them; negative padding takes away."""
    whole = np.full([(n - 1) * s + 1 for n, s in zip(x.shape, spread)], fill, x.dtype)
    whole[tuple(slice(None, None, s) for s in spread)] = x
    whole = np.pad(whole, [(max(a, 0), max(b, 0)) for a, b in zip(low, high)], constant_values=fill)
    return whole[tuple(slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, whole.shape))]


def windows(x, name, function, window, strides, dilations, low, high, spread):
    """Every window's elements joined."""
    limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
    ends = (-np.inf, np.inf) if x.dtype.kind == "f" else (limits.min, limits.max)
    whole = dilated(x, spread, low, high, {"sum": 0, "max": ends[0], "min": ends[1], "prod": 1}[name])
    view = np.lib.stride_tricks.sliding_window_view(whole, [(n - 1) * d + 1 for n, d in zip(window, dilations)])
    view = view[tuple(slice(None, None, s) for s in strides) + tuple(slice(None, None, d) for d in dilations)]
    return function(view.astype(x.dtype), axis=tuple(range(x.ndim, 2 * x.ndim)))


def convolution(x, w, groups, strides, dilations, low, high, spread):
    x = dilated(x, [1, 1, *spread], [0, 0, *low], [0, 0, *high], 0)
    reach = [dilations[i] * (w.shape[2 + i] - 1) + 1 for i in range(2)]
    size = [(x.shape[2 + i] - reach[i]) // strides[i] + 1 for i in range(2)]
    out = np.zeros((x.shape[0], w.shape[0], *size))
    outs, channels = w.shape[0] // groups, w.shape[1]
    for o, i, j in np.ndindex(w.shape[0], *size):
        group = o // outs
        block = x[:, group * channels:(group + 1) * channels,
                  i * strides[0]:i * strides[0] + reach[0]:dilations[0],
                  j * strides[1]:j * strides[1] + reach[1]:dilations[1]]
        out[:, o, i, j] = np.einsum("bcij,cij->b", block, w[o])
    return out


def convolution_kernel_gradient(x, g, shape, groups, strides, dilations, low, high, spread):
    """The sum over all positions, whose gradients are g, of the input under each element of a kernel of this shape."""
    result = np.zeros(shape)
    for index in np.ndindex(*shape):
        kernel = np.zeros(shape)
        kernel[index] = 1
        result[index] = (g * convolution(x, kernel, groups, strides, dilations, low, high, spread)).sum()
    return result
