"""stages.py [--layers N] [--batch B] [--tokens S] [--microbatches M] [--slices K] [--runs R] [--steps T]: a pipeline of two stages beside torch's.

A decoder of GPT-2 small's sizes, its last layer apart from its embeddings, trained with AdamW on two ranks of one thread each: by Weft in
1F1B and with gradients of weights put off (zb-h1), and by torch.distributed.pipelining's 1F1B over gloo, all cut behind the same layer,
in turns; and by Weft in two stages a rank (interleaved, zb-v), and with sequences in slices. Beside them Weft on one rank of two threads, whole and in two data-parallel ranks. Prints the median and the least step of each,
and its ratio to torch's pipeline. Needs numpy and torch.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

PEER = pathlib.Path(__file__).with_name("stages_peer.py")
TRAIN = ["--train", "adamw", "--lr", "1e-4", "--weight-decay", "0.01", "--loss", "cross_entropy", "--logits", "output", "--labels", "labels"]


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def find_cut(model):
    """The layer behind which Weft ends the first of two stages, and its number."""
    plan = run(["weft", "plan", model, "--quiet", *TRAIN, "--pin", "stage=2", "-o", "-"])
    cut = next(line.split('"')[1] for line in plan.splitlines() if line.startswith("cuts:"))
    return cut, int("".join(c for c in cut.split("/")[0].split("blocks.")[1] if c.isdigit())) + 1


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("layers", 12), ("batch", 8), ("tokens", 128), ("microbatches", 4), ("slices", 4), ("runs", 2), ("steps", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        sizes = [options.layers, options.batch, options.tokens, options.steps]
        run([sys.executable, PEER, "export", scratch, *sizes])
        model, data = scratch / "model.pt2", scratch / "data.npz"
        cut, first = find_cut(model)
        split = ["--cut", cut, "--accumulate", options.microbatches, "--mesh", "data=1"]
        ways = {"1f1b": split, "zb-h1": [*split, "--pin", "schedule=zb-h1"]}
        for schedule in ("interleaved", "zb-v") if options.microbatches > 1 else ():
            ways[schedule] = ["--pin", f"stage=2,schedule={schedule},microbatches={options.microbatches}"]
        ways[f"{options.slices} slices"] = [*split, "--pin", f"slices={options.slices}"]
        ways |= {"one rank": [], "data=2": ["--mesh", "data=2"]}
        for name, how in ways.items():
            run(["weft", "compile", model, "--quiet", *TRAIN, *how, "-o", scratch / f"{name}.weft"])
        seconds = {name: [] for name in ("torch 1f1b", *ways)}
        losses = {}
        for _ in range(options.runs):
            told = json.loads(run([sys.executable, PEER, "train", scratch, *sizes, options.microbatches, first]).splitlines()[-1])
            seconds["torch 1f1b"] += told["seconds"][1:]
            losses["torch 1f1b"] = told["losses"]
            for name in ways:
                log = scratch / "log"
                log.unlink(missing_ok=True)
                run(["weft", "train", scratch / f"{name}.weft", "--quiet", "--data", data, "--steps", options.steps, "--threads", 2, "--log", log])
                lines = [json.loads(line) for line in log.read_text().splitlines()]
                seconds[name] += [line["seconds"] for line in lines][1:]
                losses[name] = [line["loss"] for line in lines]
    print(f"two stages, cut behind layer {first} of {options.layers}; {options.batch}x{options.tokens} tokens in {options.microbatches} microbatches")
    peer = statistics.median(seconds["torch 1f1b"])
    for name, times in seconds.items():
        print(f"{name:<12} {statistics.median(times) * 1e3:8.1f} ms   (least {min(times) * 1e3:.1f} ms)   "
              f"{statistics.median(times) / peer:.2f} of torch's pipeline   last loss {losses[name][-1]:.4f}")


if __name__ == "__main__":
    main()
