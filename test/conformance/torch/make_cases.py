"""make_cases.py OUT.tar.xz [NAME…]: operator cases, exported and computed by torch (2.15 made cases.tar.xz).

Each case of cases/*.py becomes NAME/default.pt2, NAME/decomposed.pt2 (where `run_decompositions` changes the
operators), NAME/input_K.npy and NAME/output_K.npy. The archives keep what describes the program and drop the rest
(sample inputs, stack traces), so that some hundred of them compress to little. `core.txt` lists the operators that
this torch tags as its core set, `export_failures.txt` cases that torch itself could not export.
"""
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
FAMILIES = ("elementwise", "activation", "shapes", "reductions", "indexing", "network", "core")


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


def stripped(program):
    """The program's archive without what no reader of programs needs, every entry stored."""
    whole, small = io.BytesIO(), io.BytesIO()
    torch.export.save(program, whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(small, "w", zipfile.ZIP_STORED) as target:
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
            target.writestr(zipfile.ZipInfo(name), data)
    return small.getvalue()


def operators(program):
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function"]


def array(tensor):
    """As `weft run` reads and writes tensors: bfloat16 as f32."""
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).contiguous().numpy()


def members(function, inputs):
    expected = torch.utils._pytree.tree_leaves(function(*(tensor.clone() for tensor in inputs)))
    program = torch.export.export(MODULES[len(inputs) - 1](function), inputs, strict=False)
    yield "default.pt2", stripped(program)
    decomposed = program.run_decompositions()
    if operators(decomposed) != operators(program):
        yield "decomposed.pt2", stripped(decomposed)
    for kind, tensors in (("input", inputs), ("output", expected)):
        for index, tensor in enumerate(tensors):
            stream = io.BytesIO()
            np.save(stream, array(tensor))
            yield f"{kind}_{index}.npy", stream.getvalue()


def core_operators():
    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.removeprefix("aten::").partition(".")
        packet = getattr(torch.ops.aten, base, None) if name.startswith("aten::") else None
        operator = getattr(packet, overload or "default", None)
        if operator and torch.Tag.core in operator.tags:
            yield str(operator)


def main(path, wanted):
    torch.manual_seed(0)
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    for family in FAMILIES:
        importlib.import_module(f"cases.{family}")
    cases = importlib.import_module("cases.common").CASES
    failures = []
    with tarfile.open(path, "w:xz", preset=9) as archive, torch.no_grad():

        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))

        for name, (function, inputs) in sorted(cases.items()):
            if wanted and name not in wanted:
                continue
            try:
                files = list(members(function, inputs))
            except Exception as error:  # torch refuses some programs in one of its own steps
                failures.append(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0]}")
                continue
            for file, data in files:
                add(f"{name}/{file}", data)
        add("core.txt", "".join(f"{name}\n" for name in sorted(set(core_operators()))).encode())
        add("export_failures.txt", "".join(f"{line}\n" for line in failures).encode())
    print(f"{len(cases)} cases, not exported:", *failures, sep="\n  ")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
