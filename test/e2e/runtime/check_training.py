"""check_training.py MODEL KILLS: a training run that is killed KILLS times, at any moment, ends as one that was not.

MODEL is test/tools/Inputs/train.mlir, made larger. Runs of four ranks write a checkpoint after every step and are killed with SIGKILL: one
rank, all of them, or the launcher, under mpirun and over local threads. After each kill the latest checkpoint is whole (plain readers of
.safetensors find every element in its shards), the log and the checkpoints agree, and the next run goes on from there. Other runs go on under another
mesh and another transport.
"""
import collections
import glob
import itertools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(sys.argv[1]))))
import train

INPUTS, OUTPUTS = 96, 61  # 61 columns over 2 ranks: blocks are padded
STEPS = 1000 + 150 * int(sys.argv[2])  # more than the killed runs come to
LIMIT = 60  # seconds from a kill to the end of all: faults.test holds it to less, on a machine that does nothing else
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
STATES = {"w": (INPUTS, OUTPUTS), "b": (OUTPUTS,), "optimizer.m:w": (INPUTS, OUTPUTS), "optimizer.m:b": (OUTPUTS,), "optimizer.step": ()}


def run(*command):
    done = subprocess.run([str(word) for word in command], env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def command(ranks, program, *extra):
    launcher = ["mpirun", "--oversubscribe", "-np", str(ranks)] if ranks else []
    return [*launcher, "weft", "train", program, "--data", "data.npz", "--threads", "2", "--quiet", *map(str, extra)]


def prepare(model):
    """The model with larger weights, its data, and programs on several meshes."""
    text = open(model).read()
    for small, large in (("8x6x", f"8x{INPUTS}x"), ("6x4x", f"{INPUTS}x{OUTPUTS}x"), ("8x4x", f"8x{OUTPUTS}x"), ("tensor<4x", f"tensor<{OUTPUTS}x")):
        text = text.replace(small, large)
    open("train.mlir", "w").write(text)
    x, labels = train.arrays(INPUTS, OUTPUTS, steps=200)
    repeats = -(-STEPS // 200)
    numpy.savez("data.npz", x=numpy.tile(x, (repeats, 1, 1))[:STEPS] / 8, labels=numpy.tile(labels, (repeats, 1, 1))[:STEPS])
    for name, options in {"four": ["--mesh", "data=2,model=2", "--shard", "weight:w=[{},{model}]"], "two": ["--mesh", "x=2", "--shard", "weight:w=[{x},{}]"], "one": []}.items():
        run("weft", "compile", "train.mlir", *options, "-o", f"{name}.weft", "--quiet")


def check_checkpoint(folder):
    """The step of the latest complete checkpoint, of which every element is in a shard once; 0 where there is none."""
    complete = sorted(path for path in glob.glob(f"{folder}/step-*") if os.path.exists(f"{path}/manifest.json"))
    if not complete:
        return 0
    manifest = json.load(open(f"{complete[-1]}/manifest.json"))
    seen = {name: numpy.zeros(shape, int) for name, shape in STATES.items()}
    for shard in manifest["shards"]:
        tensors = train.load(f"{complete[-1]}/{shard['file']}")
        for block in shard["blocks"]:
            name = manifest["states"][block["state"]]["name"]
            assert list(tensors[name].shape) == block["shape"], (name, block)
            seen[name][tuple(slice(start, start + extent) for start, extent in zip(block["start"], block["shape"]))] += 1
            if name == "optimizer.step":
                assert tensors[name] == manifest["step"]
    assert all((count == 1).all() for count in seen.values()), seen
    return manifest["step"]


def check_log(path, step):
    """No gap, nothing twice, and all steps of the checkpoint. Killed in writing, the last line may be half there."""
    lines = [line for line in open(path).read().split("\n")[:-1]] if os.path.exists(path) else []
    steps = [json.loads(line)["step"] for line in lines]
    assert steps == list(range(len(steps))), steps
    assert len(steps) >= step, f"{path} ends with step {len(steps) - 1}, the checkpoint is of {step} steps"
    return len(steps)


def find_ranks(launcher):
    """The pids of mpirun's ranks, which are in its session: of those, too, that outlive it."""
    ranks = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            state, _, _, session = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:4]
            if session == str(launcher.pid) and state not in "ZX" and int(entry.name) != launcher.pid:
                ranks.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return ranks


def wait_for_steps(process, more, rng):
    """Until the log has grown by some lines, or, now and then, for a moment only: in the midst of starting."""
    if rng.random() < 0.15:
        return time.sleep(rng.random() * 0.5)
    before = os.path.getsize("killed.jsonl") if os.path.exists("killed.jsonl") else 0
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        now = os.path.getsize("killed.jsonl") if os.path.exists("killed.jsonl") else 0
        if abs(now - before) > 100 * more:
            break
        time.sleep(0.002)
    time.sleep(rng.random() * 0.02)


def kill(process, ranks, how, rng, killed):
    """Kills what `how` names, counts it in `killed`, and waits for the end of all; how long that took."""
    victims = find_ranks(process) if ranks else [process.pid]
    if how == "one" and victims:
        victims = [rng.choice(victims)]
    elif how == "launcher" or not victims:  # or it has not started any
        victims = [process.pid]
    killed[how] += victims != [process.pid] or how in ("launcher", "process")
    for victim in victims:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
    begin = time.monotonic()
    process.wait(timeout=LIMIT)
    while find_ranks(process):  # one that was only just started is among them
        assert time.monotonic() - begin < LIMIT, "the ranks ran on after their launcher"
        time.sleep(0.05)
    return time.monotonic() - begin


def kill_loop(kills):
    rng = random.Random(11)
    ways = itertools.cycle([(4, "one"), (4, "all"), (0, "process"), (4, "one"), (4, "launcher")])
    done, moved, longest, killed = 0, 0, 0, collections.Counter()
    for number in range(kills):
        ranks, how = next(ways)
        process = subprocess.Popen(command(ranks, "four.weft", "--steps", STEPS, "--checkpoint-dir", "killed", "--checkpoint-every", 1, "--keep", 2, "--resume", "--log", "killed.jsonl"),
                                   env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        wait_for_steps(process, rng.randint(1, 6), rng)
        longest = max(longest, kill(process, ranks, how, rng, killed))
        step = check_checkpoint("killed")
        assert step >= done, f"after kill {number} ({how}) the latest checkpoint is of step {step}, before it there was one of {done}"
        assert check_log("killed.jsonl", step) < STEPS, "the run ended by itself"
        moved += step > done
        done = step
    assert sum(killed.values()) >= 0.7 * kills, f"{dict(killed)} of {kills} were as meant: the others came before there were ranks"
    assert moved >= kills // 2, f"only {moved} of {kills} runs wrote a checkpoint"
    print(f"{kills} kills, {moved} runs wrote checkpoints, {done} steps are done, the longest end took {longest:.1f} s")
    return done


def main():
    model, kills = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    os.chdir(tempfile.mkdtemp(dir="."))
    prepare(model)
    done = kill_loop(kills)
    end = done + 20
    run(*command(4, "four.weft", "--steps", end, "--checkpoint-dir", "killed", "--resume", "--log", "killed.jsonl", "--export-weights", "killed.safetensors"))
    run(*command(0, "four.weft", "--steps", end, "--log", "whole.jsonl", "--export-weights", "whole.safetensors"))
    assert train.losses_of("killed.jsonl") == train.losses_of("whole.jsonl"), "losses differ from those of a run that was not killed"
    assert open("killed.safetensors", "rb").read() == open("whole.safetensors", "rb").read()
    assert os.listdir("killed") and check_checkpoint("killed") == end

    # Under other meshes and another transport.
    run(*command(4, "four.weft", "--steps", 10, "--checkpoint-dir", "moved", "--log", "moved.jsonl"))
    run(*command(0, "two.weft", "--steps", 20, "--checkpoint-dir", "moved", "--resume", "--log", "moved.jsonl"))
    run(*command(2, "two.weft", "--steps", 30, "--checkpoint-dir", "moved", "--resume", "--log", "moved.jsonl"))
    run(*command(0, "one.weft", "--steps", 40, "--checkpoint-dir", "moved", "--resume", "--log", "moved.jsonl"))
    run(*command(4, "four.weft", "--steps", 50, "--checkpoint-dir", "moved", "--resume", "--log", "moved.jsonl", "--export-weights", "moved.safetensors"))
    run(*command(0, "four.weft", "--steps", 50, "--log", "straight.jsonl", "--export-weights", "straight.safetensors"))
    assert train.steps_of("moved.jsonl") == list(range(50))
    assert train.near(train.losses_of("moved.jsonl"), train.losses_of("straight.jsonl"), 1e-6)
    assert train.near(train.load("moved.safetensors"), train.load("straight.safetensors"), 1e-6)


if __name__ == "__main__":
    main()
