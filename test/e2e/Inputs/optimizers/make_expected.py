"""make_expected.py: weights.bin, weights_bf16.bin, weights_f16.bin, data.npz and expected.npz, by torch and, for LAMB and learning rates, optax.

expected.npz holds for each configuration NAME the losses of its steps as NAME/loss, and each parameter behind the last as NAME/PARAMETER;
gradients of the first step, before clipping, are NAME/grad:PARAMETER. Narrow models compute in their type; their gradients update copies of f32,
which the parameters are rounded from.
"""
import pathlib

import jax
import numpy
import optax
import torch
from configurations import CONFIGURATIONS, STEPS

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = {"up.weight": (5, 6), "up.bias": (5,), "down.weight": (7, 5)}
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def make_inputs():
    generator = torch.Generator().manual_seed(7)
    weights = {name: torch.randn(shape, generator=generator) * 0.5 for name, shape in SHAPES.items()}
    for dtype, suffix in (("f32", ""), ("bf16", "_bf16"), ("f16", "_f16")):
        data = b"".join(value.to(TYPES[dtype]).view(torch.uint8).numpy().tobytes() for value in weights.values())
        (HERE / f"weights{suffix}.bin").write_bytes(data)
    labels = torch.randint(0, 7, (STEPS, 4), generator=generator)
    labels[1, 2] = labels[3, 0] = labels[3, 1] = -100
    data = {"x": torch.randn((STEPS, 4, 6), generator=generator), "labels": labels, "targets": torch.rand((STEPS, 4, 7), generator=generator)}
    numpy.savez(HERE / "data.npz", **{name: value.numpy() for name, value in data.items()})
    return weights, data


def compute_loss(configuration, weights, data, step):
    x = data["x"][step].to(weights["up.weight"].dtype)
    logits = torch.tanh(x @ weights["up.weight"].T + weights["up.bias"]) @ weights["down.weight"].T
    logits = logits.float()
    if configuration.loss == "cross_entropy":
        return torch.nn.functional.cross_entropy(logits, data["labels"][step], ignore_index=-100)
    if configuration.loss == "mse":
        return torch.nn.functional.mse_loss(logits, data["targets"][step])
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, data["targets"][step])


def make_rate(configuration, rate):
    if configuration.schedule is None:
        return lambda step: rate
    kind, warmup, total = configuration.schedule
    rest = optax.schedules.constant_schedule(rate)
    if kind == "linear":
        rest = optax.schedules.linear_schedule(rate, 0.0, total - warmup)
    if kind == "cosine":
        rest = optax.schedules.cosine_decay_schedule(rate, total - warmup)
    return optax.schedules.join_schedules([optax.schedules.linear_schedule(0.0, rate, warmup), rest], [warmup])


class TorchUpdate:
    def __init__(self, configuration, masters):
        kind = getattr(torch.optim, configuration.optimizer)
        decayed = [masters[name] for name in masters if name not in configuration.no_decay]
        kept = [masters[name] for name in masters if name in configuration.no_decay]
        groups = [{"params": decayed}] + ([{"params": kept, "weight_decay": 0.0}] if kept else [])
        self.optimizer = kind(groups, **configuration.arguments)
        self.rate = make_rate(configuration, self.optimizer.param_groups[0]["lr"])

    def step(self, masters, number):
        for group in self.optimizer.param_groups:
            group["lr"] = float(self.rate(number))
        self.optimizer.step()


class OptaxUpdate:
    def __init__(self, configuration, masters):
        self.optimizer = optax.lamb(**configuration.arguments)
        self.state = self.optimizer.init({name: value.detach().numpy() for name, value in masters.items()})

    def step(self, masters, number):
        values = {name: jax.numpy.array(value.detach().numpy()) for name, value in masters.items()}
        gradients = {name: jax.numpy.array(value.grad.numpy()) for name, value in masters.items()}
        updates, self.state = self.optimizer.update(gradients, self.state, values)
        for name, value in optax.apply_updates(values, updates).items():
            masters[name].data.copy_(torch.from_numpy(numpy.array(value)))


def train(name, configuration, start, data, expected):
    dtype = TYPES[configuration.dtype]
    weights = {key: value.to(dtype).clone().requires_grad_(key in configuration.parameters) for key, value in start.items()}
    masters = {key: weights[key].detach().float().clone().requires_grad_() for key in configuration.parameters}
    update = (OptaxUpdate if configuration.optimizer == "lamb" else TorchUpdate)(configuration, masters)
    losses = []
    for step in range(STEPS):
        loss = compute_loss(configuration, weights, data, step)
        gradients = torch.autograd.grad(loss * (configuration.scale or 1.0), [weights[key] for key in masters])
        for key, gradient in zip(masters, gradients):
            masters[key].grad = gradient.float() / (configuration.scale or 1.0)
            if step == 0:
                expected[f"{name}/grad:{key}"] = masters[key].grad.numpy().copy()
        if configuration.clip:
            torch.nn.utils.clip_grad_norm_(masters.values(), configuration.clip)
        update.step(masters, step)
        losses.append(loss.item())
        for key, master in masters.items():
            weights[key].data.copy_(master.data.to(dtype))
    expected[f"{name}/loss"] = numpy.array(losses, numpy.float32)
    for key, master in masters.items():
        expected[f"{name}/{key}"] = master.detach().numpy()


def main():
    start, data = make_inputs()
    expected = {}
    for name, configuration in CONFIGURATIONS.items():
        train(name, configuration, start, data, expected)
    numpy.savez_compressed(HERE / "expected.npz", **expected)


if __name__ == "__main__":
    main()
