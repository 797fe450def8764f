"""check_sharded_optimizer.py MODEL GRADIENTS: what sharded optimizers move and hold, against the table of Rajbhandari et al. (2020).

Of Ψ parameters on n devices a rank receives, times (n - 1) / n, in a step of G microbatches

    stage 0    2Ψ            all-reduce of the gradients
    stage 1    2Ψ            reduce-scatter of the gradients, all-gather of the parameters
    stage 2    (G + 1)Ψ      the reduce-scatter for each microbatch
    stage 3    up to 3GΨ     and the all-gather, for the forward and, of what it reads, for the backward pass

and holds, of 32-bit parameters and Adam, 4 bytes a parameter, 8 of state, and with microbatches 4 of gradients, which are split from
stage 3, 1 and 2 on. Of 16-bit parameters it is 2 bytes, 12 of state (with the wide copy), and 4. Numbers count the padding of what
does not divide. MODEL is gpt2 with a symbolic batch, GRADIENTS a file that has its parameters' shapes.
"""
import json
import pathlib
import sys
import tempfile

from training_files import read_safetensors, weft, write_layers

SEQUENCE, BATCH = 32, 12
TRAIN = ["--train", "adamw", "--logits", "logits", "--labels", "labels"]


class Parameter:
    def __init__(self, name, shape, used=None, again=True):
        """used: the shape of what has a gradient; again: whether the backward pass reads the parameter."""
        self.name, self.shape, self.used, self.again = name, shape, used or shape, again

    def padded(self, shape, count):
        """Elements, split along the first dimension that can be, else along the longest, of those that all of it has."""
        free = [dim for dim, extent in enumerate(shape) if self.used[dim] == self.shape[dim]]
        divided = [dim for dim in free if self.shape[dim] % count == 0]
        best = divided[0] if divided else max(free, key=lambda dim: (self.shape[dim], -dim))
        elements = -(-self.shape[best] // count) * count
        for dim, extent in enumerate(shape):
            elements *= 1 if dim == best else extent
        return elements


def product(extents):
    result = 1
    for extent in extents:
        result *= extent
    return result


def read_gpt2(path):
    for name, gradient in read_safetensors(path).items():
        if name.endswith("wpe.weight"):  # rows of a slice: the other positions have no gradient
            yield Parameter(name, gradient.shape, used=(SEQUENCE, gradient.shape[1]), again=False)
        else:  # norms, and slices for attention with their bias, are computed again; other products' biases are not
            yield Parameter(name, gradient.shape, again="ln_" in name or "c_attn" in name or gradient.ndim > 1)


def make_layers(path, layers, width, rows=BATCH, element="bf16"):
    """The parameters of a network of square layers."""
    write_layers(path, layers, rows, width, element)
    return [Parameter(f"w{i}", (width, width), again=i > 0) for i in range(layers)]  # the input has no gradient


class Check:
    def __init__(self, model, parameters, wide, options, folder):
        """wide: whether parameters have 32 bits."""
        self.model, self.parameters, self.wide, self.options = model, parameters, wide, options
        self.executable, self.failures = folder / "step.weft", []

    def run(self, devices, microbatches, stage):
        weft("compile", self.model, "--quiet", "-o", self.executable, *TRAIN, *self.options, "--mesh", f"data={devices}", "--accumulate",
             microbatches, "--optimizer-sharding", stage)
        inspected = json.loads(weft("inspect", self.executable, "--json"))
        self.check(f"data={devices}, stage {stage}, {microbatches} microbatches", inspected, devices, microbatches, stage)

    def check(self, what, inspected, devices, microbatches, stage):
        moved = {"all_reduce": 0, "reduce_scatter": 0, "all_gather": 0}
        for each in inspected["collectives"]:
            moved.setdefault(each["kind"], 0)
            moved[each["kind"]] += each["bytes"] * each["count"]
        if moved != (expected := self.expect_moved(devices, microbatches, stage)):
            self.failures.append(f"{what}: expected {expected}, got: {moved}")
        held = self.expect_held(devices, microbatches, stage)
        for arenas in inspected["arenas"]:
            if not abs(arenas["state"] - held) <= 0.02 * held:
                self.failures.append(f"{what}: expected {held} bytes of state, got: {arenas['state']}")

    def expect_moved(self, devices, microbatches, stage):
        """Bytes of whole buffers, of each kind of collective; with the loss and, of labels, their number."""
        bytes_each = 4 if self.wide or microbatches > 1 and stage < 2 else 2  # sums over microbatches are wide
        loss = 8 if self.model.suffix == ".onnx" else 4
        if stage == 0:
            gradients = sum(product(each.used) for each in self.parameters)
            return {"all_reduce": bytes_each * gradients + loss, "reduce_scatter": 0, "all_gather": 0}
        gradients = sum(each.padded(each.used, devices) for each in self.parameters)
        gathered = sum(each.padded(each.shape, devices) for each in self.parameters)
        if stage == 3:
            again = sum(each.padded(each.shape, devices) for each in self.parameters if each.again)
            gathered = (gathered + again) * microbatches
        return {"all_reduce": loss, "reduce_scatter": bytes_each * gradients * (microbatches if stage > 1 else 1),
                "all_gather": (4 if self.wide else 2) * gathered}

    def expect_held(self, devices, microbatches, stage):
        parameters = sum(product(each.shape) for each in self.parameters)
        part = lambda since: parameters // devices if stage >= since else parameters
        gradients = 4 * part(2) if microbatches > 1 else 0
        return (4 if self.wide else 2) * part(3) + (8 if self.wide else 12) * part(1) + gradients


def check_layers(folder):
    """Of the third stage no more than two layers are whole at a time, however many there are; gradients wait in parts."""
    width, devices, layers = 768, 4, 10  # a layer is no smaller than a bucket
    model = folder / "layers.mlir"
    write_layers(model, layers, BATCH, width, "bf16")
    for microbatches in (1, 3):
        weft("compile", model, "--quiet", "-o", folder / "step.weft", *TRAIN, "--loss", "mse", "--mesh", f"data={devices}", "--accumulate",
             microbatches, "--optimizer-sharding", 3)
        inspected = json.loads(weft("inspect", folder / "step.weft", "--json"))
        layer, parts = width * width * 2, layers * width * width * 2 // devices
        for arenas in inspected["arenas"]:
            beside = arenas["communication"] + arenas["activations"]
            if not beside <= 2.1 * layer + parts:
                yield f"{layers} layers, {microbatches} microbatches: {beside} bytes beside the state, expected {2 * layer + parts} at most"


def check_cluster(folder):
    """A search for the fastest step of a cluster obeys the stages too: of a batch that is worth to be split, the bytes are the table's."""
    model = folder / "wide.mlir"
    for element, width in (("f32", 98), ("bf16", 96)):
        parameters = make_layers(model, 4, width, rows=1536, element=element)
        check = Check(model, parameters, element == "f32", ["--loss", "mse", "--cluster", "cpu:4"], folder)
        for devices, microbatches in ((2, 1), (3, 2)):
            for stage in (1, 2, 3):
                check.run(devices, microbatches, stage)
        yield from (f"cpu:4, {element}: {failure}" for failure in check.failures)


def main():
    model, gradients = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        gpt2 = Check(model, list(read_gpt2(gradients)), True,
                     ["--dim", f"batch={BATCH}", "--dim", f"seq={SEQUENCE}", "--loss", "cross_entropy"], folder)
        layers = folder / "narrow.mlir"
        narrow = Check(layers, make_layers(layers, 4, 66), False, ["--loss", "mse"], folder)
        for check in (gpt2, narrow):
            for devices, microbatches in ((2, 1), (2, 3), (3, 2)):
                for stage in range(4):
                    check.run(devices, microbatches, stage)
        failures = gpt2.failures + narrow.failures + list(check_layers(folder)) + list(check_cluster(folder))
    print("\n".join(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
