"""The models of the large folders (make_weights.py), written in JAX: what the benchmarks hold Weft against. Weights are random.

make(NAME) gives a function of (weights, input) and its weights.
"""
import jax
import jax.numpy as jnp
import numpy
from jax import lax


class Weights:
    """Draws weights by name, so that a function can be traced once to find what it wants."""

    def __init__(self):
        self.random, self.values = numpy.random.default_rng(0), {}

    def __call__(self, name, *shape):
        if name not in self.values:
            with jax.ensure_compile_time_eval():
                self.values[name] = jnp.asarray(self.random.standard_normal(shape, numpy.float32) * numpy.float32(0.02))
        return self.values[name]


class Given:
    def __init__(self, values):
        self.values = values

    def __call__(self, name, *_):
        return self.values[name]


def layer_norm(w, name, x):
    y = x - x.mean(-1, keepdims=True)
    return y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5) * (1 + w(name + ".scale", x.shape[-1])) + w(name + ".bias", x.shape[-1])


def rms_norm(w, name, x):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * (1 + w(name, x.shape[-1]))


def linear(w, name, x, size, bias=True):
    y = x @ w(name + ".weight", x.shape[-1], size)
    return y + w(name + ".bias", size) if bias else y


def attend(q, k, v, causal):
    """[batch, position, head, feature]."""
    return jax.nn.dot_product_attention(q, k, v, is_causal=causal)


def block(w, name, x, heads, first, causal, approximate):
    def mix(x):
        b, s, size = x.shape
        q, k, v = jnp.split(linear(w, name + ".qkv", x, 3 * size).reshape(b, s, 3 * heads, -1), 3, 2)
        return linear(w, name + ".out", attend(q, k, v, causal).reshape(b, s, size), size)

    def spread(x):
        size = x.shape[-1]
        return linear(w, name + ".down", jax.nn.gelu(linear(w, name + ".up", x, 4 * size), approximate=approximate), size)

    if first:
        x = x + mix(layer_norm(w, name + ".norm1", x))
        return x + spread(layer_norm(w, name + ".norm2", x))
    x = layer_norm(w, name + ".norm1", x + mix(x))
    return layer_norm(w, name + ".norm2", x + spread(x))


def gpt2(w, ids):
    table = w("tokens", 50257, 768)
    x = table[ids] + w("positions", 1024, 768)[: ids.shape[1]]
    for layer in range(12):
        x = block(w, f"h{layer}", x, 12, True, True, True)
    return layer_norm(w, "norm", x) @ table.T


def bert(w, ids):
    table = w("tokens", 30522, 768)
    x = layer_norm(w, "norm", table[ids] + w("positions", 512, 768)[: ids.shape[1]])
    for layer in range(12):
        x = block(w, f"h{layer}", x, 12, False, False, False)
    x = layer_norm(w, "norm2", jax.nn.gelu(linear(w, "transform", x, 768), approximate=False))
    return x @ table.T + w("bias", 30522)


def vit(w, pixels):
    b = pixels.shape[0]
    x = pixels.reshape(b, 3, 14, 16, 14, 16).transpose(0, 2, 4, 1, 3, 5).reshape(b, 196, 768)
    x = linear(w, "patches", x, 768)
    x = jnp.concatenate([jnp.broadcast_to(w("token", 1, 1, 768), (b, 1, 768)), x], 1) + w("positions", 1, 197, 768)
    for layer in range(12):
        x = block(w, f"h{layer}", x, 12, True, False, False)
    return linear(w, "head", layer_norm(w, "norm", x)[:, 0], 1000)


def llama(w, ids):
    x, (b, s) = w("tokens", 32000, 2048)[ids], ids.shape
    angles = jnp.tile(jnp.outer(jnp.arange(s), 1e4 ** (-jnp.arange(0, 64, 2) / 64)), 2)[:, None]

    def rotate(x):
        low, high = jnp.split(x, 2, -1)
        return x * jnp.cos(angles) + jnp.concatenate([-high, low], -1) * jnp.sin(angles)

    for layer in range(22):
        name, y = f"h{layer}", rms_norm(w, f"h{layer}.norm1", x)
        q, k, v = (linear(w, f"{name}.{part}", y, 64 * heads, False).reshape(b, s, heads, 64) for part, heads in (("q", 32), ("k", 4), ("v", 4)))
        x = x + linear(w, name + ".out", attend(rotate(q), rotate(k), v, True).reshape(b, s, 2048), 2048, False)
        y = rms_norm(w, name + ".norm2", x)
        y = jax.nn.silu(linear(w, name + ".gate", y, 5632, False)) * linear(w, name + ".up", y, 5632, False)
        x = x + linear(w, name + ".down", y, 2048, False)
    return linear(w, "head", rms_norm(w, "norm", x), 32000, False)


def convolve(w, name, x, outputs, window, stride, activate=True):
    """A convolution and the normalisation behind it by stored statistics, channels first as the others have them."""
    x = lax.conv_general_dilated(x, w(name, outputs, x.shape[1], window, window), (stride, stride), [(window // 2, window // 2)] * 2)
    x = x * (1 + w(name + ".scale", outputs, 1, 1)) + w(name + ".shift", outputs, 1, 1)
    return jax.nn.relu(x) if activate else x


def resnet(w, pixels):
    x = convolve(w, "stem", pixels, 64, 7, 2)
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (1, 1)])
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for index in range(blocks):
            name, stride = f"s{stage}b{index}", 2 if stage and index == 0 else 1
            short = convolve(w, name + ".short", x, 4 * width, 1, stride, False) if index == 0 else x
            y = convolve(w, name + ".1", x, width, 1, 1)
            y = convolve(w, name + ".2", y, width, 3, stride)
            x = jax.nn.relu(convolve(w, name + ".3", y, 4 * width, 1, 1, False) + short)
    return linear(w, "head", x.mean((2, 3)), 1000)


def make(name, example):
    """A compiled function of (weights, input), and weights for an input like the example."""
    model, weights = globals()[name], Weights()
    jax.eval_shape(lambda x: model(weights, x), example)
    return jax.jit(lambda values, x: model(Given(values), x)), weights.values
