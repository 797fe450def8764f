"""held_weights.py MODEL MESH PIN NAME=SHARDING SHAPE [OPTION …]: a pinned weight is held as it is pinned, and is told so.

NAME is a weight that the pin is about, SHARDING what the plan has to say of it, SHAPE that of a rank's block. All blocks that a rank loads of
the weight have as many elements together.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile


def weft(*words):
    done = subprocess.run(["weft", *map(str, words)], text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"weft {' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout + done.stderr


def count(shape):
    return math.prod(int(size) for size in shape.split("x"))


def main():
    model, mesh, pin, held, shape, *options = sys.argv[1:]
    name, _, sharding = held.partition("=")
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder, "plan.txtpb")
        weft("plan", model, "--mesh", mesh, "--shard", pin, *options, "-o", plan, "--quiet")
        told = json.loads(weft("explain", plan, f"weight:{name}", "--json", "--no-alternatives"))["sharding"]
        if told != sharding:
            sys.exit(f"expected {name} to lie as {sharding}, got: {told}")
        text = weft("compile", model, "--plan", plan, "--no-codegen", "--dump-ir-after", "partition", "-o", f"{folder}/e.weft", "--quiet")
    blocks = set(re.findall(rf'load_shard @"?{re.escape(name)}"? (.*?: tensor<[0-9x]+)x[a-z]', text))
    elements = sum(count(block.rpartition("<")[2]) for block in blocks)
    if elements != count(shape):
        sys.exit(f"expected blocks of {count(shape)} elements in all, got {elements}: {sorted(blocks)}")


if __name__ == "__main__":
    main()
