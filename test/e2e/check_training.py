"""check_training.py FILE [--mesh M …] [--accumulate N …] [--optimizer-sharding Z …] [--transport T …] [--cluster C] [--device D] [--full]

Trains a reference model and holds it against what torch recorded for the same data: the loss of every step within 1e-5, the
gradients of the first step and the weights behind the last within 1e-4 of each tensor's largest magnitude. Every combination of
the options given is compiled and run; without options: one device. --full: all that the models are to be trained on.
"""
import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

from check_model import read_safetensors

LOSS_TOLERANCE, TENSOR_TOLERANCE = 1e-5, 1e-4
# Weights behind the last step, where a value stands so near to a corner of relu or leaky relu that the order of a sum decides on
# which side: torch itself is as far from its own run in f64 (unet3d: 0.048 of the largest magnitude; its last loss 2.8e-5).
CORNERS = {"t5": (1e-5, 3e-3), "unet3d": (5e-5, 6e-2)}
MESHES = ["", "data=2", "model=2", "data=2,model=2", "data=3,model=2"]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
# Outputs of .pt2 files have no names of their own.
PT2_LOGITS = {"t5": "output_0"}


class Training:
    """One model file with what torch recorded for it."""

    def __init__(self, file, folder):
        self.file, self.folder = file, folder
        self.loss_tolerance, self.weight_tolerance = CORNERS.get(file.parent.name, (LOSS_TOLERANCE, TENSOR_TOLERANCE))
        self.recorded = json.loads((file.parent / "meta.json").read_text())["train"]
        train = file.parent / "train"
        self.data = train / "data.npz"
        self.gradients = read_safetensors(train / "gradients_step0.safetensors")
        self.weights = read_safetensors(train / "weights_after.safetensors")
        self.parameters = folder / "parameters.txt"
        self.parameters.write_text("\n".join(self.recorded["parameters"]) + "\n")

    def compile(self, options, to):
        loss, optimizer = self.recorded["loss"], self.recorded["optimizer"]
        logits = loss["logits"]
        if self.file.suffix == ".pt2":
            logits = PT2_LOGITS.get(self.file.parent.name, "output")
        run(["weft", "compile", self.file, "--quiet", "-o", to, "--train", optimizer["kind"], "--lr", optimizer["lr"],
             "--betas", ",".join(map(str, optimizer["betas"])), "--eps", optimizer["eps"], "--weight-decay",
             optimizer["weight_decay"], "--loss", loss["kind"], "--logits", logits, "--labels", loss["labels"],
             "--ignore-index", loss["ignore_index"], "--class-axis", loss["class_axis"], "--parameters", self.parameters,
             *options])

    def train(self, executable, transport, prefix):
        ranks = json.loads(run(["weft", "inspect", executable, "--json"]))["ranks"]
        launcher = ["mpirun", "--oversubscribe", "-n", ranks] if transport == "mpi" else []
        run([*launcher, "weft", "train", executable, "--quiet", "--data", self.data, "--steps", self.recorded["steps"], "--log",
             f"{prefix}.jsonl", "--dump-gradients", f"{prefix}.gradients", "--export-weights", f"{prefix}.weights"])

    def compare(self, prefix):
        lines = [json.loads(line) for line in pathlib.Path(f"{prefix}.jsonl").read_text().splitlines()]
        losses = [line["loss"] for line in lines]
        if len(losses) != len(self.recorded["losses"]):
            yield f"{len(losses)} losses, expected {len(self.recorded['losses'])}"
        for step, (loss, expected) in enumerate(zip(losses, self.recorded["losses"])):
            if not abs(loss - expected) <= self.loss_tolerance * max(1, abs(expected)):
                yield f"loss of step {step}: {loss}, expected {expected}"
        yield from differences("gradient", f"{prefix}.gradients", self.gradients, TENSOR_TOLERANCE)
        yield from differences("weight", f"{prefix}.weights", self.weights, self.weight_tolerance)


def run(command):
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def differences(what, path, expected, tolerance):
    got = read_safetensors(pathlib.Path(path))
    # Some gradients are zero but for rounding: a bias in front of a normalisation, or of the keys.
    least = 2e-3 * max(numpy.abs(tensor).max() for tensor in expected.values())
    for name, tensor in expected.items():
        if name not in got:
            yield f"{what} {name}: absent"
            continue
        if got[name].shape != tensor.shape:
            yield f"{what} {name}: {got[name].shape}, expected {tensor.shape}"
            continue
        error = numpy.abs(got[name].astype(float) - tensor).max() / max(numpy.abs(tensor).max(), least)
        if not error <= tolerance:
            yield f"{what} {name}: off by {error:.2e} of its largest magnitude"


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--mesh", nargs="*", default=[""])
    parser.add_argument("--accumulate", nargs="*", default=["1"])
    parser.add_argument("--optimizer-sharding", nargs="*", default=["0"])
    parser.add_argument("--transport", nargs="*", default=["local"])
    parser.add_argument("--cut", nargs="*", default=[], help="values behind which a stage ends")
    parser.add_argument("--pin", help="as weft has it")
    parser.add_argument("--recompute", default="none")
    parser.add_argument("--offload", default="none")
    parser.add_argument("--device", default="cpu", help="what the program is compiled for")
    parser.add_argument("--cluster", help="search for the split of each mesh on this cluster")
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    if arguments.full:
        arguments.mesh, arguments.transport = MESHES, ["local", "mpi"]
        arguments.optimizer_sharding = ["0", "1", "2", "3"]
        arguments.accumulate = ["1"] if arguments.file.parent.name == "moe" else ["1", "2"]
    return arguments


def main():
    arguments = parse()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        training = Training(arguments.file, pathlib.Path(folder))
        for mesh, accumulate, stage in itertools.product(arguments.mesh, arguments.accumulate, arguments.optimizer_sharding):
            if stage != "0" and "data" not in mesh:
                continue
            options = [*(["--mesh", mesh] if mesh else []), "--accumulate", accumulate, "--optimizer-sharding", stage]
            options += ["--recompute", arguments.recompute, "--offload", arguments.offload, *(word for cut in arguments.cut for word in ("--cut", cut))]
            options += ["--device", arguments.device, *(["--pin", arguments.pin] if arguments.pin else [])]
            if arguments.cluster and (mesh or arguments.pin):
                options += ["--cluster", arguments.cluster]
            executable = pathlib.Path(folder, "step.weft")
            training.compile(options, executable)
            run(["weft", "verify", executable])
            for transport in arguments.transport:
                prefix = pathlib.Path(folder, "run")
                training.train(executable, transport, prefix)
                wrong = list(training.compare(prefix))
                failures += bool(wrong)
                print(f"{'FAIL' if wrong else 'ok'}: {' '.join(options)} {transport}", *wrong[:5], sep="\n  ")
                if len(wrong) > 5:
                    print(f"  … {len(wrong) - 5} more")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
