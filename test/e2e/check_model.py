"""check_model.py FILE [--device cuda [--nccl]] [--mesh M …]: one model file on every mesh and transport.

Compiles FILE (inputs/ and outputs/ lie beside it) for each mesh, verifies the executable, runs it on local threads and under
mpirun, and holds against what the other program recorded: outputs within 1e-4 of the largest magnitude. The guarded device,
whose memory the host cannot reach, must write the same bits and be given and asked for no byte more than the program says. On
every mesh no collective moves weights, and `weft plan`, `inspect` and `run` count the same collectives and bytes; on meshes of
one axis each rank's share of the weights and the collectives of the activations are held too, as the tables below tell. The
bundled model lies in a folder of the same name. With --device cuda the same is compiled for GPUs and runs on local threads; --nccl: each
rank has a GPU, and collectives are no copies.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy

MESHES = ["data=1", "data=2", "model=2", "data=2,model=2", "model=4", "model=3", "data=3", "data=3,model=2"]
TOLERANCE = "1e-4"
STEPS = 2  # a second step must not depend on what the first left in the arenas
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


@dataclasses.dataclass
class Expected:
    """What a model's program may hold and move."""

    shares: dict = dataclasses.field(default_factory=lambda: {"model=2": 0.60, "model=4": 0.40})  # of the weights, a rank
    activation: int = 4 * 32 * 64 * 4  # bytes of what goes from layer to layer
    reduces: int = 6  # of such all-reduces on {model=N} all collectives together move no more than: two a layer, and two
    batch: int = 0  # collectives of any kind on {data=2}
    free: bool = False  # none of these is held: a training step, or no plan is known to be the best


MODELS = {
    "bert": Expected(),
    "gpt2": Expected(shares={"model=2": 0.53, "model=4": 0.28}),
    "jax_cnn": Expected(free=True),
    "jax_gpt": Expected(),
    "llama": Expected(),
    "moe": Expected(batch=2),  # tokens take their places in the experts' queues across the whole batch
    "resnet": Expected(free=True),
    "t5": Expected(reduces=12, activation=4 * 20 * 64 * 4),  # of the encoder 24 tokens, of the decoder 16
    "unet3d": Expected(free=True),
    "vit": Expected(activation=4 * 17 * 64 * 4),
}
# Options of `weft compile` by file; a name in braces is a path beside the file.
OPTIONS = {
    "model_dynamic.onnx": ["--dim", "batch=4", "--dim", "seq=32"],
    "open.mlir": ["--weights", "{params.safetensors}"],
    "train_step.mlir": ["--weights", "{params.safetensors}"],
}


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32", name
        begin, end = entry["data_offsets"]
        tensors[name] = numpy.frombuffer(data[8 + size + begin : 8 + size + end], "<f4").reshape(entry["shape"])
    return tensors


class Check:
    """One model file, its failures, and what running it needs."""

    def __init__(self, file, folder, device="cpu", nccl=False):
        self.file, self.folder, self.device, self.nccl, self.failures = file, folder, device, nccl, []
        self.expected = MODELS[file.parent.name]
        self.inputs, self.outputs = file.parent / "inputs", file.parent / "outputs"
        if file.name == "train_step.mlir":
            self.prepare_training()
        elif file.suffix == ".pt2":
            self.rename_outputs()

    def prepare_training(self):
        """Inputs with the labels; outputs are the loss and then the gradients in the order of the arguments."""
        self.expected = Expected(free=True)
        train = self.file.parent / "train"
        inputs, outputs = self.folder / "inputs", self.folder / "outputs"
        shutil.copytree(self.inputs, inputs)
        shutil.copy(train / "labels.npy", inputs)
        outputs.mkdir()
        loss = json.loads((self.file.parent / "meta.json").read_text())["loss"]
        numpy.save(outputs / "output_0.npy", numpy.float32(loss))
        for number, (_, gradient) in enumerate(sorted(read_safetensors(train / "gradients.safetensors").items()), 1):
            numpy.save(outputs / f"output_{number}.npy", gradient)
        self.inputs, self.outputs = inputs, outputs

    def rename_outputs(self):
        """An archive calls its outputs by their position; recorded are the names of the ONNX files, in the same order."""
        recorded = list(json.loads((self.file.parent / "meta.json").read_text())["outputs"])
        outputs = self.folder / "outputs"
        outputs.mkdir()
        for number, name in enumerate(recorded):
            shutil.copy(self.outputs / f"{name}.npy", outputs / ("output.npy" if len(recorded) == 1 else f"output_{number}.npy"))
        self.outputs = outputs

    def call(self, arguments, what, **environment):
        """Runs a command; its standard output, or None with a note of the failure."""
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, env=ENVIRONMENT | environment)
        if done.returncode != 0:
            command = " ".join(map(str, arguments))
            self.failures.append(f"{what}: exit {done.returncode}\n  {command}\n{done.stdout[-1500:]}{done.stderr[-3000:]}")
            return None
        return done.stdout

    def check_inspection(self, mesh, told):
        """Weights a rank and collectives, from `weft inspect --json`."""
        moved = [c for c in told["collectives"] if c["moves"] == "weights"]
        if moved:
            self.failures.append(f"{mesh}: no collective need move weights, got: {moved}")
        if self.expected.free:
            return
        if set(told["mesh"]) == {"data"} and sum(c["count"] for c in told["collectives"]) > self.expected.batch:
            self.failures.append(f"{mesh}: expected at most {self.expected.batch} collectives, got: {told['collectives']}")
        if mesh not in self.expected.shares:
            return
        share, most = max(told["weights_bytes"]) / told["weights_bytes_whole"], self.expected.shares[mesh]
        if share > most:
            self.failures.append(f"{mesh}: expected at most {most} of the weights a rank, got: {share:.3f}")
        passes = lambda kind: 2 if kind == "all_reduce" else 1
        moved = sum(passes(c["kind"]) * c["bytes"] * c["count"] for c in told["collectives"])
        if moved > (most := 2 * self.expected.reduces * self.expected.activation):
            self.failures.append(f"{mesh}: expected at most {most} bytes of buffers passed on, got: {moved} in {told['collectives']}")

    def check_counts(self, mesh, command, told, inspected):
        """What `weft plan` foretells and `weft run` counts is what `weft inspect` reads in the executable."""
        def collectives(report):
            return sorted(json.dumps({key: c[key] for key in c if key != "moves"}, sort_keys=True) for c in report["collectives"])
        for key, count in (("collectives", collectives), ("weights_bytes", lambda report: report["weights_bytes"])):
            if count(told) != count(inspected):
                self.failures.append(f"{mesh}: weft {command} counts other {key} than weft inspect: {count(told)} != {count(inspected)}")

    def run(self, mesh, executable, inspected):
        ranks = inspected["ranks"]
        mpi = ["mpirun", "--oversubscribe", "-np", str(ranks)]
        late, random = ({"WEFT_DEVICE": "guarded", "WEFT_GUARDED": when} for when in ("late", "random:1"))
        ways = [("local", [], {})]
        if self.device == "cpu":
            ways += [("mpi", mpi, {}), ("local", [], late)]
            if mesh == MESHES[3]:
                ways.append(("mpi", mpi, random))
        written = []
        for transport, launcher, environment in ways:
            what = f"{mesh} {transport} {environment.get('WEFT_DEVICE', self.device)}"
            folder = self.folder / f"{executable.stem}_{what.split(' ', 1)[1].replace(' ', '_')}"
            options = ["--transport", transport, "--repeat", str(STEPS), "--json", "--output-dir", folder]
            against = ["--input-dir", self.inputs, "--expect", self.outputs, "--tolerance", TOLERANCE]
            told = self.call([*launcher, "weft", "run", executable, *against, *options], what, **environment)
            if told is not None:
                self.check_copies(what, executable, json.loads(told))
                self.check_counts(mesh, "run", json.loads(told), inspected)
            written.append([path.read_bytes() for path in sorted(folder.glob("*.npy"))])
            if written[-1] != written[0]:
                self.failures.append(f"{what}: other bits than on local threads and the CPU")

    def check_copies(self, what, executable, told):
        """What went to the device and came from it: nothing on the CPU, else what the program says."""
        count = pathlib.Path(shutil.which("weft")).parent / "unit" / "count_copies"
        expected = json.loads(self.call([count, executable, str(STEPS), *(["own"] if self.nccl else [])], what) or "{}")
        if told["device"] == "cpu":
            expected = {direction: [0] * told["ranks"] for direction in expected}
        if told["copied_bytes"] != expected:
            self.failures.append(f"{what}: expected copies of {expected} bytes, got: {told['copied_bytes']}")

    def check_mesh(self, mesh):
        executable = self.folder / (mesh.replace(",", "_").replace("=", "") + ".weft")
        options = [str(self.file.parent / o[1:-1]) if o[0] == "{" else o for o in OPTIONS.get(self.file.name, [])]
        compile = ["weft", "compile", self.file, *options, "--mesh", mesh, "--device", self.device, "-o", executable, "--quiet"]
        if self.call(compile, mesh) is None:
            return
        self.call(["weft", "verify", executable, "--quiet"], f"{mesh} verify")
        planned = self.call(["weft", "plan", self.file, *options, "--mesh", mesh, "--json"], f"{mesh} plan")
        inspected = self.call(["weft", "inspect", executable, "--json"], f"{mesh} inspect")
        if planned is not None and inspected is not None:
            self.check_counts(mesh, "plan", json.loads(planned), json.loads(inspected))
            self.check_inspection(mesh, json.loads(inspected))
            self.run(mesh, executable, json.loads(inspected))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--nccl", action="store_true")
    parser.add_argument("--mesh", action="append")
    arguments = parser.parse_args()
    meshes = arguments.mesh or MESHES
    with tempfile.TemporaryDirectory() as folder:
        check = Check(arguments.file, pathlib.Path(folder), arguments.device, arguments.nccl)
        for mesh in meshes:
            check.check_mesh(mesh)
    ways = "two transports, two devices" if arguments.device == "cpu" else arguments.device
    print("\n".join(check.failures) or f"{arguments.file}: {len(meshes)} meshes, {ways}, all equal")
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
