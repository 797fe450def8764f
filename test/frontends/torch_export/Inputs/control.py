"""control.py OUT.pt2: graphs inside operators of higher order."""
import sys

from archive import Archive, Sym, graph, node, tensor


def inner(name, target):
    return {"as_graph": {"name": name, "graph": graph(["a"], [node(target, "b", {"self": "a"}, "part")], ["b"])}}


def call(archive, target, output, *arguments):
    archive.graph["nodes"].append(node(target, [output], {}, "block"))
    archive.graph["nodes"][-1].update(name=output, inputs=[{"name": "", "arg": argument, "kind": 1} for argument in arguments])
    return output


def main():
    archive = Archive()
    x = archive.input("x", "float32", [2, 3])
    pred = archive.input("pred", "bool", [])
    archive.node("aten.sym_size.int", Sym("rows"), {"self": x, "dim": 0})
    archive.node("_operator.gt", Sym("many"), {"a": Sym("rows"), "b": 1})
    x = call(archive, "higher_order.wrap_with_set_grad_enabled", "no_grad", {"as_bool": False}, inner("s0", "aten.exp.default"), tensor(x))
    x = call(archive, "higher_order.wrap_with_autocast", "no_cast", {"as_string": "cpu"}, {"as_none": True}, {"as_bool": False}, {"as_bool": True},
             inner("s1", "aten.sin.default"), tensor(x))
    x = call(archive, "higher_order.cond", "known", {"as_sym_bool": {"as_name": "many"}}, inner("t", "aten.cos.default"), inner("f", "aten.neg.default"),
             {"as_tensors": [{"name": x}]})
    x = call(archive, "higher_order.cond", "open", tensor(pred), inner("t", "aten.tanh.default"), inner("f", "aten.rsqrt.default"),
             {"as_tensors": [{"name": x}]})
    archive.output(x)
    archive.write(sys.argv[1])


if __name__ == "__main__":
    main()
