"""training.py CASES [FIRST]: steps of random networks on random meshes, with microbatches and sharded optimizers, against one rank.

Case i is drawn from seed FIRST + i: layers (products as they lie and transposed, several joined in one, biases, norms, positions of which some
are used, residuals, dropout) of sizes that may divide nothing, a mesh of data and model axes, microbatches or several batches a step, a stage of
sharding, an optimizer. The losses, the gradients of the first step and the parameters behind the last must be those of one rank. A failing case is printed whole.
"""
import pathlib
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from training_files import distance, read_losses, read_safetensors, weft  # noqa: E402

STEPS, TOLERANCE = 3, 2e-5
OPTIMIZERS = (["sgd", "--lr", "0.05", "--momentum", "0.9"], ["sgd", "--lr", "0.05", "--clip-norm", "0.5"],
              ["adam", "--lr", "0.01", "--eps", "0.01"])  # a large epsilon: gradients that are nearly zero do not decide


class Network:
    """Draws a network as a module, layer by layer."""

    def __init__(self, random):
        self.random, self.weights, self.lines, self.count, self.bytes = random, [], [], 0, b""
        self.draws = 0
        self.batch, self.rows = int(random.choice([4, 6, 10, 12])), int(random.integers(1, 6))
        self.width = self.draw()
        self.value, self.earlier = "%x", {}
        self.input = self.type()
        for _ in range(random.integers(2, 6)):
            self.earlier[self.width] = self.value
            getattr(self, random.choice(["linear", "transposed", "joined", "norm", "positions", "residual", "dropout"]))()
        self.linear()  # so that something is trained

    def draw(self):
        return int(self.random.integers(2, 14))

    def type(self, *shape):
        return f"tensor<{'x'.join(map(str, shape or (self.batch, self.rows, self.width)))}xf32>"

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        values = self.random.normal(size=shape) / max(1, shape[0]) ** 0.5
        data = values.astype("<f4").tobytes()
        self.weights.append(f'weft.weight @{name} : {self.type(*shape)} = #weft.external<"weights.bin", {len(self.bytes)}, {len(data)}>')
        self.bytes += data
        return self.emit(f"weft.load @{name} : {self.type(*shape)}")

    def emit(self, operation):
        self.count += 1
        self.lines.append(f"  %{self.count} = {operation}")
        return f"%{self.count}"

    def add(self, other):
        self.value = self.emit(f"weft.add {self.value}, {other} : {self.type()}")

    def product(self, width, side):
        weight = (self.width, width) if side == 0 else (width, self.width)
        before, name = self.type(), self.weight(*weight)
        self.width = width
        self.value = self.emit(f"weft.dot_general {self.value}, {name} batch [] x [] contract [2] x [{side}] : "
                               f"({before}, {self.type(*weight)}) -> {self.type()}")

    def activate(self):
        self.value = self.emit(f"weft.tanh {self.value} : {self.type()}")

    def linear(self):
        self.product(self.draw(), 0)
        bias = self.weight(self.width)
        self.add(self.emit(f"weft.broadcast {bias} dims [2] : {self.type(self.width)} to {self.type()}"))
        self.activate()

    def transposed(self):
        self.product(self.draw(), 1)
        self.activate()

    def joined(self):
        """Three products of one weight: their gradients are joined again."""
        width = self.draw()
        self.product(3 * width, 0)
        whole, of = self.value, self.type()
        self.width = width
        parts = [self.emit(f"weft.slice {whole} starts [0, 0, {i * width}] strides [1, 1, 1] : {of} to {self.type()}") for i in range(3)]
        gate = self.emit(f"weft.tanh {parts[1]} : {self.type()}")
        self.value = self.emit(f"weft.mul {parts[0]}, {gate} : {self.type()}")
        self.add(parts[2])

    def norm(self):
        scale, bias, of = self.weight(self.width), self.weight(self.width), self.type(self.width)
        self.value = self.emit(f"weft.layer_norm {self.value} scale {scale} : {of} bias {bias} : {of} axis 2 epsilon 0.1 : {self.type()}")

    def positions(self):
        """Rows of a table of which the last are not used."""
        extra, of = int(self.random.integers(0, 4)), self.type(self.rows, self.width)
        table = self.weight(self.rows + extra, self.width)
        rows = self.emit(f"weft.slice {table} starts [0, 0] strides [1, 1] : {self.type(self.rows + extra, self.width)} to {of}")
        self.add(self.emit(f"weft.broadcast {rows} dims [1, 2] : {of} to {self.type()}"))

    def dropout(self):
        """Random numbers by the element's position, in a step that counts."""
        scalar, words = "tensor<ui64>", self.type().replace("f32", "ui64")
        if self.draws == 0:
            self.weights += [f"weft.weight kind(state) @random.{name} : {scalar} = dense<{first}> : {scalar}" for name, first in (("seed", 3), ("step", 0))]
            following = self.emit(f"weft.add {self.emit(f'weft.load @random.step : {scalar}')}, {self.emit(f'weft.constant dense<1> : {scalar}')} : {scalar}")
            self.lines.append(f"  weft.store @random.step, {following} : {scalar}")
        self.draws += 1
        number = self.emit(f"weft.constant dense<{self.draws << 40}> : {scalar}")
        seed = self.emit(f"weft.add {self.emit(f'weft.load @random.seed : {scalar}')}, {number} : {scalar}")
        key = self.emit(f"weft.random_bits {self.emit(f'weft.load @random.step : {scalar}')}, {seed} : {scalar}")
        position = self.emit(f"weft.iota 0 : {words}")
        for dim, extent in ((1, self.rows), (2, self.width)):
            stride = self.emit(f"weft.constant dense<{extent}> : {words}")
            position = self.emit(f"weft.mul {position}, {stride} : {words}")
            position = self.emit(f"weft.add {position}, {self.emit(f'weft.iota {dim} : {words}')} : {words}")
        bits = self.emit(f"weft.random_bits {position}, {self.emit(f'weft.broadcast {key} dims [] : {scalar} to {words}')} : {words}")
        kept = self.emit(f"weft.compare lt {bits}, {self.emit(f'weft.constant dense<{3 << 62}> : {words}')} : {words}")
        zero, scale = (self.emit(f"weft.constant dense<{number}> : {self.type()}") for number in ("0.0", "1.3333334"))
        scaled = self.emit(f"weft.mul {self.value}, {scale} : {self.type()}")
        self.value = self.emit(f"weft.select {kept}, {scaled}, {zero} : {self.type().replace('f32', 'i1')}, {self.type()}")

    def residual(self):
        if self.earlier.get(self.width, self.value) != self.value:
            self.add(self.earlier[self.width])
        self.activate()

    def text(self):
        head = f'func.func @main(%x: {self.input} {{weft.name = "x"}}) -> ({self.type()} {{weft.name = "logits"}}) {{'
        return "\n".join([*self.weights, head, *self.lines, f"  return {self.value} : {self.type()}", "}\n"])


def train(folder, options):
    weft("compile", folder / "case.mlir", "--loss", "mse", "--logits", "logits", "--labels", "labels", *options, "-o", folder / "case.weft",
         "--quiet")
    weft("verify", folder / "case.weft", "--quiet")
    weft("train", folder / "case.weft", "--data", folder / "data.npz", "--steps", STEPS, "--log", folder / "log", "--dump-gradients",
         folder / "gradients", "--export-weights", folder / "weights", "--quiet")
    gradients = {f"gradient {name}": value for name, value in read_safetensors(folder / "gradients").items()}
    return {"loss": read_losses(folder / "log"), **gradients, **read_safetensors(folder / "weights")}


def run(seed, folder):
    """What is wrong with the case; empty: nothing."""
    random = numpy.random.default_rng(seed)
    network = Network(random)
    (folder / "case.mlir").write_text(network.text())
    (folder / "weights.bin").write_bytes(network.bytes)
    data, model = int(random.choice([1, 2, 3])), int(random.choice([1, 2, 3]))
    microbatches, batches = [(1, 1), (2, 1), (2, 1), (1, 2)][random.integers(4)]
    rows = network.batch * batches
    numpy.savez(folder / "data.npz", x=random.normal(size=(STEPS, rows, network.rows, int(network.input.split("x")[2]))).astype("f4"),
                labels=random.normal(size=(STEPS, rows, network.rows, network.width)).astype("f4"))
    optimizer = ["--train", *OPTIMIZERS[random.integers(len(OPTIMIZERS))], "--accumulate-batches", str(batches)]
    split = ["--mesh", f"data={data},model={model}", "--accumulate", str(microbatches), "--optimizer-sharding", str(random.integers(4))]
    expected, actual = train(folder, optimizer), train(folder, optimizer + split)
    wrong = [name for name in expected if name not in actual or not distance(actual[name], expected[name]) <= TOLERANCE]
    return f"seed {seed}: {' '.join(optimizer + split)}: {wrong}\n{network.text()}" if wrong else ""


def main():
    cases, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    failures = []
    for seed in range(first, first + cases):
        with tempfile.TemporaryDirectory() as folder:
            try:
                failures.append(run(seed, pathlib.Path(folder)))
            except SystemExit as error:  # a command failed
                failures.append(f"seed {seed}: {error}\n{pathlib.Path(folder, 'case.mlir').read_text()}")
    print("\n".join(filter(None, failures)) or f"{cases} cases agree with one rank")
    sys.exit(any(failures))


if __name__ == "__main__":
    main()
