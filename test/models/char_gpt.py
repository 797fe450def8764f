"""What the character-level GPT starts from: its sizes, weights by seed, and a text that every Debian machine has."""
import json
import math
import pathlib
import zlib

import numpy

VOCABULARY, LENGTH, WIDTH, HEADS, LAYERS = 128, 64, 128, 4, 5
BATCH, STEPS = 8, 500
OPTIMIZER = {"lr": 1e-3, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.01}
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")


def initial_value(name, shape):
    """A weight's first value by its name: normal numbers, about 1 for the scales of norms. No two are equal, for the exporter
    would make one of those that are."""
    random = numpy.random.Generator(numpy.random.PCG64(zlib.crc32(name.encode())))
    mean = 1.0 if "norm" in name and name.endswith("weight") else 0.0
    return (mean + 0.02 * random.standard_normal(shape)).astype("<f4")


def write_weights(folder):
    """The file that model.onnx refers to, by the layout that was noted when it was exported."""
    folder = pathlib.Path(folder)
    layout = json.loads((folder / "layout.json").read_text())
    data = bytearray(max(offset + 4 * math.prod(shape) for shape, offset in layout.values()))
    for name, (shape, offset) in layout.items():
        value = initial_value(name, tuple(shape)).tobytes()
        data[offset : offset + len(value)] = value
    (folder / "weights.bin").write_bytes(data)


def read_text():
    return numpy.frombuffer(TEXT.read_bytes(), numpy.uint8) % VOCABULARY


def step_tokens(text, step):
    """The tokens of a step's rows, and the characters that follow each."""
    random = numpy.random.Generator(numpy.random.PCG64(step))
    rows = [text[start : start + LENGTH + 1] for start in random.integers(0, len(text) - LENGTH - 1, BATCH)]
    rows = numpy.stack(rows).astype("<i8")
    return rows[:, :-1].copy(), rows[:, 1:].copy()
