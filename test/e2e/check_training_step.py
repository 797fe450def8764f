"""check_training_step.py FILE: the training step in FILE (Inputs/training_step.mlir) on every mesh and transport.

Its numbers are held against NumPy's over several steps: the loss and the gradients of each, weights and momentum behind the last.
On every mesh the executable must verify, and the collectives are counted: gradients are reduced once a step, no activation is
joined, and weights and the optimizer's state are split alike.
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
    """The steps in NumPy: what each gives, and what the last leaves."""
    weights = {name: value.astype("f8") for name, value in weights.items()}
    moments = {name: numpy.zeros_like(value) for name, value in weights.items()}
    given = {name: [] for name in ["loss", *(f"grad:{name}" for name in weights)]}
    for x, t in zip(data["x"].astype("f8"), data["t"].astype("f8")):
        h = numpy.tanh(x @ weights["w1"] + weights["b1"])
        d = h @ weights["w2"] - t
        dy = d * (2 / d.size)
        dh = dy @ weights["w2"].T * (1 - h * h)
        gradients = {"w1": x.T @ dh, "b1": dh.sum(0), "w2": h.T @ dy}
        given["loss"].append((d * d).mean())
        for name, gradient in gradients.items():
            given[f"grad:{name}"].append(gradient)
            moments[name] = 0.9 * moments[name] + gradient
            weights[name] = weights[name] - 0.1 * moments[name]
    return given, weights | {f"optimizer.m:{name}": value for name, value in moments.items()}


class Check:
    def __init__(self, source, folder):
        self.folder, self.failures = folder, []
        self.model = folder / "step.mlir"
        self.model.write_text(source.read_text())
        random = numpy.random.default_rng(3)
        weights = {name: random.normal(0, 0.3, shape).astype("f4") for name, shape in SHAPES.items()}
        (folder / "weights.bin").write_bytes(b"".join(value.tobytes() for value in weights.values()))
        data = {name: random.normal(0, 1, (STEPS, ROWS, 16)).astype("f4") for name in "xt"}
        numpy.savez(folder / "data.npz", **data)
        self.given, self.left = train(weights, data)

    def call(self, *arguments):
        done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {' '.join(map(str, arguments))}\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
        return done.stdout

    def hold(self, what, got, expected):
        error = numpy.abs(got - expected).max() / numpy.abs(expected).max()
        if not error <= TOLERANCE:
            self.failures.append(f"{what}: off by {error:.1e}")

    def run(self, mesh, *options):
        executable, what = self.folder / "step.weft", " ".join([mesh, *options])
        self.call("weft", "compile", self.model, "--mesh", mesh, *options, "-o", executable, "--quiet")
        self.call("weft", "verify", executable)
        inspected = json.loads(self.call("weft", "inspect", executable, "--json"))
        for transport in ["local"] + ["mpi"] * (inspected["ranks"] > 1):
            launch = ["mpirun", "-n", inspected["ranks"], "--oversubscribe"] if transport == "mpi" else []
            outputs, state = self.folder / "outputs", self.folder / "state.safetensors"
            self.call(*launch, "weft", "run", executable, "--transport", transport, "--data", self.folder / "data.npz",
                      "--output-dir", outputs, "--state-out", state)
            for name, expected in self.given.items():
                self.hold(f"{what} {transport}: {name}", numpy.load(outputs / (name.replace(":", "%3A") + ".npy")), numpy.array(expected))
            left = read_safetensors(state)
            for name, expected in self.left.items():
                self.hold(f"{what} {transport}: {name}", left[name], expected)
        return inspected

    def run_all(self):
        for mesh in MESHES:
            sizes = {name: int(size) for name, size in (axis.split("=") for axis in mesh.split(","))}
            inspected = self.run(mesh)
            found = sorted((c["kind"], tuple(c["axes"]), c["bytes"] * c["count"]) for c in inspected["collectives"])
            model, rows = sizes.get("model", 1), ROWS // sizes.get("data", 1)
            expected = [("all_reduce", ("model",), rows * 16 * 4)] * (model > 1)
            if sizes.get("data", 1) > 1:
                expected += [("all_reduce", ("data",), int(numpy.prod(shape)) // model * 4) for shape in SHAPES.values()]
                expected += [("all_reduce", ("data",), 4)]
            if found != sorted(expected):
                self.failures.append(f"{mesh}: expected {sorted(expected)}, got: {found}")
            state = 2 * 4 * sum(int(numpy.prod(shape)) for shape in SHAPES.values()) // model
            if any(arenas["state"] != state for arenas in inspected["arenas"]):
                self.failures.append(f"{mesh}: expected {state} bytes of state a rank, got: {inspected['arenas']}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check = Check(pathlib.Path(sys.argv[1]), pathlib.Path(folder))
        check.run_all()
    print("\n".join(check.failures))
    sys.exit(bool(check.failures))


main()
