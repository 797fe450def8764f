#!/usr/bin/env python3
"""Makes the bundled models that are exported in training mode anew, with PyTorch (written with torch 2.15).

batch_norm   a convolution, a batch norm whose running statistics change, and a classifier
dropout      two layers with dropout between them, which are outputs, too; its random numbers are Weft's own, so that nothing is recorded

training/NAME/model.pt2           by torch.export, in training mode
training/NAME/data.npz            inputs and labels, stacked by step
training/NAME/losses.npy          cross-entropy of each step of SGD with momentum (see below), as PyTorch computes it
training/NAME/after.safetensors   parameters and running statistics behind the last step
"""
import json
import pathlib
import struct

import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent / "training"
STEPS = 4


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


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = numpy.ascontiguousarray(tensor).tobytes()
        kind = {"float32": "F32", "int64": "I64"}[str(tensor.dtype)]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def export(name, model, shape):
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    model.train()
    torch.export.save(torch.export.export(model, (torch.randn(shape),)), folder / "model.pt2")
    generator = torch.Generator().manual_seed(3)
    data = {"x": torch.randn((STEPS, *shape), generator=generator), "labels": torch.randint(0, 5, (STEPS, shape[0]), generator=generator)}
    numpy.savez(folder / "data.npz", **{key: value.numpy() for key, value in data.items()})
    return folder, data


def train(folder, model, data):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for step in range(STEPS):
        loss = torch.nn.functional.cross_entropy(model(data["x"][step]), data["labels"][step])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    numpy.save(folder / "losses.npy", numpy.array(losses, numpy.float32))
    write_safetensors(folder / "after.safetensors", {name: value.detach().numpy() for name, value in model.state_dict().items()})


def main():
    torch.manual_seed(11)
    model = BatchNorm()
    folder, data = export("batch_norm", model, (6, 2, 5, 5))
    train(folder, model, data)
    export("dropout", Dropout(), (32, 16))


if __name__ == "__main__":
    main()
