"""check_splits.py FOLDER CLUSTER [--full]: what the search makes of models from elsewhere, by itself.

Of every model under FOLDER (test/models/make_searched.py), on {model=2} of CLUSTER: a rank holds at most 0.56 of the weights, the
collectives of a layer are at most five, and move at most two all-reduces of what goes from layer to layer, or four halves of such
(reduce-scatters, all-gathers), and the outputs are those that PyTorch computes. --full: the outputs on {model=4} and {data=2,model=2} too.
"""
import json
import pathlib
import sys
import tempfile

from training_files import weft

LAYERS, WEIGHTS, HALVES, NUMBER = 2, 0.56, 4, 5
ENDS = 2  # collectives, and halves, that embedding and head may take besides
# What goes from layer to layer: bytes.
PASSED = {"sam": 64 * 32 * 4, "dit": 2 * 64 * 32 * 4}
DECODER = 2 * 32 * 32 * 4


def compile_for(folder, out, *options):
    weft("compile", folder / "model.pt2", *options, "-o", out, "--quiet")
    return json.loads(weft("inspect", out, "--json"))


def run(folder, executable):
    weft("run", executable, "--input-dir", folder / "inputs", "--expect", folder / "outputs", "--tolerance", "1e-4", "--quiet")


def check(folder, cluster, scratch, full):
    whole = compile_for(folder, scratch / "whole.weft", "--no-codegen")
    split = compile_for(folder, scratch / "split.weft", "--mesh", "model=2", "--cluster", cluster)
    run(folder, scratch / "split.weft")
    for mesh in ["model=4", "data=2,model=2"] if full else []:
        compile_for(folder, scratch / "other.weft", "--mesh", mesh, "--cluster", cluster)
        run(folder, scratch / "other.weft")
    share = max(split["weights_bytes"]) / whole["weights_bytes"][0]
    moved = sum(entry["bytes"] * entry["count"] * (2 if entry["kind"] == "all_reduce" else 1) for entry in split["collectives"])
    halves = moved / PASSED.get(folder.name, DECODER)
    number = sum(entry["count"] for entry in split["collectives"])
    print(f"{folder.name}: {share:.3f} of the weights a rank, {number} collectives, {halves:.1f} halves of an all-reduce")
    return share <= WEIGHTS and halves <= HALVES * LAYERS + ENDS and number <= NUMBER * LAYERS + ENDS


def main():
    folder, cluster = map(pathlib.Path, sys.argv[1:3])
    models = sorted(path for path in folder.iterdir() if path.is_dir())
    with tempfile.TemporaryDirectory() as name:
        held = [check(model, cluster, pathlib.Path(name), "--full" in sys.argv) for model in models]
    sys.exit(0 if held and all(held) else 1)


if __name__ == "__main__":
    main()
