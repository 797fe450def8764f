"""check_searched.py FILE [MESH …] [--full | --predicted]: one model file, split as the search finds on a cluster.

Compiles FILE (inputs/ and outputs/ lie beside it) for each mesh of this host's ranks (by default one of two axes), and for a cluster whose
mesh is searched, too; verifies the executable and holds its outputs against what the other program recorded, within 1e-4 of the
largest magnitude. The plan that is written, read and obeyed gives the same executable, byte by byte; it is expected to take no longer than data
parallelism alone, than model parallelism alone, and than what other tests pin on as many devices (pinned_plans.py). --full: all meshes. --predicted: of all
this only what clusters' plans are predicted to take.

On every mesh, what the search claims of a step is what the partitioned program takes by the same prices, within 0.5 %: to compute; and to
communicate, of which an axis of three, which pads what it splits, cuts once for all that read it what the search counts for each. Operations that
look alike are split alike at no price: where each may be split otherwise, a step takes at most 1 % less.
"""
import filecmp
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from pinned_plans import list_plans

MESHES = ["model=2", "model=3", "model=4", "data=2,model=2", "data=3,model=2"]
DEVICES = [2, 4, 6]
CLUSTER, PRICED = "cpu:8", ["cpu:8", "dgx-h100"]


def call(*arguments):
    arguments = [str(argument) for argument in arguments]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def search(module, mesh, cluster, *options, passes=()):
    """What the search claims that a step takes, how much of that to communicate, and what is told besides."""
    told = call("weft-opt", module, "--weft-split-constants", f"--weft-apply-plan=mesh={mesh}",
                f"--weft-choose-shardings=cluster={cluster} explain {' '.join(options)}", *passes, "-o", os.devnull)
    claimed = re.search(r"variables: (\S+) s, at least \S+ s; communicates (\S+) s", told)
    return float(claimed[1]), float(claimed[2]), told


def check_price(module, mesh, cluster):
    """What is wrong with the search's claim, or nothing."""
    claimed, communication, told = search(module, mesh, cluster, passes=["--weft-propagate-shardings", "--weft-partition", f"--weft-price-program=cluster={cluster}"])
    computes, communicates = map(float, re.search(r"computes (\S+) s, communicates (\S+) s", told).groups())
    wrong = []
    pads = "=3" in mesh
    if abs(communicates - communication) > 0.005 * (claimed if pads else communicates):
        wrong.append(f"{mesh} on {cluster}: the search claims {communication} s of communication, its program takes {communicates} s")
    if abs(computes - (claimed - communication)) > 0.005 * claimed:
        wrong.append(f"{mesh} on {cluster}: the search claims {claimed - communication} s of computation, its program takes {computes} s")
    unfolded, _, _ = search(module, mesh, cluster, "fold=false")
    if unfolded < 0.99 * claimed:
        wrong.append(f"{mesh} on {cluster}: {claimed} s where what looks alike is split alike, {unfolded} s where it need not be")
    return wrong


def predict(file, *options):
    """Seconds of a step that are expected; none where nothing can be split so."""
    done = subprocess.run(["weft", "plan", str(file), *options, "-o", os.devnull, "--json"], capture_output=True, text=True, timeout=300)
    if done.returncode not in (0, 4):
        raise SystemExit(f"weft plan {file} {options}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["predicted"]["step_seconds"] if done.returncode == 0 else None


def count_devices(mesh):
    return math.prod(int(axis.split("=")[1]) for axis in mesh.split(","))


def check_cluster(file, devices):
    """On a cluster whose mesh is searched: seconds of a step beside those of other plans."""
    cluster = ["--cluster", f"cpu:{devices}"]
    wrong, expected = [], predict(file, *cluster)
    pinned = [(mesh, pins) for mesh, pins in list_plans(file.parent.name) if count_devices(mesh) == devices]
    for mesh, pins in [(f"data={devices}", []), (f"model={devices}", []), *pinned]:
        other = predict(file, *cluster, "--mesh", mesh, *(word for pin in pins for word in ("--shard", pin)))
        if other and other < 0.999 * expected:
            wrong.append(f"cpu:{devices}: {expected} s are expected, on {' '.join([mesh, *pins])} {other} s")
    return wrong


def check_run(file, options, folder):
    plan, direct, obeyed = folder / "plan.txtpb", folder / "direct.weft", folder / "obeyed.weft"
    call("weft", "plan", file, *options, "-o", plan, "--quiet")
    call("weft", "compile", file, *options, "-o", direct, "--quiet")
    call("weft", "compile", file, "--plan", plan, "-o", obeyed, "--quiet")
    call("weft", "verify", direct, "--quiet")
    call("weft", "run", direct, "--input-dir", file.parent / "inputs", "--expect", file.parent / "outputs", "--tolerance", "1e-4",
         "--quiet")
    names = sorted(str(path.relative_to(direct)) for path in direct.rglob("*") if path.is_file())
    wrong = [name for name in names if not (obeyed / name).exists() or not filecmp.cmp(direct / name, obeyed / name, shallow=False)]
    shutil.rmtree(direct)
    shutil.rmtree(obeyed)
    return [f"{' '.join(options)}: the plan gives another {name}" for name in wrong]


def check_all(file, meshes, options, folder):
    failures, full = [], "--full" in options
    call("weft", "import", file, "-o", folder / "model.mlir", "--quiet")
    for mesh, cluster in itertools.product(MESHES, PRICED):
        failures += check_price(folder / "model.mlir", mesh, cluster)
    for mesh in MESHES if full else meshes:
        failures += check_run(file, ["--mesh", mesh, "--cluster", CLUSTER], folder)
    for devices in DEVICES if full else DEVICES[-1:]:
        failures += check_run(file, ["--cluster", f"cpu:{devices}"], folder)
    return failures


def main():
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    file, *meshes = [word for word in sys.argv[1:] if word not in options]
    file, failures = pathlib.Path(file), []
    with tempfile.TemporaryDirectory() as folder:
        for devices in DEVICES:
            failures += check_cluster(file, devices)
        if "--predicted" not in options:
            failures += check_all(file, meshes or ["data=2,model=2"], options, pathlib.Path(folder))
    print("\n".join(failures) or f"{file}: as the search says")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
