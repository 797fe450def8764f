"""Writes .pt2 archives without torch, sound ones and others: programs as torch.export serialises them (schema 8), storages as bytes."""
import json
import zipfile

import numpy as np

DTYPES = {"uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8, "complex64": 10, "complex128": 11, "bool": 12}
CPU = {"type": "cpu", "index": None}


class Sym(str):
    """The text of a symbolic size."""


def tensor(name):
    return {"as_tensor": {"name": name}}


def size(value):
    return {"as_expr": {"expr_str": str(value), "hint": None}} if isinstance(value, Sym) else {"as_int": value}


def meta(dtype, sizes, strides=None, offset=0):
    if strides is None:
        strides = [1] * len(sizes)
        for dim in reversed(range(len(sizes) - 1)):
            following = sizes[dim + 1]
            strides[dim] = strides[dim + 1] * (1 if isinstance(following, Sym) else following)
    return {"dtype": DTYPES[dtype], "sizes": [size(s) for s in sizes], "requires_grad": False, "device": CPU,
            "strides": [size(s) for s in strides], "storage_offset": size(offset), "layout": 7}


def argument(value):
    """A value as the union Argument: strings name tensors, but those after '=' are themselves."""
    if isinstance(value, dict) or value is None:
        return value or {"as_none": True}
    if isinstance(value, Sym):
        return {"as_sym_int": {"as_name": str(value)}}
    if isinstance(value, str):
        return {"as_string": value[1:]} if value.startswith("=") else tensor(value)
    if isinstance(value, list):
        if any(isinstance(v, Sym) for v in value):
            return {"as_sym_ints": [{"as_name": str(v)} if isinstance(v, Sym) else {"as_int": v} for v in value]}
        if value and isinstance(value[0], str):
            return {"as_tensors": [{"name": v} for v in value]}
        return {"as_ints": value}
    return {{bool: "as_bool", int: "as_int", float: "as_float"}[type(value)]: value}


def graph(inputs, nodes, outputs):
    return {"inputs": [argument(i) for i in inputs], "outputs": [argument(o) for o in outputs], "nodes": nodes, "tensor_values": {},
            "sym_int_values": {}, "sym_bool_values": {}, "custom_obj_values": {}, "sym_float_values": {}, "is_single_tensor_return": False}


def node(target, outputs, arguments, module=""):
    stack = ";".join(f"L__self__{path},{path},Module" for path in ["", module] if path or not module)
    own = target.split(".")[0] in ("aten", "higher_order", "custom")
    return {"target": f"torch.ops.{target}" if own else target,
            "inputs": [{"name": name, "arg": argument(value), "kind": 1} for name, value in arguments.items()],
            "outputs": [argument(o) for o in ([outputs] if isinstance(outputs, str) else outputs)],
            "metadata": {"nn_module_stack": stack}, "name": outputs if isinstance(outputs, str) else None}


class Archive:
    """A program under construction. Whatever a test wants otherwise it changes in `program`, `weights`, `entries` before `write`."""

    def __init__(self, root="model"):
        self.root = root
        self.graph = graph([], [], [])
        self.signature = {"input_specs": [], "output_specs": []}
        self.names = []
        self.ranges = {}
        self.weights, self.constants, self.entries = {}, {}, {}
        self.compressed, self.zip64 = set(), set()
        self.program = {"graph_module": {"graph": self.graph, "signature": self.signature, "module_call_graph": [], "metadata": {}},
                        "opset_version": {"aten": 10}, "range_constraints": self.ranges, "schema_version": {"major": 8, "minor": 20},
                        "verifiers": ["TRAINING"], "torch_version": "2.13.0"}

    def input(self, name, dtype, sizes, user=None):
        """`user` is the name of forward's parameter, where the graph has another."""
        self.graph["inputs"].append(tensor(name))
        self.graph["tensor_values"][name] = meta(dtype, sizes)
        self.signature["input_specs"].append({"user_input": {"arg": tensor(name)}})
        self.names.append(user or name)
        return name

    def stored(self, kind, name, storage, sizes=None, strides=None, offset=0, file=None, pickle=False, frozen=False):
        """A parameter, buffer or tensor_constant: a view of a storage. `file` names the storage of another one."""
        value = kind[0] + "_" + name.replace(".", "_")
        table, folder, prefix = ((self.weights, "weights", "weight") if kind != "tensor_constant" else (self.constants, "constants", "tensor"))
        file = file or f"{prefix}_{len(table)}"
        if storage is not None:
            self.entries[f"data/{folder}/{file}"] = storage.tobytes()
            self.dtype = str(storage.dtype)
            sizes = list(storage.shape) if sizes is None else sizes
        described = meta(self.dtype, sizes, strides, offset) | {"requires_grad": kind == "parameter" and not frozen}
        table[name] = {"path_name": file, "is_param": kind == "parameter", "use_pickle": pickle, "tensor_meta": described}
        self.graph["inputs"].append(tensor(value))
        self.graph["tensor_values"][value] = described
        spec = {"arg": {"name": value}, f"{kind}_name": name}
        if kind == "buffer":
            spec["persistent"] = True
        self.signature["input_specs"].append({kind: spec})
        return value

    def node(self, target, output, arguments, module=""):
        self.graph["nodes"].append(node(target, output, arguments, module))
        return output

    def output(self, *values):
        for value in values:
            self.graph["outputs"].append(argument(value))
            self.signature["output_specs"].append({"user_output": {"arg": argument(value)}})

    def nameInputs(self):
        leaf = {"type": None, "context": None, "children_spec": []}
        whole = {"type": "builtins.tuple", "context": "null", "children_spec": [
            {"type": "builtins.tuple", "context": "null", "children_spec": [leaf] * len(self.names)},
            {"type": "builtins.dict", "context": "[]", "children_spec": []}]}
        self.program["graph_module"]["module_call_graph"] = [{"fqn": "", "signature": {
            "inputs": [], "outputs": [], "in_spec": json.dumps([1, whole]), "out_spec": "", "forward_arg_names": self.names}}]

    def files(self):
        files = {"archive_format": b"pt2", "byteorder": b"little", "archive_version": b"0", **self.entries}
        files["models/model.json"] = json.dumps(self.program).encode()
        files["data/weights/model_weights_config.json"] = json.dumps({"config": self.weights}).encode()
        files["data/constants/model_constants_config.json"] = json.dumps({"config": self.constants}).encode()
        return {name: data for name, data in files.items() if data is not None}

    def write(self, path):
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in self.files().items():
                info = zipfile.ZipInfo(f"{self.root}/{name}" if self.root else name)
                info.compress_type = zipfile.ZIP_DEFLATED if name in self.compressed else zipfile.ZIP_STORED
                with archive.open(info, "w", force_zip64=name in self.zip64) as stream:
                    stream.write(data)


def numbers(*shape, dtype=np.float32):
    """Small distinct numbers."""
    return (np.arange(np.prod(shape)).reshape(shape) * 0.25 - 1).astype(dtype)
