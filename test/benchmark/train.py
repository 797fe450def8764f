"""train.py NAME FOLDER [--runs N] [--steps N]: a training step beside torch, eager and compiled, in the same run.

NAME is gpt2, bert or resnet; FOLDER holds a model of that family with its weights (make_weights.py gpt2_small, gpt2_small_b8,
bert_base, resnet50). Torch trains a model of the same sizes written here. Both use two threads, AdamW and cross-entropy, in
turns, so that a busy machine troubles both alike; each run is a process of its own. Prints the least and the median step of
each, their ratios to the faster torch, the peak memory, and how long Weft took to compile. Needs numpy and torch.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

THREADS = 2
PEER = pathlib.Path(__file__).with_name("train_peer.py")


def make_data(folder, name, steps, to):
    """The inputs of every step and labels of the logits' shape, stacked."""
    import numpy

    random = numpy.random.default_rng(0)
    arrays = {}
    for put in sorted((folder / "inputs").glob("*.npy")):
        value = numpy.load(put)
        if value.dtype.kind == "f":
            arrays[put.stem] = random.standard_normal((steps, *value.shape)).astype(value.dtype)
        elif put.stem == "input_ids":
            arrays[put.stem] = random.integers(0, 20000, (steps, *value.shape)).astype(value.dtype)
        else:
            arrays[put.stem] = numpy.stack([value] * steps)
    first = next(iter(arrays.values()))
    labels = (steps, first.shape[1]) if name == "resnet" else first.shape
    arrays["labels"] = random.integers(0, 900, labels).astype("<i8")
    numpy.savez(to, **arrays)


def compile_weft(folder, executable):
    start = time.perf_counter()
    subprocess.run(["weft", "compile", folder / "model.onnx", "--quiet", "--train", "adamw", "--lr", "1e-4", "--weight-decay", "0.01",
                    "--loss", "cross_entropy", "--logits", "logits", "--labels", "labels", "-o", executable], check=True)
    return time.perf_counter() - start


def run_weft(executable, data, steps, log):
    log.unlink(missing_ok=True)
    subprocess.run(["weft", "train", executable, "--quiet", "--data", data, "--steps", str(steps), "--threads", str(THREADS), "--log", log],
                   check=True)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["seconds"] for line in lines][1:], lines[-1]["peak_rss_bytes"] / 1024


def run_torch(name, data, steps, mode):
    done = subprocess.run([sys.executable, PEER, name, data, str(steps), str(THREADS), mode], capture_output=True, text=True)
    if done.returncode:
        print(f"peer: torch {mode} failed: {done.stderr.strip().splitlines()[-1:]}")
        return [], 0
    told = json.loads(done.stdout.splitlines()[-1])
    return told["seconds"][1:], told["peak_kib"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=["gpt2", "bert", "resnet"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        data, executable = scratch / "data.npz", scratch / "step.weft"
        make_data(options.folder, options.name, options.steps, data)
        print(f"compile            {compile_weft(options.folder, executable):8.2f} s")
        seconds, peaks = {"weft": [], "eager": [], "compile": []}, {}
        for _ in range(options.runs):
            for who in seconds:
                own, peak = run_weft(executable, data, options.steps, scratch / "log") if who == "weft" else run_torch(options.name, data, options.steps, who)
                seconds[who] += own
                peaks[who] = max(peaks.get(who, 0), peak)
    best = min((statistics.median(times) for who, times in seconds.items() if who != "weft" and times), default=None)
    for who, times in seconds.items():
        if not times:
            continue
        median = statistics.median(times)
        ratio = f"   {median / best:.2f} of the faster torch" if best else ""
        print(f"{who:<8} {median * 1e3:8.1f} ms   (least {min(times) * 1e3:.1f} ms)   peak {peaks[who] / 1024:.0f} MiB{ratio}")


if __name__ == "__main__":
    main()
