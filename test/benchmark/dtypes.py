"""dtypes.py [--dtypes f32 bf16 f16] [--batch N] [--length N] [--runs N] [--steps N]: a step of a GPT-2-small-shaped model in each type, beside torch.

The model is made here (torch_models.py), for sequences of so many tokens (128), and cast to the type, weights and all. Weft and torch (eager, compiled) use two
threads, in turns, so that a busy machine troubles all alike; each run is a process of its own that makes N steps after two that are not
counted. Prints for each type the median step of all, Weft's ratio to the fastest torch in the same type and to itself in the first type (of
medians, and of the least), and the largest difference to torch's logits over the largest magnitude. Needs torch and numpy.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

THREADS, WARMING = 2, 2
PEERS = ["eager", "compile"]


def make(dtype, batch, length):
    import torch
    import torch_models

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    model = torch_models.make("gpt2").apply(torch_models.initialise).eval()
    type_ = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[dtype]
    return model.to(type_), torch.randint(0, 50257, (batch, length))


def act(who, dtype, batch, length, steps, folder):
    """In a process of its own: leaves the model and its inputs, or prints a peer's seconds and leaves its logits."""
    import torch

    model, tokens = make(dtype, batch, length)
    if who == "export":
        with torch.no_grad():
            torch.export.save(torch.export.export(model, (tokens,)), f"{folder}/model.pt2")
        numpy.save(f"{folder}/inputs/input_ids.npy", tokens.numpy())
        return print("null")
    run, seconds = torch.compile(model) if who == "compile" else model, []
    with torch.inference_mode():
        for _ in range(steps + WARMING):
            start = time.perf_counter()
            logits = run(tokens)
            seconds.append(time.perf_counter() - start)
    if who == "eager":
        numpy.save(f"{folder}/expected/output.npy", logits.float().numpy() if dtype == "bf16" else logits.numpy())
    print(json.dumps(seconds[WARMING:]))


class Contest:
    def __init__(self, dtype, options, folder):
        self.dtype, self.options, self.folder, self.seconds, self.least = dtype, options, folder, {}, {}
        for name in ("inputs", "expected"):
            (folder / name).mkdir()
        self.call("export")
        subprocess.run(["weft", "compile", folder / "model.pt2", "--quiet", "-o", folder / "model.weft"], check=True)

    def call(self, who):
        done = subprocess.run([sys.executable, __file__, "--as", who, "--dtypes", self.dtype, "--batch", str(self.options.batch), "--length",
                               str(self.options.length), "--steps", str(self.options.steps), "--folder", self.folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        return json.loads(done.stdout.splitlines()[-1])

    def run(self):
        for who in PEERS:
            self.seconds.setdefault(who, []).extend(self.call(who))
            self.least[who] = min(self.seconds[who])
        done = subprocess.run(["weft", "run", self.folder / "model.weft", "--input-dir", self.folder / "inputs", "--repeat",
                               str(self.options.steps + WARMING), "--threads", str(THREADS), "--json", "--expect", self.folder / "expected"],
                              capture_output=True, text=True)
        if done.returncode not in (0, 6):
            sys.exit(f"weft run failed: {done.stderr}")
        told = json.loads(done.stdout)
        self.seconds.setdefault("weft", []).append(told["step_seconds"]["median"])
        self.least["weft"] = min(self.least.get("weft", math.inf), told["step_seconds"]["min"])
        self.difference = max(output["relative"] for output in told["expect"])

    def report(self, first):
        medians = {who: statistics.median(times) for who, times in self.seconds.items()}
        row = "".join(f"{medians[who] * 1e3:11.1f} ms" for who in ["weft", *PEERS])
        peer, least = min(medians[who] for who in PEERS), min(self.least[who] for who in PEERS)
        first = first or (medians["weft"], self.least["weft"])
        print(f"{self.dtype:<6}{row}{medians['weft'] / peer:9.2f}{self.least['weft'] / least:9.2f}{medians['weft'] / first[0]:10.2f}"
              f"{self.least['weft'] / first[1]:9.2f}{self.difference:11.1e}", flush=True)
        return first


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtypes", nargs="+", default=["f32", "bf16", "f16"], choices=["f32", "bf16", "f16"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--as", dest="who", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.who:
        return act(options.who, options.dtypes[0], options.batch, options.length, options.steps, options.folder)
    with tempfile.TemporaryDirectory() as scratch:
        contests = []
        for dtype in options.dtypes:
            folder = pathlib.Path(scratch) / dtype
            folder.mkdir()
            contests.append(Contest(dtype, options, folder))
        for _ in range(options.runs):
            for contest in contests:
                contest.run()
        print(f"{'':<6}" + "".join(f"{who:>14}" for who in ["weft", *PEERS]) +
              f"{'ratio':>9}{'of least':>9}{'to ' + options.dtypes[0]:>10}{'of least':>9}{'difference':>11}")
        first = None
        for contest in contests:
            first = contest.report(first)


if __name__ == "__main__":
    main()
