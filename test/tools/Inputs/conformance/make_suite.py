"""make_suite.py FOLDER: tests in the form of ONNX's backend suite: three that hold, one of them with its weight in a file, one that does not
hold, one refused, one with broken data."""
import pathlib
import subprocess
import sys

import numpy as np

TYPES = {"float32": 1, "int64": 7}


def encode(message, text, path):
    with open(path, "wb") as target:
        subprocess.run(["protoc", f"--encode=onnx.{message}", "-I/usr/include", "onnx/onnx.proto"], input=text.encode(), stdout=target, check=True)


def describe(kind, name, array):
    dims = " ".join(f"dim {{ dim_value: {size} }}" for size in array.shape)
    return f'{kind} {{ name: "{name}" type {{ tensor_type {{ elem_type: {TYPES[str(array.dtype)]} shape {{ {dims} }} }} }} }}'


def write_tensor(array, path):
    data = "".join(f"\\{byte:03o}" for byte in array.tobytes())
    encode("TensorProto", f'data_type: {TYPES[str(array.dtype)]} raw_data: "{data}" ' + " ".join(f"dims: {size}" for size in array.shape), path)


def make(folder, op, inputs, output, weight=""):
    """A model of one node whose inputs are a, b, …, and b an initializer, where it is given as text."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    names = "abc"[:len(inputs)]
    read = names + "b" if weight else names
    node = f'op_type: "{op}" output: "y" ' + " ".join(f'input: "{name}"' for name in read)
    values = [describe("input", *pair) for pair in zip(names, inputs)] + [describe("output", "y", output)]
    encode("ModelProto", f'ir_version: 8 opset_import {{ version: 17 }} graph {{ name: "g" node {{ {node} }} {weight} {" ".join(values)} }}',
           folder / "model.onnx")
    for number, array in enumerate(inputs):
        write_tensor(array, data / f"input_{number}.pb")
    write_tensor(output, data / "output_0.pb")


suite = pathlib.Path(sys.argv[1])
x = np.array([[1, -2], [3, 4]], np.float32)
make(suite / "add", "Add", [x, x], x + x)
make(suite / "reshape", "Reshape", [x, np.array([4], np.int64)], x.reshape(4))
make(suite / "external", "Mul", [x], x * 3, 'initializer { name: "b" data_type: 1 dims: 2 dims: 2 data_location: EXTERNAL '
     'external_data { key: "location" value: "b.bin" } external_data { key: "length" value: "16" } }')
(suite / "external/b.bin").write_bytes(np.full(4, 3, np.float32).tobytes())
make(suite / "wrong", "Neg", [x], np.array([[-1, 4], [-3, -4]], np.float32))
make(suite / "unknown", "Mystery", [x], x)
make(suite / "broken", "Neg", [x], -x)
(suite / "broken/test_data_set_0/input_0.pb").write_bytes(b"\xff\xff")
