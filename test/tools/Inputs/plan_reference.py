"""plan_reference.py MODELS: what the choice for a mesh alone must reach on the reference models.

Weights a rank at most that share of the whole; collectives that move no more than two all-reduces of the activations a layer
and two more, and over data none.
"""
import json
import pathlib
import subprocess
import sys

LAYERS = 2
ACTIVATION = 4 * 32 * 64 * 4  # bytes of what goes from layer to layer; of vit fewer
SHARES = {  # by number of ranks on the axis model
    "gpt2": {2: 0.53, 4: 0.28},
    "llama": {2: 0.53, 4: 0.28},
    "bert": {2: 0.53, 4: 0.28},
    "vit": {2: 0.53, 4: 0.28},
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
    # What a collective hands on of its buffer: an all-reduce once to add and once to tell.
    moved = sum((2 if each["kind"] == "all_reduce" else 1) * each["bytes"] * each["count"] for each in found["collectives"])
    most = (2 * LAYERS + 2) * 2 * ACTIVATION if ranks > 1 else 0
    if moved > most:
        yield f"expected at most {most} bytes of buffers handed on, got: {moved}"


def main():
    failed = 0
    for name in SHARES:
        for model in sorted(pathlib.Path(sys.argv[1], name).glob("*.onnx")):
            for mesh, ranks in MESHES.items():
                for problem in problems(name, plan(model, mesh), ranks):
                    print(f"{model.parent.name}/{model.name} on {mesh}: {problem}")
                    failed = 1
    sys.exit(failed)


if __name__ == "__main__":
    main()
