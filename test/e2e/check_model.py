"""check_model.py FILE [--dim NAME=N]… [--layers L] [--fraction2 F] [--fraction4 F] [--gathers G] [--batch B]: one model file on every mesh and transport.

Compiles FILE (inputs/ and outputs/ lie beside it) for each mesh, verifies the executable, runs it on local threads and under
mpirun, and holds against what the other program recorded: outputs within 1e-4 of the largest magnitude. On {model=2} and {model=4}
each rank's share of the weights and the number of all-reduces are held too; other collectives there are none, but for
--gathers of activations. On {data=2} there are --batch collectives, in all: models that count or mix tokens need some.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MESHES = ["data=1", "data=2", "model=2", "data=2,model=2", "model=4"]
TOLERANCE = "1e-4"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def call(arguments, failures, what):
    """Runs a command; its standard output, or None with a note in `failures`."""
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
    if done.returncode != 0:
        failures.append(f"{what}: exit {done.returncode}\n  {' '.join(map(str, arguments))}\n{done.stdout[-1500:]}{done.stderr[-3000:]}")
        return None
    return done.stdout


def check_inspection(text, mesh, options, whole, failures):
    """Weights per rank and collectives, from `weft inspect --json`; returns the bytes of rank 0."""
    told = json.loads(text)
    reduces = sum(c["count"] for c in told["collectives"] if c["kind"] == "all_reduce")
    others = [c for c in told["collectives"] if c["kind"] != "all_reduce"]
    allowed = {"model=2": options.fraction2, "model=4": options.fraction4}.get(mesh)
    if allowed is not None:
        share = max(told["weights_bytes"]) / whole
        if share > allowed:
            failures.append(f"{mesh}: a rank holds {share:.3f} of the weights, at most {allowed} expected")
        if reduces > 2 * options.layers + 2:
            failures.append(f"{mesh}: {reduces} all-reduces a step, at most {2 * options.layers + 2} expected")
        if sum(c["count"] for c in others) > options.gathers or any(c["kind"] != "all_gather" for c in others):
            failures.append(f"{mesh}: collectives other than all-reduce, at most {options.gathers} all-gather expected: {others}")
    if mesh.startswith("data") and "model" not in mesh and sum(c["count"] for c in told["collectives"]) > options.batch:
        failures.append(f"{mesh}: splitting the batch needs {options.batch} collectives, got {told['collectives']}")
    return max(told["weights_bytes"])


def check_mesh(mesh, options, folder, whole, failures):
    executable = folder / (mesh.replace(",", "_").replace("=", "") + ".weft")
    dims = [part for dim in options.dim for part in ("--dim", dim)]
    if call(["weft", "compile", options.file, *dims, "--mesh", mesh, "-o", executable, "--quiet"], failures, mesh) is None:
        return whole
    call(["weft", "verify", executable, "--quiet"], failures, f"{mesh} verify")
    told = call(["weft", "inspect", executable, "--json"], failures, f"{mesh} inspect")
    if told is not None:
        held = check_inspection(told, mesh, options, whole or 1, failures)
        whole = held if whole is None else whole
    beside = options.file.parent
    ranks = 1
    for axis in mesh.split(","):
        ranks *= int(axis.split("=")[1])
    for transport, launcher in (("local", []), ("mpi", ["mpirun", "--oversubscribe", "-np", str(ranks)])):
        # repeat: a second step must not depend on what the first left in the arenas
        call([*launcher, "weft", "run", executable, "--input-dir", beside / "inputs", "--output-dir",
              folder / f"{executable.stem}_{transport}", "--expect", beside / "outputs", "--tolerance", TOLERANCE,
              "--transport", transport, "--repeat", "2", "--quiet"], failures, f"{mesh} {transport}")
    first, second = (sorted((folder / f"{executable.stem}_{t}").glob("*.npy")) for t in ("local", "mpi"))
    if [p.read_bytes() for p in first] != [p.read_bytes() for p in second]:
        failures.append(f"{mesh}: local and mpi outputs differ in their bits")
    return whole


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--fraction2", type=float, default=0.60)
    parser.add_argument("--fraction4", type=float, default=0.40)
    parser.add_argument("--gathers", type=int, default=0)
    parser.add_argument("--batch", type=int, default=0)
    options = parser.parse_args()
    failures, whole = [], None
    with tempfile.TemporaryDirectory() as folder:
        for mesh in MESHES:
            whole = check_mesh(mesh, options, pathlib.Path(folder), whole, failures)
    print("\n".join(failures) or f"{options.file}: {len(MESHES)} meshes, two transports, all equal")
    sys.exit(1 if failures else 0)


main()
