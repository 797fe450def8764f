#!/usr/bin/env python3
"""Makes the bundled models that are exported in training mode anew, with PyTorch (written with torch 2.15).

batch_norm   a convolution, a batch norm whose running statistics change, and a classifier
dropout      two layers with dropout between them, which are outputs, too; its random numbers are Weft's own, so that nothing is recorded
attention    causal attention whose weights are dropped, and are outputs, as its value is the identity; and alpha dropout
decoder      causal attention over a table of positions, and dropout of [batch, tokens, width] and of rows that join the first two; nothing is recorded
experts      tokens go to one of three experts, as long as it has places: which of them do depends on all of a batch

training/NAME/model.pt2           by torch.export, in training mode
training/NAME/data.npz            inputs and labels, stacked by step
training/NAME/losses.npy          cross-entropy of each step of SGD with momentum (see below), as PyTorch computes it
training/NAME/after.safetensors   parameters and running statistics behind the last step

training/NAME/batches/            the same of steps that take two batches of the model, one after another, and the gradients of the first:
                                  data.npz has their rows one behind the other
"""
import copy
import json
import pathlib
import struct

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent / "training"
STEPS = 4
BATCHES = 2


class BatchNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 4, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(4, 5)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


class Dropout(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(16, 64, bias=False)
        self.down = torch.nn.Linear(64, 8, bias=False)

    def forward(self, x):
        hidden = self.up(x)
        dropped = torch.nn.functional.dropout(hidden, 0.25, self.training)
        return self.down(dropped), dropped, hidden


class Attention(torch.nn.Module):
    def __init__(self, width=8, heads=2, length=16):
        super().__init__()
        self.heads, self.length = heads, length
        self.query = torch.nn.Linear(width, width, bias=False)
        self.key = torch.nn.Linear(width, width, bias=False)
        self.head = torch.nn.Linear(length, 5, bias=False)

    def forward(self, x):
        batch = x.shape[0]
        query, key = (part(x).view(batch, self.length, self.heads, -1).transpose(1, 2) for part in (self.query, self.key))
        value = torch.eye(self.length).expand(batch, self.heads, self.length, self.length)
        attend = torch.nn.functional.scaled_dot_product_attention
        dropped = attend(query, key, value, dropout_p=0.25, is_causal=True)
        whole = attend(query, key, value, is_causal=True)
        alpha = torch.nn.functional.alpha_dropout(query, 0.25, self.training)
        return self.head(dropped.mean((1, 2))), dropped, whole, alpha, query


class Decoder(torch.nn.Module):
    def __init__(self, words=16, length=12, width=8, blocks=2):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(words, width), torch.nn.Parameter(torch.randn(length, width))
        self.joint = torch.nn.ModuleList(torch.nn.Linear(width, 3 * width) for _ in range(blocks))
        self.mixed = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(blocks))
        self.head = torch.nn.Linear(width, words, bias=False)

    def forward(self, x):
        drop = torch.nn.functional.dropout
        tokens = drop(self.words(x) + self.places, 0.25, self.training)
        for joint, mixed in zip(self.joint, self.mixed):
            query, key, value = (part.view(*x.shape, 2, -1).transpose(1, 2) for part in joint(tokens).chunk(3, -1))
            attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            rows = torch.tanh(mixed(attended.transpose(1, 2).reshape(x.numel(), -1)))
            tokens = tokens + drop(rows, 0.25, self.training).view_as(tokens)
        return self.head(tokens)


class Experts(torch.nn.Module):
    def __init__(self, width=8, experts=3):
        super().__init__()
        self.router = torch.nn.Linear(width, experts, bias=False)
        self.up = torch.nn.Parameter(torch.randn(experts, width, 2 * width) / width**0.5)
        self.down = torch.nn.Parameter(torch.randn(experts, 2 * width, width) / (2 * width) ** 0.5)
        self.head = torch.nn.Linear(width, 5)

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        share, expert = torch.softmax(self.router(tokens), -1).max(-1)
        chosen = torch.nn.functional.one_hot(expert, self.up.shape[0])
        place = (torch.cumsum(chosen, 0) * chosen).sum(-1)
        capacity = tokens.shape[0] // self.up.shape[0]
        gate = chosen * (share * (place <= capacity)).unsqueeze(-1)
        each = torch.einsum("teh,ehw->tew", torch.relu(torch.einsum("tw,ewh->teh", tokens, self.up)), self.down)
        mixed = tokens + torch.einsum("te,tew->tw", gate, each)
        return self.head(mixed.reshape(x.shape).mean(1))


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = numpy.ascontiguousarray(tensor).tobytes()
        kind = {"float32": "F32", "int64": "I64"}[str(tensor.dtype)]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def export(name, model, shape, words=0):
    """Its input is of floats, or of so many words."""
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    model.train()
    example = torch.randint(0, words, shape) if words else torch.randn(shape)
    torch.export.save(torch.export.export(model, (example,)), folder / "model.pt2")
    return folder


def make_data(folder, shape):
    """Inputs and labels of each step; of the shape's rows."""
    folder.mkdir(exist_ok=True)
    generator = torch.Generator().manual_seed(3)
    data = {"x": torch.randn((STEPS, *shape), generator=generator), "labels": torch.randint(0, 5, (STEPS, shape[0]), generator=generator)}
    numpy.savez(folder / "data.npz", **{key: value.numpy() for key, value in data.items()})
    return data


def make_words(folder, shape, words):
    """The same of a model that tells of each word which follows."""
    generator = torch.Generator().manual_seed(3)
    drawn = {name: torch.randint(0, words, (STEPS, *shape), generator=generator) for name in ("x", "labels")}
    numpy.savez(folder / "data.npz", **{name: value.numpy() for name, value in drawn.items()})


def train(folder, model, data, batches=1):
    """Accumulates gradients over batches, as one does in torch."""
    model = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        total = 0
        for x, labels in zip(data["x"][step].chunk(batches), data["labels"][step].chunk(batches)):
            loss = torch.nn.functional.cross_entropy(model(x), labels) / batches
            loss.backward()
            total += loss.item()
        if step == 0 and batches > 1:
            gradients = {name: value.grad.numpy() for name, value in model.named_parameters()}
            write_safetensors(folder / "gradients.safetensors", gradients)
        optimizer.step()
        losses.append(total)
    numpy.save(folder / "losses.npy", numpy.array(losses, numpy.float32))
    write_safetensors(folder / "after.safetensors", {name: value.detach().numpy() for name, value in model.state_dict().items()})


def record(name, model, shape):
    folder = export(name, model, shape)
    train(folder, model, make_data(folder, shape))
    batches = folder / "batches"
    train(batches, model, make_data(batches, (BATCHES * shape[0], *shape[1:])), BATCHES)


def main():
    torch.manual_seed(11)
    record("batch_norm", BatchNorm(), (6, 2, 5, 5))
    make_data(export("dropout", Dropout(), (32, 16)), (32, 16))
    torch.manual_seed(13)
    make_data(export("attention", Attention(), (4, 16, 8)), (4, 16, 8))
    torch.manual_seed(12)
    record("experts", Experts(), (4, 6, 8))
    torch.manual_seed(14)
    make_words(export("decoder", Decoder(), (4, 12), words=16), (4, 12), 16)


if __name__ == "__main__":
    main()
