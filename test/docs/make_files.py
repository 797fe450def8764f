"""make_files.py MODELS FOLDER: the files that the commands in the documents name, made of the bundled models or by hand."""
import gzip
import json
import pathlib
import shutil
import struct
import sys
from urllib.parse import unquote

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "frontends" / "torch_export" / "Inputs"))
from archive import Archive, Sym, numbers  # noqa: E402

# A product with a weight, as JAX writes it.
STABLEHLO = """"builtin.module"() ({
  "func.func"() <{function_type = (tensor<16x8xf32>, tensor<4x16xf32>) -> tensor<4x8xf32>, sym_name = "main"}> ({
  ^bb0(%w: tensor<16x8xf32> loc("params['w']"), %x: tensor<4x16xf32> loc("x")):
    %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
    "func.return"(%y) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""


# Two nodes that do not fit together as each would like.
INSTANCE = """{"problem": {"name": "two nodes",
 "nodes": {"intervals": [[0, 2], [1, 3]], "costs": [[1, 5], [2, 3]], "usages": [[4, 2], [3, 4]]},
 "edges": {"nodes": [[0, 1]], "costs": [[0, 9, 9, 0]]},
 "usage_limit": 6}}
"""


def write_safetensors(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.astype(numpy.float32).tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def parameters(folder):
    """The arrays of a traced function's argument P, by their keys."""
    names = {path: unquote(path.stem) for path in sorted(folder.glob("P%5B*.npy"))}
    return {name[len("P['"):-len("']")]: numpy.load(path) for path, name in names.items()}


def write_dynamic(path):
    """An embedding of token ids whose batch and length are symbolic."""
    archive = Archive()
    table = archive.stored("parameter", "embedding.weight", numbers(32, 16))
    archive.input("input_ids", "int64", [Sym("s0"), Sym("s1")])
    archive.ranges.update(s0={"min_val": 2, "max_val": None}, s1={"min_val": 2, "max_val": None})
    archive.nameInputs()
    archive.node("aten.embedding.default", "embedded", {"weight": table, "indices": "input_ids"})
    archive.node("aten.gelu.default", "result", {"self": "embedded"})
    archive.output("result")
    archive.write(path)


def main():
    models, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("model.onnx", "gpt2.onnx"):
        shutil.copy(models / "gpt2" / "model.onnx", folder / name)
    shutil.copy(models / "gpt2" / "inputs" / "input_ids.npy", folder / "ids.npy")
    shutil.copytree(models / "gpt2" / "inputs", folder / "inputs")
    for name in ("gpt2", "llama"):
        shutil.copytree(models / name, folder / "recorded" / name)
    shutil.copy(models / "llama" / "model.pt2", folder / "model.pt2")
    shutil.copy(models / "states" / "index_copy" / "model.pt2", folder / "decoder.pt2")
    shutil.copy(models / "states" / "index_copy" / "steps.npz", folder / "steps.npz")
    write_dynamic(folder / "dynamic.pt2")
    shutil.copy(models / "jax_mlp" / "train_step.mlir", folder / "step.mlir")
    weights = parameters(models / "jax_mlp" / "inputs")
    assert weights, "no parameters found"
    write_safetensors(folder / "weights.safetensors", weights)
    (folder / "model.mlir").write_text(STABLEHLO)
    write_safetensors(folder / "params.safetensors", {"w": numbers(16, 8)})
    numpy.save(folder / "x.npy", numbers(4, 16))
    shutil.copy(pathlib.Path(__file__).parents[1] / "tools" / "Inputs" / "jax_step.mlir", folder / "sgd.mlir")
    numpy.savez(folder / "regression.npz", x=numpy.sin(numpy.arange(1440, dtype="f4")).reshape(30, 8, 6),
                labels=numpy.cos(numpy.arange(960, dtype="f4")).reshape(30, 8, 4))
    (numpy.arange(4096) ** 2 % 97).astype("<u2").tofile(folder / "tokens.u16")
    with gzip.open(folder / "instance.json.gz", "wt") as file:
        file.write(INSTANCE)
    rows = [(length, context, 3 + length + context / 8, 5 + 2 * length + context / 4) for length in range(1, 9) for context in range(9 - length)]
    (folder / "steps.csv").write_text("model_type,hidden,layers,heads,seq,cluster,gpus,tp,global_batch,measured_s\ngpt,2048,24,16,2048,dgx-a100:1,8,8,4,0.3\n")
    (folder / "stage.csv").write_text("length,context,forward_s,backward_s\n" + "".join("%d,%d,%g,%g\n" % row for row in rows))


if __name__ == "__main__":
    main()
