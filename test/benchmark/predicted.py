"""predicted.py FOLDER [--models A,B] [--runs N] [--steps N] [--plans]: steps as `weft simulate` predicts them beside those measured.

FOLDER has a folder a model (make_weights.py): model.onnx, its weights and inputs/. Calibrates this host first, or takes --cluster. Every
program runs with as many ranks as its mesh has, as threads, in processes of N steps each; processes of all meshes take turns, so that a busy machine
troubles all alike. Prints the predicted step, the median measured and the least, and how far the prediction is from the median.

--plans: ten plans of each model beside each other: the searched one, with a rank a core, and for four ranks data parallelism, model parallelism, both,
and random pins. Says how far the searched one's measured step is from the best measured.
"""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

MODELS = ("gpt2_small", "bert_base", "resnet50", "llama_1b")
MESHES = ("", "data=2", "model=2", "model=4", "data=2,model=2")


def weft(*arguments):
    """What `weft` prints; nothing where there is no such plan."""
    done = subprocess.run(["weft", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 4:
        return None
    if done.returncode != 0:
        sys.exit(f"weft {' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


class Program:
    """A program of a model, its predicted step, and the steps that were measured."""

    def __init__(self, source, folder, name, options, cluster):
        self.name, self.inputs, self.executable, self.steps = name, source / "inputs", folder / "program.weft", []
        made = weft("compile", source / "model.onnx", *options, "-o", self.executable, "--quiet")
        self.predicted = made is not None and json.loads(weft("simulate", self.executable, "--cluster", cluster, "--json"))["step_seconds"]

    def run(self, steps):
        done = json.loads(weft("run", self.executable, "--input-dir", self.inputs, "--repeat", steps, "--json"))
        self.steps.append(done["step_seconds"])

    def median(self):
        return statistics.median(run["median"] for run in self.steps)

    def least(self):
        return min(run["min"] for run in self.steps)


def make(source, scratch, ways, cluster):
    """The programs that there are, of {name: options}."""
    programs = []
    for number, (name, options) in enumerate(ways.items()):
        folder = scratch / f"{source.name}-{number}"
        folder.mkdir()
        program = Program(source, folder, name, options, cluster)
        if program.predicted:
            programs.append(program)
    return programs


def measure(programs, options):
    for _ in range(options.runs):
        for program in programs:
            program.run(options.steps)


def compare_meshes(source, scratch, cluster, options):
    programs = make(source, scratch, {mesh or "1": ["--mesh", mesh] if mesh else [] for mesh in MESHES}, cluster)
    measure(programs, options)
    for each in programs:
        print(f"{source.name:12} {each.name:15} {each.predicted * 1e3:9.1f} {each.median() * 1e3:9.1f} {each.least() * 1e3:9.1f} "
              f"{100 * (each.predicted / each.median() - 1):+7.1f} %", flush=True)
    return [each.predicted / each.median() - 1 for each in programs]


def list_weights(source, scratch):
    """Weights of two dimensions, by name."""
    plan = scratch / "weights.txtpb"
    weft("plan", source / "model.onnx", "--mesh", "model=4", "-o", plan, "--quiet")
    return sorted(set(re.findall(r"^weight:(\S+)\s+tensor<\d+x\d+xf32>", weft("explain", plan), re.MULTILINE)))


def list_plans(source, scratch, cluster):
    """Options of the plans to compare."""
    chance = random.Random(5)
    ways = {"searched": ["--cluster", cluster]}
    for mesh in ("data=4", "model=4", "data=2,model=2"):
        ways[mesh] = ["--mesh", mesh]
    weights = list_weights(source, scratch)
    for number in range(6):
        pins = []
        for name in chance.sample(weights, min(4, len(weights))):
            pins += ["--shard", f"{name}={chance.choice(['[{model}, {}]', '[{}, {model}]', '[{}, {}]'])}"]
        ways[f"pins {number + 1}"] = ["--mesh", chance.choice(["model=4", "data=2,model=2"]), *pins]
    return ways


def compare_plans(source, scratch, cluster, options):
    programs = make(source, scratch, list_plans(source, scratch, cluster), cluster)
    measure(programs, options)
    for each in sorted(programs, key=Program.median):
        print(f"{source.name:12} {each.name:15} {each.predicted * 1e3:9.1f} {each.median() * 1e3:9.1f} {each.least() * 1e3:9.1f}", flush=True)
    return programs[0].median() / min(map(Program.median, programs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--cluster", help="a description that `weft calibrate` wrote; default: calibrate now")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--plans", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        cluster = options.cluster or scratch / "host.txtpb"
        if not options.cluster:
            weft("calibrate", "-o", cluster, "--quiet")
        print(f"model        {'plan' if options.plans else 'mesh':15} predicted    median     least (ms)")
        results = [(compare_plans if options.plans else compare_meshes)(options.folder / model, scratch, cluster, options) for model in options.models.split(",")]
    if options.plans:
        print("searched beside the best measured: " + ", ".join(f"{ratio:.2f}" for ratio in results))
    else:
        errors = [abs(error) for model in results for error in model]
        print(f"{sum(error <= 0.2 for error in errors)} of {len(errors)} within 20 %, mean {100 * statistics.mean(errors):.1f} %")


if __name__ == "__main__":
    main()
