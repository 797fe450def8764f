"""errors.py FOLDER: imports archives that are wrong, each in one way, and prints what weft says of them."""
import os
import subprocess
import sys

from archive import Archive, graph, node, numbers, tensor

cases = []


def case(change):
    """Registers a change of a sound archive: x[2, 3] + weight, all of float32."""
    cases.append(change)
    return change


def sound():
    archive = Archive()
    x = archive.input("x", "float32", [2, 3])
    weight = archive.stored("parameter", "body.weight", numbers(3))
    archive.output(archive.node("aten.add.Tensor", "sum", {"self": x, "other": weight}, "body"))
    return archive


@case
def unknown_operators(a):
    a.node("aten.no_such_thing.default", "first", {"self": "x"}, "body.layers.0")
    a.node("aten.no_such_thing.default", "second", {"self": "x"}, "body.layers.1")
    a.node("custom.thing.default", "third", {"self": "first"})


@case
def undefined_value(a):
    a.node("aten.neg.default", "lost", {"self": "nowhere"})


@case
def unknown_argument(a):
    a.node("aten.neg.default", "extra", {"self": "x", "temperature": 0.5})


@case
def wrong_argument(a):
    a.node("aten.transpose.int", "turned", {"self": "x", "dim0": "x", "dim1": 0})


@case
def missing_argument(a):
    a.node("aten.transpose.int", "turned", {"self": "x", "dim0": 0})


@case
def shapes_do_not_fit(a):
    a.node("aten.view.default", "viewed", {"self": "x", "size": [4, 2]})


@case
def declared_otherwise(a):
    a.graph["tensor_values"]["sum"] = a.graph["tensor_values"]["p_body_weight"]


@case
def too_few_results(a):
    a.graph["nodes"].append(node("aten.neg.default", ["n0", "n1"], {"self": "x"}))


@case
def schema(a):
    a.program["schema_version"]["major"] = 9


@case
def no_schema(a):
    del a.program["schema_version"]


@case
def field_of_wrong_type(a):
    a.graph["nodes"][0]["target"] = None


@case
def union_of_two(a):
    a.graph["nodes"][0]["inputs"][0]["arg"]["as_int"] = 3


@case
def no_json(a):
    a.files = lambda: {**Archive.files(a), "models/model.json": b"{\"graph_module\": "}


@case
def no_model(a):
    a.files = lambda: {name: data for name, data in Archive.files(a).items() if "models/" not in name}


@case
def two_models(a):
    a.files = lambda: {**Archive.files(a), "models/other.json": b"{}"}


@case
def big_endian(a):
    a.files = lambda: {**Archive.files(a), "byteorder": b"big"}


@case
def older_layout(a):
    a.root = ""
    a.files = lambda: {"serialized_exported_program.json": b"{}", "serialized_state_dict.pt": b"PK", "version": b"7.0"}


@case
def saved_by_torch_save(a):
    a.files = lambda: {"data.pkl": b"\x80\x02", "version": b"3"}


@case
def pickled_tables(a):
    a.files = lambda: {**{n: d for n, d in Archive.files(a).items() if "config" not in n}, "data/weights/model.pt": b"PK"}


@case
def pickled_weight(a):
    a.weights["body.weight"]["use_pickle"] = True


@case
def absent_weight(a):
    a.entries = {}


@case
def unlisted_weight(a):
    a.weights.clear()


@case
def weight_exceeds_storage(a):
    a.weights["body.weight"]["tensor_meta"]["sizes"] = [{"as_int": 400}]


@case
def huge_weight(a):
    a.weights["body.weight"]["tensor_meta"].update(sizes=[{"as_int": 2**62}] * 2, strides=[{"as_int": 2**62}] * 2)


@case
def negative_sizes(a):
    a.weights["body.weight"]["tensor_meta"]["sizes"] = [{"as_int": -3}]


@case
def negative_offset(a):
    a.weights["body.weight"]["tensor_meta"]["storage_offset"] = {"as_int": -1}


@case
def overlapping_bomb(a):
    """A storage of 64 elements, seen as 2^40."""
    a.stored("parameter", "bomb", numbers(64), [2] * 40, [1] * 40)


@case
def sparse_weight(a):
    a.weights["body.weight"]["tensor_meta"]["layout"] = 1


@case
def complex_weight(a):
    a.weights["body.weight"]["tensor_meta"]["dtype"] = 9


@case
def custom_object(a):
    a.signature["input_specs"].append({"custom_obj": {"arg": {"name": "obj", "class_fqn": "C"}, "custom_obj_name": "packed"}})


@case
def token(a):
    a.signature["input_specs"].append({"token": {"arg": {"name": "token"}}})


@case
def gradient(a):
    a.signature["output_specs"].append({"gradient_to_parameter": {"arg": {"name": "sum"}, "parameter_name": "body.weight"}})


@case
def no_outputs(a):
    a.signature["output_specs"].clear()


@case
def improbable_dropout(a):
    a.node("aten.dropout.default", "dropped", {"input": "x", "p": 1.5, "train": True})


@case
def recurrent_weights(a):
    a.node("aten.gru_cell.default", "state", {"input": "x", "hx": "x", "w_ih": "x", "w_hh": "x"})


@case
def complex_operand(a):
    a.node("aten.polar.default", "z", {"abs": "x", "angle": "x"})
    a.node("aten.relu.default", "positive", {"self": "z"})


@case
def real_operand(a):
    a.node("aten.view_as_real.default", "pairs", {"self": "x"})


@case
def autocast(a):
    inner = {"as_graph": {"name": "submod", "graph": graph(["a"], [node("aten.neg.default", "b", {"self": "a"})], ["b"])}}
    a.graph["nodes"].append(node("higher_order.wrap_with_autocast", ["cast"], {"": "=cpu"}))
    a.graph["nodes"][-1]["inputs"] = [{"name": "", "arg": v, "kind": 1} for v in (
        {"as_string": "cpu"}, {"as_scalar_type": 13}, {"as_bool": True}, {"as_bool": True}, inner, tensor("x"))]


@case
def asserted_metadata(a):
    a.graph["nodes"].append(node("aten._assert_tensor_metadata.default", [], {"a": "x"}))
    a.graph["nodes"][-1]["inputs"].append({"name": "dtype", "arg": {"as_scalar_type": 6}, "kind": 2})


@case
def bool_index(a):
    a.input("mask", "bool", [2])
    a.node("aten.index.Tensor", "some", {"self": "x", "indices": ["mask"]})


@case
def bool_index_too_large(a):
    a.node("aten.full.default", "mask", {"size": [1 << 20, 1 << 20], "fill_value": True})
    a.node("aten.index.Tensor", "some", {"self": "mask", "indices": ["mask"]})


@case
def bags_too_large(a):
    a.input("rows", "int64", [1 << 20])
    a.node("aten.full.default", "starts", {"size": [1 << 20], "fill_value": 0})
    a.node("aten.embedding_bag.padding_idx", "bags", {"weight": "x", "indices": "rows", "offsets": "starts"})


@case
def far_scale(a):
    a.input("line", "float32", [1, 1, 4])
    a.node("aten.upsample_nearest1d.default", "grown", {"self": "line", "output_size": [8], "scales": 1e-30})


@case
def size_is_no_expression(a):
    a.graph["tensor_values"]["x"]["sizes"][0] = {"as_expr": {"expr_str": "Frobnicate(s0)", "hint": None}}


def report(name, path):
    run = subprocess.run(["weft", "import", path, "-o", path + ".mlir"], capture_output=True, text=True, timeout=60)
    written = os.path.exists(path + ".mlir")
    print(f"{name}: exit {run.returncode}{', and something is written' if written else ''}")
    print(run.stderr.replace(path, "FILE"), end="")


folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for change in cases:
    archive = sound()
    change(archive)
    archive.write(f"{folder}/{change.__name__}.pt2")
    report(change.__name__, f"{folder}/{change.__name__}.pt2")

sound().write(f"{folder}/sound.pt2")
report("sound", f"{folder}/sound.pt2")
whole = open(f"{folder}/sound.pt2", "rb").read()
doubled = sound()
doubled.entries["byteordex"] = b"little"
doubled.write(f"{folder}/same_names.pt2")
twice = open(f"{folder}/same_names.pt2", "rb").read()
for name, data in {"truncated": whole[:-30], "empty": b"", "text": b"hello", "local_header": b"XXXX" + whole[4:],
                   "same_names": twice.replace(b"byteordex", b"byteorder"),
                   "crc": whole.replace(b"aten.add", b"aten.bad", 1)}.items():
    open(f"{folder}/{name}.pt2", "wb").write(data)
    report(name, f"{folder}/{name}.pt2")
