"""check_searched.py FILE [MESH …] [--full]: one model file, split as the search finds on a cluster.

Compiles FILE (inputs/ and outputs/ lie beside it) for each mesh of this host's ranks (by default one of two axes), verifies the
executable and holds its outputs against what the other program recorded, within 1e-4 of the largest magnitude. The plan that is
written, read and obeyed gives the same executable, byte by byte. --full: all meshes.

On every mesh, what the search claims of a step is what the partitioned program takes by the same prices, within 0.5 %.
"""
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MESHES = ["model=2", "model=3", "model=4", "data=2,model=2", "data=3,model=2"]
CLUSTER, PRICED = "cpu:8", ["cpu:8", "dgx-h100"]


def call(*arguments):
    arguments = [str(argument) for argument in arguments]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def check_price(module, mesh, cluster):
    """What is wrong with the search's claim, or nothing."""
    told = call("weft-opt", module, "--weft-split-constants", f"--weft-apply-plan=mesh={mesh}",
                f"--weft-choose-shardings=cluster={cluster} explain", "--weft-propagate-shardings", "--weft-partition",
                f"--weft-price-program=cluster={cluster}", "-o", os.devnull)
    claimed = float(re.search(r"variables: (\S+) s", told)[1])
    computes, communicates = map(float, re.search(r"computes (\S+) s, communicates (\S+) s", told).groups())
    if abs(computes + communicates - claimed) <= 0.005 * claimed:
        return []
    return [f"{mesh} on {cluster}: the search claims {claimed} s, its program takes {computes + communicates} s"]


def check_run(file, mesh, folder):
    plan, direct, obeyed = folder / "plan.txtpb", folder / "direct.weft", folder / "obeyed.weft"
    call("weft", "plan", file, "--mesh", mesh, "--cluster", CLUSTER, "-o", plan, "--quiet")
    call("weft", "compile", file, "--mesh", mesh, "--cluster", CLUSTER, "-o", direct, "--quiet")
    call("weft", "compile", file, "--plan", plan, "-o", obeyed, "--quiet")
    call("weft", "verify", direct, "--quiet")
    call("weft", "run", direct, "--input-dir", file.parent / "inputs", "--expect", file.parent / "outputs", "--tolerance", "1e-4",
         "--quiet")
    names = sorted(str(path.relative_to(direct)) for path in direct.rglob("*") if path.is_file())
    wrong = [name for name in names if not (obeyed / name).exists() or not filecmp.cmp(direct / name, obeyed / name, shallow=False)]
    shutil.rmtree(direct)
    shutil.rmtree(obeyed)
    return [f"{mesh}: the plan gives another {name}" for name in wrong]


def main():
    words = [word for word in sys.argv[1:] if word != "--full"]
    file, meshes = pathlib.Path(words[0]), words[1:] or ["data=2,model=2"]
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        call("weft", "import", file, "-o", folder / "model.mlir", "--quiet")
        for mesh in MESHES:
            for cluster in PRICED:
                failures += check_price(folder / "model.mlir", mesh, cluster)
        for mesh in MESHES if "--full" in sys.argv else meshes:
            failures += check_run(file, mesh, folder)
    print("\n".join(failures) or f"{file}: as the search says")
    sys.exit(1 if failures else 0)


main()
