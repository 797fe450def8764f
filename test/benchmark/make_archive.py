"""make_archive.py FILE.pt2: a torch.export archive of a GPT-2-small-shaped graph (12 layers, 124 million parameters of zeros)."""
import io
import pathlib
import pickle
import sys
import zipfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "frontends/torch_export/Inputs"))
from archive import Archive, meta  # noqa: E402

LAYERS, HEADS, WIDTH, VOCABULARY, POSITIONS, LENGTH = 12, 12, 768, 50257, 1024, 128
WHOLE, SPLIT = [1, LENGTH, WIDTH], [1, LENGTH, HEADS, WIDTH // HEADS]
SWAPPED = [1, HEADS, LENGTH, WIDTH // HEADS]


class Model(Archive):
    """Adds what torch.export.load wants to see, too: every value's type, and a stack trace at each node."""

    module = ""

    def value(self, target, sizes, dtype="float32", /, **arguments):
        name = f"{target.split('.')[0]}_{len(self.graph['nodes'])}"
        self.node(f"aten.{target}", name, arguments, self.module)
        self.graph["tensor_values"][name] = meta(dtype, sizes)
        last = self.graph["nodes"][-1]
        last["metadata"]["stack_trace"] = f'File "model.py", line {len(name)}, in forward\n    x = self.{self.module}(x)\n' * 3
        last["is_hop_single_tensor_return"] = None
        return name

    def weight(self, name, *sizes):
        return self.stored("parameter", name, numpy.zeros(sizes, "f4"))

    def linear(self, x, name, rows, columns):
        weight, bias = self.weight(name + ".weight", columns, rows), self.weight(name + ".bias", columns)
        return self.value("linear.default", [1, LENGTH, columns], input=x, weight=weight, bias=bias)

    def norm(self, x, name):
        weight, bias = self.weight(name + ".weight", WIDTH), self.weight(name + ".bias", WIDTH)
        return self.value("layer_norm.default", WHOLE, input=x, normalized_shape=[WIDTH], weight=weight, bias=bias)

    def head(self, x, name):
        y = self.value("view.default", SPLIT, self=self.linear(x, name, WIDTH, WIDTH), size=SPLIT)
        return self.value("transpose.int", SWAPPED, self=y, dim0=1, dim1=2)

    def block(self, x, name):
        self.module = name
        y = self.norm(x, name + ".ln_1")
        q, k, v = (self.head(y, f"{name}.attn.{part}") for part in "qkv")
        y = self.value("scaled_dot_product_attention.default", SWAPPED, query=q, key=k, value=v, attn_mask=None, dropout_p=0.0,
                       is_causal=True)
        y = self.value("transpose.int", SPLIT, self=y, dim0=1, dim1=2)
        y = self.linear(self.value("reshape.default", WHOLE, self=y, shape=WHOLE), name + ".attn.c_proj", WIDTH, WIDTH)
        x = self.value("add.Tensor", WHOLE, self=x, other=y)
        y = self.linear(self.norm(x, name + ".ln_2"), name + ".mlp.c_fc", WIDTH, 4 * WIDTH)
        y = self.linear(self.value("gelu.default", [1, LENGTH, 4 * WIDTH], self=y), name + ".mlp.c_proj", 4 * WIDTH, WIDTH)
        return self.value("add.Tensor", WHOLE, self=x, other=y)

    def build(self):
        table, places = self.weight("transformer.wte.weight", VOCABULARY, WIDTH), self.weight("transformer.wpe.weight", POSITIONS, WIDTH)
        positions = self.value("arange.default", [LENGTH], "int64", end=LENGTH)
        place = self.value("embedding.default", [LENGTH, WIDTH], weight=places, indices=positions)
        x = self.value("add.Tensor", WHOLE, self=self.value("embedding.default", WHOLE, weight=table, indices="input_ids"), other=place)
        for layer in range(LAYERS):
            x = self.block(x, f"transformer.h.{layer}")
        self.module = "transformer.ln_f"
        x = self.norm(x, "transformer.ln_f")
        self.input("input_ids", "int64", [1, LENGTH])
        self.output(self.value("linear.default", [1, LENGTH, VOCABULARY], input=x, weight=table))
        self.nameInputs()
        self.program["guards_code"] = []
        self.program["graph_module"]["treespec_namedtuple_fields"] = {}
        signature = self.program["graph_module"]["module_call_graph"][0]["signature"]
        signature["out_spec"] = '[1, {"type": null, "context": null, "children_spec": []}]'


def no_inputs():
    """What torch.save makes of no example inputs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model/data.pkl", pickle.dumps(((), {}), 2))
        archive.writestr("model/version", "3\n")
    return buffer.getvalue()


def main():
    model = Model()
    model.build()
    model.entries["data/sample_inputs/model.pt"] = no_inputs()
    model.entries[".data/version"] = b"3\n"
    model.write(sys.argv[1])


if __name__ == "__main__":
    main()
