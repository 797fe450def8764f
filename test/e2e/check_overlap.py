"""check_overlap.py: gradients are joined in messages of the plan's size, beside what the backward pass still computes.

A network of equal layers: each gradient is a quarter of a bucket, so that four go together. The message of the first ones must begin before
products of the backward pass that do not need it, and be waited for behind some of them; so it stands in the program, and so a trace of a run
shows it. With other buckets in the plan there are as many messages as these make.
"""
import json
import pathlib
import re
import sys
import tempfile

import numpy

from training_files import weft, write_layers

LAYERS, WIDTH, ROWS = 10, 256, 128
LAYER = WIDTH * WIDTH * 4
TRAIN = ["--train", "adamw", "--loss", "mse", "--logits", "logits", "--labels", "labels", "--mesh", "data=2", "--quiet"]


def check_program(executable):
    """In the listing: `40  COLLECTIVE … (token 1)`, `67  WAIT token 1`."""
    begun, waited, products = {}, {}, []
    for line in weft("inspect", executable, "--program").splitlines():
        if not (found := re.match(r" +(\d+)  (COLLECTIVE|WAIT|GEMM) ", line)):
            continue
        number, token = int(found[1]), re.search(r"token (\d+)", line)
        if found[2] == "GEMM":
            products.append(number)
        elif token:
            (begun if found[2] == "COLLECTIVE" else waited)[int(token[1])] = number
    assert set(begun) == set(waited) and begun, f"begun {begun}, waited for {waited}"
    beside = [sum(begun[token] < each < waited[token] for each in products) for token in sorted(begun)]
    assert beside[0] >= 4, f"products beside each message: {beside}"


def count_messages(executable):
    collectives = json.loads(weft("inspect", executable, "--json"))["collectives"]
    assert sum(each["bytes"] * each["count"] for each in collectives) == LAYERS * LAYER + 4, collectives  # with the loss
    return sum(each["count"] for each in collectives)


def check_trace(executable, folder):
    """Of a run the first message begins before products, and is not over before them."""
    data = numpy.random.default_rng(1).normal(size=(2, ROWS, WIDTH)).astype("f4")
    numpy.savez(folder / "data.npz", x=data, labels=data)
    weft("train", executable, "--data", folder / "data.npz", "--steps", 2, "--trace", folder / "trace.json", "--quiet")
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    for rank in (0, 1):
        spans = [each for each in events if each["ph"] == "X" and each["pid"] == rank]
        first = min((each for each in spans if each["name"].startswith("COLLECTIVE")), key=lambda each: each["ts"])
        assert first["tid"] == 1, first
        beside = [each for each in spans if each["name"].startswith("GEMM") and first["ts"] <= each["ts"] <= first["ts"] + first["dur"]]
        assert len(beside) >= 4, f"rank {rank}: {len(beside)} products beside the first message"


def check_plan(folder):
    """A bucket of half the size, written into the plan."""
    plan = folder / "step.txtpb"
    weft("plan", folder / "layers.mlir", *TRAIN, "-o", plan)
    text = plan.read_text()
    assert f"bucket_bytes: {4 * LAYER}" in text, text
    plan.write_text(text.replace(f"bucket_bytes: {4 * LAYER}", f"bucket_bytes: {2 * LAYER}"))
    weft("compile", folder / "layers.mlir", "--plan", plan, "-o", folder / "planned.weft", "--quiet")
    return count_messages(folder / "planned.weft")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_layers(folder / "layers.mlir", LAYERS, ROWS, WIDTH)
        executable = folder / "step.weft"
        weft("compile", folder / "layers.mlir", *TRAIN, "-o", executable)
        assert count_messages(executable) == 3, count_messages(executable)
        check_program(executable)
        check_trace(executable, folder)
        # The loss goes with the first gradient; the second is beyond the bucket with it.
        assert check_plan(folder) == 6, check_plan(folder)


if __name__ == "__main__":
    main()
