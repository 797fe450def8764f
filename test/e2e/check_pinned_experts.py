"""check_pinned_experts.py FILE: the experts of a model file split over axes by a pin on their first weight.

FILE is a moe model with inputs/ and outputs/ beside it. Held are the outputs on ranks (1e-4 of the largest magnitude), and which
collectives experts cost: over an axis that splits no tokens one partial sum of tokens; over the tokens' own axis a reduce_scatter
of tokens to experts and a partial sum back, scattered at once.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

CASES = [
    ("model=2", "model", {("all_reduce", "model"): 1}),
    ("model=4", "model", {("all_reduce", "model"): 1}),
    ("data=2,model=2", "model", {("all_gather", "data"): 1, ("all_reduce", "data"): 1, ("all_reduce", "model"): 1}),
    ("data=2", "data", {("reduce_scatter", "data"): 2, ("all_gather", "data"): 1, ("all_to_all", "data"): 1}),
    ("data=4", "data", {("reduce_scatter", "data"): 2, ("all_gather", "data"): 1, ("all_to_all", "data"): 1}),
]


def call(failures, *arguments):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        failures.append(f"exit {done.returncode}: {' '.join(map(str, arguments))}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    return done.stdout


def main():
    model, failures = pathlib.Path(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as name:
        executable = pathlib.Path(name) / "moe.weft"
        for mesh, axis, expected in CASES:
            pin = f"blocks.1.mlp.up=[{{{axis}}},{{}},{{}}]"
            call(failures, "weft", "compile", model, "--mesh", mesh, "--shard", pin, "-o", executable, "--quiet")
            call(failures, "weft", "verify", executable, "--quiet")
            told, counts = json.loads(call(failures, "weft", "inspect", executable, "--json")), {}
            for collective in told["collectives"]:
                key = (collective["kind"], ",".join(collective["axes"]))
                counts[key] = counts.get(key, 0) + collective["count"]
            if counts != expected:
                failures.append(f"{mesh}, experts over {axis}: expected {expected}, got {counts}")
            call(failures, "weft", "run", executable, "--input-dir", model.parent / "inputs", "--output-dir", f"{name}/out",
                 "--expect", model.parent / "outputs", "--tolerance", "1e-4", "--quiet")
    print("\n".join(failures) or f"{model}: experts over {len(CASES)} meshes")
    sys.exit(1 if failures else 0)


main()
