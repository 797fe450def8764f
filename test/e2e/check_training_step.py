"""check_training_step.py FILE: the training step in FILE (Inputs/training_step.mlir) on every mesh and transport.

Its numbers are held against NumPy's over several steps: the loss of each, weights and momentum behind the last. On every mesh,
with the optimizer sharded or not, and in microbatches, the executable must verify, and the collectives are counted: gradients are
reduced once a step, no activation is joined, what is sharded moves 2, 2 and 3 times the parameters, and lies in parts.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

MESHES = ["data=1", "data=2", "model=2", "data=2,model=2", "data=3,model=2"]
STEPS, ROWS, TOLERANCE = 3, 12, 1e-5
SHAPES = {"w1": (16, 32), "b1": (32,), "w2": (32, 16)}
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def read_safetensors(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    begin = lambda entry: 8 + size + entry["data_offsets"][0]
    return {
        name: numpy.frombuffer(data, "<f4", int(numpy.prod(entry["shape"])), begin(entry)).reshape(entry["shape"])
        for name, entry in json.loads(data[8 : 8 + size]).items()
    }


def train(weights, data):
    """The steps in NumPy: their losses, and what the last leaves."""
    weights = {name: value.astype("f8") for name, value in weights.items()}
    moments = {name: numpy.zeros_like(value) for name, value in weights.items()}
    losses = []
    for x, t in zip(data["x"].astype("f8"), data["t"].astype("f8")):
        h = numpy.tanh(x @ weights["w1"] + weights["b1"])
        d = h @ weights["w2"] - t
        dy = d * (2 / d.size)
        dh = dy @ weights["w2"].T * (1 - h * h)
        gradients = {"w1": x.T @ dh, "b1": dh.sum(0), "w2": h.T @ dy}
        losses.append((d * d).mean())
        for name, gradient in gradients.items():
            moments[name] = 0.9 * moments[name] + gradient
            weights[name] = weights[name] - 0.1 * moments[name]
    return numpy.array(losses), weights | {f"optimizer.m:{name}": value for name, value in moments.items()}


class Check:
    def __init__(self, source, folder):
        self.folder, self.failures = folder, []
        self.model = folder / "step.mlir"
        self.source = source.read_text()
        random = numpy.random.default_rng(3)
        weights = {name: random.normal(0, 0.3, shape).astype("f4") for name, shape in SHAPES.items()}
        (folder / "weights.bin").write_bytes(b"".join(value.tobytes() for value in weights.values()))
        data = {name: random.normal(0, 1, (STEPS, ROWS, 16)).astype("f4") for name in "xt"}
        numpy.savez(folder / "data.npz", **data)
        self.losses, self.left = train(weights, data)

    def call(self, *arguments):
        done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {' '.join(map(str, arguments))}\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
        return done.stdout

    def hold(self, what, got, expected):
        error = numpy.abs(got - expected).max() / numpy.abs(expected).max()
        if not error <= TOLERANCE:
            self.failures.append(f"{what}: off by {error:.1e}")

    def run(self, mesh, stage=0, microbatches=1):
        executable, what = self.folder / "step.weft", f"{mesh}, stage {stage}, {microbatches} microbatches"
        request = f"weft.training = {{microbatches = {microbatches} : i64, optimizer_sharding = {stage} : i64}}"
        self.model.write_text(f"module attributes {{{request}}} {{\n{self.source}}}\n")
        self.call("weft", "compile", self.model, "--mesh", mesh, "-o", executable, "--quiet")
        self.call("weft", "verify", executable)
        inspected = json.loads(self.call("weft", "inspect", executable, "--json"))
        for transport in ["local"] + ["mpi"] * (inspected["ranks"] > 1 and stage in (0, 3)):
            launch = ["mpirun", "-n", inspected["ranks"], "--oversubscribe"] if transport == "mpi" else []
            outputs, state = self.folder / "outputs", self.folder / "state.safetensors"
            self.call(*launch, "weft", "run", executable, "--transport", transport, "--data", self.folder / "data.npz",
                      "--output-dir", outputs, "--state-out", state)
            self.hold(f"{what}, {transport}: loss", numpy.load(outputs / "loss.npy"), self.losses)
            left = read_safetensors(state)
            for name, expected in self.left.items():
                self.hold(f"{what}, {transport}: {name}", left[name], expected)
        self.check_program(what, inspected, mesh, stage, microbatches)

    def check_program(self, what, inspected, mesh, stage, microbatches):
        sizes = {name: int(size) for name, size in (axis.split("=") for axis in mesh.split(","))}
        data, model = sizes.get("data", 1), sizes.get("model", 1)
        moved = {}
        for each in inspected["collectives"]:
            key = each["kind"], *each["axes"]
            moved[key] = moved.get(key, 0) + each["bytes"] * each["count"]
        size = {name: 4 * int(numpy.prod(shape)) // model for name, shape in SHAPES.items()}
        parameters, gathered = sum(size.values()), sum(size.values()) + size["w2"]  # the input has no gradient
        expected = {("all_reduce", "model"): ROWS // data * 16 * 4} if model > 1 else {}
        if data > 1:
            expected["all_reduce", "data"] = 4 + parameters * (stage == 0)  # with the loss
        if data > 1 and stage > 0:
            expected["reduce_scatter", "data"] = parameters * (microbatches if stage > 1 else 1)
            expected["all_gather", "data"] = gathered * microbatches if stage == 3 else parameters
        if moved != expected:
            self.failures.append(f"{what}: expected {expected}, got: {moved}")
        part = lambda sharded: parameters // (data if sharded else 1)
        state = part(stage >= 3) + part(stage >= 1) + (part(stage >= 2) + 4) * (microbatches > 1)
        for arenas in inspected["arenas"]:
            if not state <= arenas["state"] <= state + 64 * 8:  # aligned
                self.failures.append(f"{what}: expected {state} bytes of state a rank, got: {arenas['state']}")

    def run_all(self):
        for mesh in MESHES:
            self.run(mesh)
        for stage in (1, 2, 3):
            self.run("data=2", stage)
            self.run("data=4,model=2", stage)
        for stage in (0, 1, 2, 3):
            self.run("data=2", stage, microbatches=3)
        self.run("data=1", microbatches=2)
        self.run("model=2", microbatches=4)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check = Check(pathlib.Path(sys.argv[1]), pathlib.Path(folder))
        check.run_all()
    print("\n".join(check.failures))
    sys.exit(bool(check.failures))


if __name__ == "__main__":
    main()
