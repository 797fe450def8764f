"""What the case lists are made of: `case(NAME, FUNCTION, TENSOR…)` and makers of small tensors."""
import torch

CASES = {}
FLOATS = {"f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}


def case(name, function, *inputs):
    """Exported as a module whose `forward` calls `function` on inputs; the tensors are the recorded inputs."""
    assert name not in CASES, name
    CASES[name] = (function, inputs)


def f(*shape, dtype=torch.float32):
    """Few bits a number: they are exact in every type, and compress."""
    return (torch.randn(shape) * 16).round().div(16).to(dtype)


def positive(*shape):
    return torch.randint(4, 20, shape) / 16


def unit(*shape):
    """In (-1, 1)."""
    return torch.randint(-14, 15, shape) / 16


def i(*shape, low=-5, high=6, dtype=torch.int64):
    return torch.randint(low, high, shape, dtype=dtype)


def mask(*shape):
    return torch.rand(shape) < 0.5
