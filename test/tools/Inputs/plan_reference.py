"""plan_reference.py MODELS: what the choice for a mesh alone must reach on the reference models.

Weights a rank at most that share of the whole, two all-reduces a layer and two more, no gather in attention.
"""
import json
import pathlib
import subprocess
import sys

LAYERS = 2
SHARES = {  # by number of ranks on the axis model; GPT-2's vocabulary of 503 is prime
    "gpt2": {2: 0.66, 4: 0.48},
    "llama": {2: 0.60, 4: 0.40},
    "bert": {2: 0.60, 4: 0.40},
    "vit": {2: 0.60, 4: 0.40},
}
MESHES = {"data=2": 1, "model=2": 2, "data=2,model=2": 2, "model=4": 4}


def plan(model, mesh):
    dims = ["--dim", "batch=4", "--dim", "seq=32"] if "dynamic" in model.name else []
    done = subprocess.run(["weft", "plan", model, "--mesh", mesh, "--json", *dims], text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{model} on {mesh}: weft plan ended with {done.returncode}")
    return json.loads(done.stdout)


def problems(name, found, ranks):
    share = max(found["weights_bytes"]) / found["weights_bytes_whole"]
    if ranks > 1 and share > SHARES[name][ranks]:
        yield f"expected at most {SHARES[name][ranks]} of the weights a rank, got: {share:.3f}"
    reduces = sum(collective["count"] for collective in found["collectives"] if collective["kind"] == "all_reduce")
    most = 2 * LAYERS + 2 if ranks > 1 else 0
    if reduces > most:
        yield f"expected at most {most} all-reduces, got: {reduces}"
    for collective in found["collectives"]:
        if collective["kind"] != "all_reduce" and "embed" not in collective["source"] and "conv" not in collective["source"]:
            yield f"expected all-reduces only within layers, got: {collective['kind']} at {collective['source']}"


def main():
    failed = 0
    for name in SHARES:
        for model in sorted(pathlib.Path(sys.argv[1], name).glob("*.onnx")):
            for mesh, ranks in MESHES.items():
                for problem in problems(name, plan(model, mesh), ranks):
                    print(f"{model.parent.name}/{model.name} on {mesh}: {problem}")
                    failed = 1
    sys.exit(failed)


main()
