"""check_pinned_experts.py FILE: the experts of a model file split over axes by a pin on their first weight.

FILE is a moe model with inputs/ and outputs/ beside it. Held are the outputs on ranks (1e-4 of the largest magnitude), that the pinned
weight lies so, that the pin leaves the rest to the search, which splits other weights by the same axis, and over the tokens' own axis
that no more collectives are needed than a reduce_scatter of tokens to experts and a partial sum back, scattered at once.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from pinned_plans import EXPERTS, pin_experts


def call(failures, *arguments):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        failures.append(f"exit {done.returncode}: {' '.join(map(str, arguments))}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    return done.stdout


def main():
    model, failures = pathlib.Path(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as name:
        executable = pathlib.Path(name) / "moe.weft"
        for mesh, axis, most, share in EXPERTS:
            pin, case = pin_experts(axis), f"{mesh}, experts over {axis}"
            plan = ["weft", "plan", model, "--mesh", mesh, "--shard", pin, "-o", f"{name}/moe.txtpb", "--quiet"]
            call(failures, *plan)
            text = call(failures, "weft", "explain", f"{name}/moe.txtpb", "weight:blocks.1.mlp.up", "--no-alternatives")
            if f'[{{"{axis}"}}, {{}}, {{}}]' not in text:
                failures.append(f"{case}: the pin is not obeyed: {text}")
            call(failures, "weft", "compile", model, "--plan", f"{name}/moe.txtpb", "-o", executable, "--quiet")
            call(failures, "weft", "verify", executable, "--quiet")
            told = json.loads(call(failures, "weft", "inspect", executable, "--json"))
            count = sum(collective["count"] for collective in told["collectives"])
            held = max(told["weights_bytes"]) / told["weights_bytes_whole"]
            if count > most or held > share:
                failures.append(f"{case}: expected {most} collectives and {share} of the weights at most, got {count} and {held:.2f}")
            call(failures, "weft", "run", executable, "--input-dir", model.parent / "inputs", "--output-dir", f"{name}/out",
                 "--expect", model.parent / "outputs", "--tolerance", "1e-4", "--quiet")
    print("\n".join(failures) or f"{model}: experts over {len(EXPERTS)} meshes")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
