"""contest.py FOLDER [MODEL …] [--runs N] [--steps N]: a step of each model beside torch (eager, compiled), JAX and ONNX Runtime, in one run.

FOLDER holds a folder with weights for each MODEL (make_weights.py, then restore_masks.py; default: all of MODELS that are there). All use two
threads, in turns, so that a busy machine troubles all alike; each run is a process of its own that makes N steps after one that is not counted.
Prints of each model the median step of all, Weft's ratio to the fastest peer (of medians, and of the least), and its largest difference to ONNX Runtime's
output over the largest magnitude; then the geometric mean of the ratios. Needs numpy; a peer that is not installed is left out, and said.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

THREADS = 2
MODELS = {"gpt2_small": "gpt2", "gpt2_small_b8": "gpt2", "bert_base": "bert", "vit_base": "vit", "resnet50": "resnet", "llama_1b": "llama"}
PEERS = ["eager", "compile", "jax", "onnxruntime"]
PEER = pathlib.Path(__file__).with_name("contest_peer.py")


class Contest:
    def __init__(self, folder, family, scratch, steps):
        self.folder, self.family, self.scratch, self.steps = folder, family, scratch, steps
        self.seconds, self.difference = {}, math.nan
        self.expected, self.executable = scratch / "expected", scratch / "model.weft"
        self.expected.mkdir()
        subprocess.run(["weft", "compile", folder / "model.onnx", "--quiet", "-o", self.executable], check=True)

    def run_peer(self, who):
        done = subprocess.run([sys.executable, PEER, who, self.family, self.folder, self.expected, str(self.steps), str(THREADS)],
                              capture_output=True, text=True)
        if done.returncode:
            print(f"{self.folder.name}: {who} left out: {done.stderr.strip()[-300:] or 'no message'}")
            return False
        self.seconds.setdefault(who, []).extend(json.loads(done.stdout.splitlines()[-1])["seconds"])
        return True

    def run_weft(self):
        expect = ["--expect", self.expected] if any(self.expected.iterdir()) else []
        done = subprocess.run(["weft", "run", self.executable, "--input-dir", self.folder / "inputs", "--repeat", str(self.steps + 1),
                               "--threads", str(THREADS), "--json", *expect], stdout=subprocess.PIPE, text=True)
        if done.returncode not in (0, 6):
            sys.exit("weft run failed")
        told = json.loads(done.stdout)
        self.seconds.setdefault("weft", []).append(told["step_seconds"]["median"])
        self.least = min(getattr(self, "least", math.inf), told["step_seconds"]["min"])
        if expect:
            self.difference = max(output["relative"] for output in told["expect"])

    def report(self):
        """The ratio of the medians; NaN without peers."""
        medians = {who: statistics.median(times) for who, times in self.seconds.items()}
        peers = {who: time for who, time in medians.items() if who != "weft"}
        fastest = min(peers.values(), default=math.nan)
        least = min((min(times) for who, times in self.seconds.items() if who != "weft"), default=math.nan)
        ratio = medians["weft"] / fastest
        row = "".join(f"{medians[who] * 1e3:11.1f} ms" if who in medians else f"{'-':>14}" for who in ["weft", *PEERS])
        print(f"{self.folder.name:<14}{row}{ratio:9.2f}{self.least / least:9.2f}{self.difference:11.1e}", flush=True)
        return ratio


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    options = parser.parse_args()
    models = options.models or [name for name in MODELS if (options.folder / name / "model.onnx").exists()]
    print(f"{'':<14}" + "".join(f"{who:>14}" for who in ["weft", *PEERS]) + f"{'ratio':>9}{'of least':>9}{'difference':>11}")
    ratios = []
    for name in models:
        with tempfile.TemporaryDirectory() as scratch:
            contest = Contest(options.folder / name, MODELS[name], pathlib.Path(scratch), options.steps)
            peers = PEERS
            for _ in range(options.runs):
                peers = [who for who in peers if contest.run_peer(who)]
                contest.run_weft()
            ratios.append(contest.report())
    print(f"geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.2f}")


if __name__ == "__main__":
    main()
