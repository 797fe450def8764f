"""train.py: writes data for train.mlir, good and bad, and what numpy makes of it; train.py CHECK…: evaluates what runs left.

In a check `log(path)` are the objects of a log, `load(path)` the tensors of a .safetensors file, `train(steps)` are numpy's losses, gradients
of the first step and weights after the last.
"""
import json
import os
import struct
import sys

import numpy

STEPS = 30
TOKENS = numpy.random.default_rng(1).integers(0, 100, 4 * 8 * 25 + 1)
TYPES = {"F32": "<f4", "I64": "<i8"}


def arrays(inputs=6, outputs=4, steps=STEPS):
    """Rows of a linear map, with noise."""
    random = numpy.random.default_rng(5)
    x = random.standard_normal((steps, 8, inputs), numpy.float32)
    labels = x @ random.standard_normal((inputs, outputs), numpy.float32) + random.standard_normal((steps, 8, outputs), numpy.float32) / 8
    return x, labels


def train(steps, momentum=0.9, first=(0.5, 0.25)):
    """What train.mlir does, or, without momentum and from zeros, jax_step.mlir; in double precision."""
    x, labels = arrays()
    w, b = numpy.full((6, 4), first[0]), numpy.full(4, first[1])
    m_w, m_b = numpy.zeros_like(w), numpy.zeros_like(b)
    losses, gradients = [], {}
    for step in range(steps):
        d = x[step].astype(float) @ w + b - labels[step]
        losses.append((d * d).mean())
        scale = 2 / d.size
        g_w, g_b = x[step].T.astype(float) @ (d * scale), (d * scale).sum(0)
        gradients = gradients or {"w": g_w, "b": g_b}
        m_w, m_b = momentum * m_w + g_w, momentum * m_b + g_b
        w, b = w - 0.1 * m_w, b - 0.1 * m_b
    return losses, gradients, {"w": w, "b": b}


def load(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    return {name: numpy.frombuffer(data[8 + size + entry["data_offsets"][0] : 8 + size + entry["data_offsets"][1]], TYPES[entry["dtype"]])
            .reshape(entry["shape"]) for name, entry in header.items()}


def save(path, **tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        kind = {"float32": "F32", "float64": "F64", "int64": "I64"}[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def log(path):
    return [json.loads(line) for line in open(path)]


def steps_of(path):
    return [line["step"] for line in log(path) if "step" in line]


def losses_of(path):
    return [line["loss"] for line in log(path) if "step" in line]


def column(path, name):
    return [line[name] for line in log(path) if "step" in line]


def epoch_of(path, name, number):
    """The sum of a number over the 25 steps in which each row of the tokens is read once."""
    return sum(column(path, name)[25 * number : 25 * number + 25])


def near(got, wanted, tolerance=1e-4):
    """Whether tensors, or dictionaries of tensors, are equal within a fraction of their magnitude."""
    if isinstance(wanted, dict):
        return got.keys() == wanted.keys() and all(near(got[name], wanted[name], tolerance) for name in wanted)
    got, wanted = numpy.asarray(got), numpy.asarray(wanted)
    return got.shape == wanted.shape and abs(got - wanted).max() <= tolerance * abs(wanted).max()


def flip(path, at):
    """Changes a byte of a file; `at` may count from its end."""
    data = bytearray(open(path, "rb").read())
    data[at] ^= 1
    open(path, "wb").write(data)
    return True


def main():
    x, labels = arrays()
    numpy.savez("steps.npz", x=x, labels=labels)
    numpy.savez("lacks.npz", x=x)
    bad = labels.copy()
    bad[7, 3, 1] = numpy.nan
    numpy.savez("nan.npz", x=x, labels=bad)
    far = labels.copy()
    far[4] = 3e38
    numpy.savez("infinite.npz", x=x, labels=far)
    TOKENS.astype("<u2").tofile("tokens.u16")
    TOKENS.astype("<u4").tofile("tokens.bin")
    TOKENS[:32].astype("<u2").tofile("short.u16")
    numpy.full(400, 70000, "<u4").tofile("large.u32")
    open("odd.u16", "wb").write(b"\0" * 801)


if __name__ == "__main__":
    for check in sys.argv[1:]:
        assert eval(check), check
    if not sys.argv[1:]:
        main()
