#!/usr/bin/env python3
"""Makes the bundled models that keep state between steps anew, with PyTorch (written with torch 2.15).

make_states.py NAME…        all without names: a folder of states/ each

index_copy, index_put, slice_item, where     decoder steps whose key and value caches are written at a position that is an input
concat, roll                                 decoder steps over the last tokens: the caches slide
batch_norm                                   running statistics in training mode
counter                                      a count, a decayed mean, and a table of which a row is changed

states/NAME/model.pt2            by torch.export, as it is (changes in place) or, of those in DECOMPOSED, decomposed
states/NAME/steps.npz            inputs, stacked by step
states/NAME/outputs/output.npy   what PyTorch computes, stacked by step
states/NAME/after.safetensors    every state behind the last step
"""
import json
import math
import pathlib
import struct
import sys

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent / "states"
DECOMPOSED = {"index_put", "roll", "batch_norm"}
VOCABULARY, WIDTH, HEADS, GROUPS, LENGTH, BATCH, STEPS = 30, 32, 4, 2, 12, 2, 12
SIZE = WIDTH // HEADS


class Caches:
    """How the new key or value, [batch, groups, 1, size], gets into its cache, [batch, groups, length, size]."""

    def index_copy(cache, new, position):
        cache.index_copy_(2, position, new)
        return cache

    def index_put(cache, new, position):
        cache[:, :, position] = new
        return cache

    def slice_item(cache, new, position):
        at = position.item()
        torch._check(at >= 0)
        torch._check(at < LENGTH)
        cache[:, :, at : at + 1] = new
        return cache

    def where(cache, new, position):
        here = (torch.arange(LENGTH) == position).view(1, 1, LENGTH, 1)
        cache.copy_(torch.where(here, new, cache))
        return cache

    def concat(cache, new, position):
        cache.copy_(torch.cat([cache[:, :, 1:], new], dim=2))
        return cache

    def roll(cache, new, position):
        moved = torch.roll(cache, -1, 2)
        moved[:, :, -1:] = new
        cache.copy_(moved)
        return cache


class Decoder(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind, self.slides = kind, kind in ("concat", "roll")
        self.embed = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.norm = torch.nn.RMSNorm(WIDTH)
        self.q = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.k = torch.nn.Linear(WIDTH, GROUPS * SIZE, bias=False)
        self.v = torch.nn.Linear(WIDTH, GROUPS * SIZE, bias=False)
        self.o = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)
        for name in ("k_cache", "v_cache"):
            self.register_buffer(name, torch.zeros(BATCH, GROUPS, LENGTH, SIZE))

    def forward(self, token_ids, position):
        x = self.embed(token_ids)
        h = self.norm(x)
        put = getattr(Caches, self.kind)
        q = self.q(h).view(BATCH, 1, HEADS, SIZE).transpose(1, 2)
        k = put(self.k_cache, self.k(h).view(BATCH, 1, GROUPS, SIZE).transpose(1, 2), position)
        v = put(self.v_cache, self.v(h).view(BATCH, 1, GROUPS, SIZE).transpose(1, 2), position)
        first = LENGTH - 1 - position if self.slides else 0
        places = torch.arange(LENGTH)
        seen = places >= first if self.slides else places <= position
        k, v = (each.repeat_interleave(HEADS // GROUPS, dim=1) for each in (k, v))
        scores = q @ k.transpose(2, 3) / math.sqrt(SIZE)
        weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
        x = x + self.o((weights @ v).transpose(1, 2).reshape(BATCH, 1, WIDTH))
        return self.head(x)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.linspace(0, 1, 8))
        self.register_buffer("seen", torch.zeros(6, 8))

    def forward(self, x, row):
        self.steps += 1
        self.mean.mul_(0.75).add_(x.mean(0), alpha=0.25)
        self.seen[row] += x.sum(0)
        return (x - self.mean) * self.steps + self.seen.sum(0)


def decoder_inputs():
    generator = torch.Generator().manual_seed(7)
    ids = torch.randint(0, VOCABULARY, (STEPS, BATCH, 1), generator=generator)
    return {"token_ids": ids, "position": torch.arange(STEPS).reshape(STEPS, 1)}


def make(name):
    """The model, in the mode that it is exported in, and its inputs by name, stacked."""
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(5)
    if name == "batch_norm":
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.BatchNorm2d(8))
        return model.train(), {"input": torch.randn(4, 4, 3, 6, 6, generator=generator)}
    if name == "counter":
        rows = torch.randint(0, 6, (5, 1), generator=generator)
        return Counter().eval(), {"x": torch.randn(5, 4, 8, generator=generator), "row": rows}
    return Decoder(name).eval(), decoder_inputs()


def write_safetensors(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        kind = {"float32": "F32", "int64": "I64"}[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def save(name):
    folder = HERE / name
    (folder / "outputs").mkdir(parents=True, exist_ok=True)
    model, inputs = make(name)
    first = tuple(stack[0] for stack in inputs.values())
    program = torch.export.export(model, first)
    if name in DECOMPOSED:
        program = program.run_decompositions({})
    for graph in (module.graph for module in program.graph_module.modules() if hasattr(module, "graph")):
        for node in graph.nodes:
            node.meta.pop("stack_trace", None)  # paths of the machine that traced it
    torch.export.save(program, folder / "model.pt2")
    initial = {key: value.clone() for key, value in model.state_dict().items()}
    steps = len(next(iter(inputs.values())))
    with torch.no_grad():
        outputs = [model(*(stack[step] for stack in inputs.values())) for step in range(steps)]
    states = {key: value for key, value in model.state_dict().items() if not torch.equal(value, initial[key])}
    numpy.savez(folder / "steps.npz", **{key: stack.numpy() for key, stack in inputs.items()})
    numpy.save(folder / "outputs" / "output.npy", torch.stack(outputs).numpy())
    write_safetensors(folder / "after.safetensors", {key: value.numpy() for key, value in states.items()})


def main():
    names = sys.argv[1:] or [name for name in vars(Caches) if not name.startswith("_")] + ["batch_norm", "counter"]
    for name in names:
        save(name)


if __name__ == "__main__":
    main()
