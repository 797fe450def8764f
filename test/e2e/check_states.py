"""check_states.py FOLDER [CUT]: a model that keeps state between steps, on every mesh and transport, and cut behind CUT.

FOLDER holds model.pt2, steps.npz, the outputs that the other program recorded (outputs/output.npy, or logits.npy) and, where
known, the states behind the last step (after.safetensors). For each mesh the executable must verify, give these outputs at every
step, and leave these states; stopped halfway and started again from --state-out it must give the same bits. Caches (states of
four dimensions or more) are split by batch and heads, no collective and no copy is of a whole one, where it is read as it lies no kernel writes
a whole one elsewhere, and only caches that slide are moved at all. The guarded device, which the host cannot reach, must write the same bits.
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy

MESHES = ["data=1", "data=2", "model=2", "data=2,model=2"]
PARTS = ["data=1;data=1", "model=2;data=2", "data=2,model=2;model=2"]
TOLERANCES = {"bf16": 2e-2, "int8": 1e-3}  # a rounding of bf16, a step of int8 scaled
SLIDING = ("concat", "roll")
# Whose attention reads the cache as it lies; others read it converted, or with its heads repeated.
READ_IN_PLACE = ("layers_item", "layers_index_copy", "keys_values", "one_buffer", "batch_first", "twice", "shared_storage", "batch_positions",
                 "decomposed")
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
TYPES = {"F32": "<f4", "I64": "<i8", "I8": "<i1", "BF16": "<u2"}
TENSOR = r"(?:f|bf|i|ui)\d+ \[([\d, ]*)\]"  # in a program


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        begin, end = entry["data_offsets"]
        tensors[name] = numpy.frombuffer(data[8 + size + begin : 8 + size + end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


class Check:
    def __init__(self, source, folder):
        self.source, self.folder, self.failures = source, folder, []
        self.tolerance = TOLERANCES.get(source.name, 1e-4)
        recorded = source / "outputs" / "output.npy"
        self.expected = folder / "expected"
        self.expected.mkdir()
        numpy.save(self.expected / "output.npy", numpy.load(recorded if recorded.exists() else source / "logits.npy"))

    def call(self, arguments, what, **environment):
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, env=ENVIRONMENT | environment)
        if done.returncode != 0:
            command = " ".join(map(str, arguments))
            self.failures.append(f"{what}: exit {done.returncode}\n  {command}\n{done.stdout[-1500:]}{done.stderr[-3000:]}")
            return None
        return done.stdout + done.stderr

    def check(self, good, what, message):
        if not good:
            self.failures.append(f"{what}: {message}")

    def check_program(self, mesh, program, inspected):
        """How caches lie, and what moves them."""
        cut = numpy.prod([int(size) for size in re.findall(r"=(\d+)", mesh)])
        count = lambda shape: int(numpy.prod([int(n) for n in shape.split(", ")])) if shape else 1
        isCache = lambda shape: len(shape) >= 4 and shape[-1] > 1
        caches = [re.search(TENSOR, block.split("into")[1])[1] for block in re.findall(r"weight_block .* into <state.*", program)]
        sizes = [count(shape) for shape in caches if isCache([int(n) for n in shape.split(", ") if n])]
        whole = [int(numpy.prod(tensor.shape)) for tensor in self.states.values() if isCache(tensor.shape)]
        self.check(sorted(sizes) == sorted(n // cut for n in whole), mesh, f"expected caches of {whole} elements in {cut}, got: {caches}")
        if not sizes:
            return
        least = min(sizes)
        for line in map(str.strip, program.splitlines()):
            if re.match(r"copy|collective", line) and max(map(count, re.findall(TENSOR, line)), default=0) >= least:
                moves = line.startswith("copy <state") and self.source.name in SLIDING
                self.check(moves, mesh, f"this moves a whole cache: {line}")
            if line.startswith("launch") and self.source.name in READ_IN_PLACE:
                written = re.findall(r"<(\w+), [^>]*? " + TENSOR, line.split("] to [")[1].split("] params")[0])
                self.check(all(kind == "state" or count(shape) < least for kind, shape in written), mesh, f"this makes a whole cache elsewhere: {line}")
        states = sum(tensor.nbytes for tensor in self.states.values())
        self.check(max(arena["state"] for arena in inspected["arenas"]) < states / cut + 4096, mesh, f"state arenas: {inspected['arenas']}")

    def run(self, mesh, executable, ranks):
        mpi = ["mpirun", "--oversubscribe", "-np", str(ranks)]
        written = []
        for transport, launcher, environment in (("local", [], {}), ("mpi", mpi, {}), ("local", [], {"WEFT_DEVICE": "guarded"})):
            what = f"{mesh} {transport} {environment.get('WEFT_DEVICE', 'cpu')}"
            folder = self.folder / f"{executable.stem}_{len(written)}"
            after = self.folder / f"{executable.stem}_{len(written)}.safetensors"
            options = ["--transport", transport, "--output-dir", folder, "--state-out", after, "--quiet"]
            against = ["--data", self.source / "steps.npz", "--expect", self.expected, "--tolerance", str(self.tolerance)]
            if self.call([*launcher, "weft", "run", executable, *against, *options], what, **environment) is None:
                return
            written.append((folder / "output.npy").read_bytes() + after.read_bytes())
            self.check(written[-1] == written[0], what, "other bits than on local threads and the CPU")
            self.check_states(what, after)
        self.check_halves(mesh, executable, self.folder / f"{executable.stem}_0" / "output.npy")

    def check_states(self, what, path):
        after = read_safetensors(path)
        self.check(set(after) == set(self.states), what, f"expected the states {set(self.states)}, got: {set(after)}")
        for name, want in self.recorded.items():
            off = numpy.abs(after[name] - want).max() / max(numpy.abs(want).max(), 1e-30)
            self.check(off <= self.tolerance, what, f"state {name} is off by {off}")

    def check_halves(self, mesh, executable, whole):
        """The steps in two runs, the second from where the first ended."""
        stacks = numpy.load(self.source / "steps.npz")
        steps = len(stacks[stacks.files[0]])
        between, options = self.folder / "between.safetensors", []
        for number, part in enumerate((slice(0, steps // 2), slice(steps // 2, steps))):
            data = self.folder / f"half{number}.npz"
            (numpy.savez_compressed if number else numpy.savez)(data, **{name: stacks[name][part] for name in stacks.files})
            out = self.folder / f"half{number}"
            options = ["--state-out", between] if number == 0 else ["--state-in", between]
            self.call(["weft", "run", executable, "--data", data, "--output-dir", out, "--quiet", *options], f"{mesh} half {number}")
        joined = numpy.concatenate([numpy.load(self.folder / f"half{number}" / "output.npy") for number in (0, 1)])
        self.check(joined.tobytes() == numpy.load(whole).tobytes(), mesh, "halves of the steps give other bits than all of them")

    def check_mesh(self, mesh):
        executable = self.folder / (mesh.replace(",", "_").replace("=", "") + ".weft")
        compile = ["weft", "compile", self.source / "model.pt2", "--mesh", mesh, "-o", executable]
        program = self.call([*compile, "--dump-ir-after", "lower", "--quiet"], mesh)
        inspected = self.call(["weft", "inspect", executable, "--json"], f"{mesh} inspect")
        self.call(["weft", "verify", executable, "--quiet"], f"{mesh} verify")
        if program is None or inspected is None:
            return
        self.call(["weft", "run", executable, "--data", self.source / "steps.npz", "--state-out", self.folder / "names", "--quiet"], mesh)
        self.states = read_safetensors(self.folder / "names")
        recorded = self.source / "after.safetensors"
        self.recorded = read_safetensors(recorded) if recorded.exists() else {}
        inspected = json.loads(inspected)
        self.check_program(mesh, program, inspected)
        self.run(mesh, executable, inspected["ranks"])

    def check_cut(self, cut, mesh):
        executable = self.folder / (mesh.replace(",", "_").replace("=", "").replace(";", "__") + ".weft")
        self.call(["weft", "compile", self.source / "model.pt2", "--cut", cut, "--mesh", mesh, "-o", executable, "--quiet"], mesh)
        self.call(["weft", "verify", executable, "--quiet"], f"{mesh} verify")
        inspected = self.call(["weft", "inspect", executable, "--json"], f"{mesh} inspect")
        if inspected is not None:
            self.run(mesh, executable, json.loads(inspected)["ranks"])


def main():
    source, cuts = pathlib.Path(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        check = Check(source, pathlib.Path(folder))
        for mesh in MESHES:
            check.check_mesh(mesh)
        for cut in cuts:
            for mesh in PARTS:
                check.check_cut(cut, mesh)
    count = len(MESHES) + len(cuts) * len(PARTS)
    print("\n".join(check.failures) or f"{source}: {count} meshes, two transports, two devices, all equal")
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
