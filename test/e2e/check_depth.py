"""check_depth.py: GPT-2-shaped decoders of 2 and 12 layers on one rank have as many kernels, and at most 6 LAUNCH a layer.

The weights are the bytes of one file of zeros, all of them; nothing is run.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SEQUENCE, WIDTH, HEADS, VOCABULARY = 16, 64, 4, 100
FEATURES = WIDTH // HEADS
X, WIDE = f"tensor<1x{SEQUENCE}x{WIDTH}xf32>", f"tensor<1x{SEQUENCE}x{4 * WIDTH}xf32>"
FEATURES_LAST = f"tensor<1x{SEQUENCE}x{HEADS}x{FEATURES}xf32>"
HEADS_FIRST = f"tensor<1x{HEADS}x{SEQUENCE}x{FEATURES}xf32>"


class Model:
    """The text of a module, line by line; each method adds operations and returns their value's name."""

    def __init__(self):
        self.weights, self.body, self.values = [], [], 0

    def add(self, text):
        self.values += 1
        self.body.append(f"    %{self.values} = weft.{text}")
        return f"%{self.values}"

    def weight(self, *shape):
        kind = f"tensor<{'x'.join(map(str, shape))}xf32>"
        name, length = f"@w{len(self.weights)}", 4
        for extent in shape:
            length *= extent
        self.weights.append(f'  weft.weight {name} : {kind} = #weft.external<"weights.bin", 0, {length}>')
        return self.add(f"load {name} : {kind}"), kind

    def norm(self, x):
        (scale, kind), (bias, _) = self.weight(WIDTH), self.weight(WIDTH)
        return self.add(f"layer_norm {x} scale {scale} : {kind} bias {bias} : {kind} axis 2 epsilon 1.0e-05 : {X}")

    def linear(self, x, given, made):
        (weight, kind), (bias, row) = self.weight(given, made), self.weight(made)
        left, right = f"tensor<1x{SEQUENCE}x{given}xf32>", f"tensor<1x{SEQUENCE}x{made}xf32>"
        product = self.add(f"dot_general {x}, {weight} batch [] x [] contract [2] x [0] : ({left}, {kind}) -> {right}")
        return self.add(f"add {product}, {self.add(f'broadcast {bias} dims [2] : {row} to {right}')} : {right}")

    def heads(self, x):
        apart = self.add(f"reshape {self.linear(x, WIDTH, WIDTH)} : {X} to {FEATURES_LAST}")
        return self.add(f"transpose {apart} [0, 2, 1, 3] : {FEATURES_LAST} -> {HEADS_FIRST}")

    def layer(self, x):
        normal = self.norm(x)
        query, key, value = self.heads(normal), self.heads(normal), self.heads(normal)
        seen = self.add(f"attention {query}, {key}, {value} scale 0.25 causal masked_rows nan"
                        f" : ({HEADS_FIRST}, {HEADS_FIRST}, {HEADS_FIRST}) -> {HEADS_FIRST}")
        seen = self.add(f"transpose {seen} [0, 2, 1, 3] : {HEADS_FIRST} -> {FEATURES_LAST}")
        seen = self.linear(self.add(f"reshape {seen} : {FEATURES_LAST} to {X}"), WIDTH, WIDTH)
        x = self.add(f"add {x}, {seen} : {X}")
        inner = self.add(f"gelu tanh {self.linear(self.norm(x), WIDTH, 4 * WIDTH)} : {WIDE}")
        return self.add(f"add {x}, {self.linear(inner, 4 * WIDTH, WIDTH)} : {X}")

    def text(self, layers):
        table, kind = self.weight(VOCABULARY, WIDTH)
        ids = f"tensor<1x{SEQUENCE}xi64>"
        x = self.add(f"gather {table}, %ids axis 0 : ({kind}, {ids}) -> {X}")
        for _ in range(layers):
            x = self.layer(x)
        x = self.norm(x)
        lines = [f'module attributes {{weft.source = "decoder.mlir"}} {{', *self.weights,
                 f'  func.func @main(%ids: {ids} {{weft.name = "ids"}}) -> ({X} {{weft.name = "x"}}) {{',
                 *self.body, f"    return {x} : {X}", "  }", "}"]
        return "\n".join(lines) + "\n"


def inspect(folder, layers):
    model, executable = folder / "decoder.mlir", folder / f"decoder{layers}.weft"
    model.write_text(Model().text(layers))
    subprocess.run(["weft", "compile", model, "-o", executable, "--quiet"], check=True)
    return json.loads(subprocess.check_output(["weft", "inspect", executable, "--json"]))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "weights.bin").write_bytes(bytes(4 * VOCABULARY * WIDTH * 4))
        shallow, deep = inspect(folder, 2), inspect(folder, 12)
    if shallow["kernels"] != deep["kernels"]:
        sys.exit(f"{shallow['kernels']} kernels for 2 layers, {deep['kernels']} for 12")
    each = (deep["instructions"]["LAUNCH"] - shallow["instructions"]["LAUNCH"]) / 10
    if each > 6 or set(deep["instructions"]) - {"ATTENTION", "GEMM", "LAUNCH"}:
        sys.exit(f"{each} LAUNCH a layer; instructions of 12 layers: {deep['instructions']}")


if __name__ == "__main__":
    main()
