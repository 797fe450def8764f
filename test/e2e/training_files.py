"""What tests of training steps read and write."""
import json
import pathlib
import struct
import subprocess

import numpy

TYPES = {"F16": "<f2", "F32": "<f4", "I64": "<i8", "U64": "<u8"}


def read_safetensors(path):
    """The arrays of a file by their names; bf16 as f32."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = data[8 + size + begin : 8 + size + end]
        if entry["dtype"] == "BF16":
            array = (numpy.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            array = numpy.frombuffer(raw, TYPES[entry["dtype"]])
        tensors[name] = array.reshape(entry["shape"])
    return tensors


def read_losses(path):
    return numpy.array([json.loads(line)["loss"] for line in pathlib.Path(path).read_text().splitlines()], numpy.float32)


def weft(*arguments, code=0):
    """Runs the command, which must end with this exit code; what it says."""
    done = subprocess.run(["weft", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode != code:
        raise SystemExit(f"exit {done.returncode}, expected {code}: weft {' '.join(map(str, arguments))}\n{done.stdout}")
    return done.stdout


def distance(actual, expected):
    """The largest difference, by the largest element that is expected."""
    if actual.shape != expected.shape:
        return numpy.inf
    scale = max(numpy.abs(expected).max(), 1e-3)
    error = numpy.abs(actual.astype(numpy.float64) - expected).max() / scale
    return error if numpy.isfinite(error) else numpy.inf


def write_layers(path, layers, rows, width, element="f32"):
    """A network of square layers: products and tanh."""
    of, square = f"tensor<{rows}x{width}x{element}>", f"tensor<{width}x{width}x{element}>"
    lines = [f"weft.weight @w{i} : {square} = dense<0.01> : {square}" for i in range(layers)]
    lines.append(f'func.func @main(%h0: {of} {{weft.name = "x"}}) -> ({of} {{weft.name = "logits"}}) {{')
    for i in range(layers):
        lines += [f"  %w{i} = weft.load @w{i} : {square}",
                  f"  %p{i} = weft.dot_general %h{i}, %w{i} batch [] x [] contract [1] x [0] : ({of}, {square}) -> {of}",
                  f"  %h{i + 1} = weft.tanh %p{i} : {of}"]
    path.write_text("\n".join([*lines, f"  return %h{layers} : {of}", "}\n"]))
