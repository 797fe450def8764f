"""run_reference.py MODELS FOLDER NAME MESH…: NAME's closed, open and train_step text on each mesh, against what JAX recorded.

Arguments of train_step are given by their short names; its results are the loss and the gradients, in the arguments' order.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys

models, folder, name = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
source = models / name
meta = json.loads((source / "meta.json").read_text())


def write_npy(path, descr, shape, data):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)})}}"
    text = text.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data)


def read_floats(path):
    """The tensors of a safetensors file, all f32: name → (shape, bytes)."""
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    entries = json.loads(data[8:start])
    return {key: (entry["shape"], data[start + entry["data_offsets"][0]:start + entry["data_offsets"][1]])
            for key, entry in entries.items() if key != "__metadata__"}


def run(what, mesh, arguments, inputs, expected):
    program = folder / "model.weft"
    subprocess.run(["weft", "compile", source / f"{what}.mlir", *arguments, "--mesh", mesh, "-o", program, "--quiet"], check=True)
    subprocess.run(["weft", "run", program, "--input-dir", inputs, "--output-dir", folder / "out", "--expect", expected, "--tolerance", "1e-4",
                    "--quiet"], check=True)


def main():
    weights, gradients = read_floats(source / "params.safetensors"), read_floats(source / "train/gradients.safetensors")
    inputs, expected = folder / "inputs", folder / "expected"
    inputs.mkdir()
    expected.mkdir()
    for key in meta["inputs"]:
        shutil.copy(source / f"inputs/{key}.npy", inputs)
    shutil.copy(source / "train/labels.npy", inputs)
    write_npy(expected / "output_0.npy", "<f4", [], struct.pack("<f", meta["loss"]))
    for index, (key, (shape, data)) in enumerate(sorted(weights.items())):
        write_npy(inputs / f"{key}.npy", "<f4", shape, data)
        write_npy(expected / f"output_{index + 1}.npy", "<f4", *gradients[key])
    given = ["--weights", source / "params.safetensors"]
    for mesh in sys.argv[4:]:
        run("closed", mesh, [], source / "inputs", source / "outputs")
        run("open", mesh, given, source / "inputs", source / "outputs")
        run("train_step", mesh, [], inputs, expected)
    run("train_step", sys.argv[4], given, inputs, expected)


if __name__ == "__main__":
    main()
