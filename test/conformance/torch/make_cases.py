"""make_cases.py OUT.tar.xz [NAME…]: operator cases, exported and computed by torch (2.15 made cases.tar.xz).

Each case of cases/*.py becomes NAME/default.json, NAME/decomposed.json (the program after `run_decompositions`, where
it has operators that few cases have shown), NAME/input_K.npy and NAME/output_K.npy. A .json holds the entries of the
.pt2 archive that describe the program, by name, without sample inputs and stack traces; unpack.py makes archives of
them. Floats of outputs keep 16 bits of their mantissa. All this keeps the file small. `core.txt` lists the operators
that this torch tags as its core set, `not_exported.txt` the cases that torch itself could not export.
"""
import base64
import collections
import importlib
import io
import json
import pathlib
import sys
import tarfile
import warnings
import zipfile

import numpy as np
import torch

warnings.simplefilter("ignore")
FAMILIES = ("elementwise", "activation", "shapes", "reductions", "indexing", "network", "core", "names", "complex")
SHOWN_ENOUGH = 3


class OneOperand(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class TwoOperands(OneOperand):
    def forward(self, x, y):
        return self.function(x, y)


class ThreeOperands(OneOperand):
    def forward(self, x, y, z):
        return self.function(x, y, z)


class FourOperands(OneOperand):
    def forward(self, x, y, z, u):
        return self.function(x, y, z, u)


class FiveOperands(OneOperand):
    def forward(self, x, y, z, u, v):
        return self.function(x, y, z, u, v)


MODULES = (OneOperand, TwoOperands, ThreeOperands, FourOperands, FiveOperands)


def entries(program):
    """What of the program's archive a reader of programs needs: names to texts, or base64 of raw values."""
    whole, kept = io.BytesIO(), {}
    torch.export.save(program, whole)
    with zipfile.ZipFile(whole) as source:
        for name in source.namelist():
            data = source.read(name)
            if "sample_inputs" in name or "/.data/" in name or name.endswith("/.format_version"):
                continue
            if name.endswith("models/model.json"):
                model = json.loads(data)
                model["graph_module"]["module_call_graph"] = []
                for node in model["graph_module"]["graph"]["nodes"]:
                    node["metadata"] = {}
                data = json.dumps(model, separators=(",", ":")).encode()
            is_raw = "/data/" in name and not name.endswith(".json")
            kept[name] = {"base64": base64.b64encode(data).decode()} if is_raw else data.decode()
    return kept


def operators(program):
    return sorted({str(node.target) for node in program.graph.nodes if node.op == "call_function"})


def saved(tensor, is_output):
    """As `weft run` reads and writes tensors: bfloat16 as f32."""
    tensor = tensor.detach()
    values = (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).contiguous().numpy()
    if is_output and values.dtype in (np.float32, np.float64):
        mantissa, exponent = np.frexp(values)
        rounded = np.ldexp(np.round(mantissa * 65536) / 65536, exponent)
        values = np.where(np.isfinite(values), rounded, values).astype(values.dtype)
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def export(function, inputs):
    """The case's files, and the operators of its default and of its decomposed program."""
    expected = torch.utils._pytree.tree_leaves(function(*(tensor.clone() for tensor in inputs)))
    program = torch.export.export(MODULES[len(inputs) - 1](function), inputs, strict=False)
    is_core = set(operators(program)) <= CORE
    decomposed = program if is_core else program.run_decompositions()
    files = {"default.json": entries(program), "decomposed.json": entries(decomposed)}
    for kind, tensors in (("input", inputs), ("output", expected)):
        for index, tensor in enumerate(tensors):
            files[f"{kind}_{index}.npy"] = saved(tensor, kind == "output")
    return files, operators(program), operators(decomposed)


def core_operators():
    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.removeprefix("aten::").partition(".")
        packet = getattr(torch.ops.aten, base, None) if name.startswith("aten::") else None
        operator = getattr(packet, overload or "default", None)
        if operator and torch.Tag.core in operator.tags:
            yield str(operator)


CORE = set(core_operators())


def load_cases():
    torch.manual_seed(0)
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    for family in FAMILIES:
        importlib.import_module(f"cases.{family}")
    return sorted(importlib.import_module("cases.common").CASES.items())


def write(path, exported, failures):
    shown = collections.Counter()
    with tarfile.open(path, "w:xz", preset=9) as archive:

        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))

        for name, (files, default, decomposed) in exported.items():
            is_new = default != decomposed and any(shown[target] < SHOWN_ENOUGH for target in decomposed)
            if is_new:
                shown.update(decomposed)
            for file, content in files.items():
                if file != "decomposed.json" or is_new:
                    data = content if isinstance(content, bytes) else json.dumps(content).encode()
                    add(f"{name}/{file}", data)
        add("core.txt", "".join(f"{name}\n" for name in sorted(CORE)).encode())
        add("not_exported.txt", "".join(f"{line}\n" for line in failures).encode())


def main(path, wanted):
    exported, failures = {}, []
    for name, (function, inputs) in load_cases():
        if wanted and name not in wanted:
            continue
        try:
            with torch.no_grad():
                exported[name] = export(function, inputs)
        except Exception as error:  # torch refuses some programs in one of its own steps
            failures.append(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0]}")
    write(path, exported, failures)
    print(f"{len(exported)} cases, not exported:", *failures, sep="\n  ")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
