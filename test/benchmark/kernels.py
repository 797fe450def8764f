"""kernels.py BEFORE AFTER FOLDER … [--turns N] [--steps N]: generated kernels of two builds, side by side.

BEFORE and AFTER are folders of binaries (build/release/bin); each FOLDER holds model.onnx with its weights and inputs/*.npy
(make_weights.py gpt2_small). Both builds compile the model, then time every kernel that BEFORE made (unit/KernelCases --time) and whole
steps, in turns, so that a busy machine troubles both alike. Prints of both the number of kernels, the processor seconds of compiling, the
sum over kernels of each one's least time, and the least step; then the kernels that became slowest and fastest. Kernels' code is timed
with the same operands: what BEFORE fused, AFTER compiles too.
"""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import tempfile

KERNEL = re.compile(r"^  func\.func private @kernel_\d+.*?^  }$", re.M | re.S)
TIME = re.compile(r"^(kernel_\d+)\s+([\d.]+) us", re.M)


def run(*command):
    """What a command prints on both streams, and the processor seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout[-2000:]}")
    return done.stdout, after.ru_utime - before.ru_utime


class Build:
    def __init__(self, folder):
        self.folder, self.compiling, self.step, self.times = pathlib.Path(folder), [], [], {}

    def compile(self, model, to):
        text, seconds = run(self.folder / "weft", "compile", model / "model.onnx", "-o", to, "--dump-ir-after", "fuse")
        self.compiling.append(seconds)
        return KERNEL.findall(text)

    def time_kernels(self, file):
        for name, microseconds in TIME.findall(run(self.folder / "unit" / "KernelCases", file, "--time")[0]):
            self.times[name] = min(self.times.get(name, float("inf")), float(microseconds))

    def time_steps(self, executable, model, steps, outputs):
        text, _ = run(self.folder / "weft", "run", executable, "--input-dir", model / "inputs", "--output-dir", outputs, "--repeat", steps,
                      "--json", "--quiet")
        self.step.append(json.loads(text)["step_seconds"]["min"])


def compare(model, before, after, options, scratch):
    for turn in range(options.turns):
        for name, build in (("before", before), ("after", after)):
            kernels = build.compile(model, scratch / f"{name}.weft")
            if turn == 0:
                build.kernels = len(kernels)
                if build is before:
                    (scratch / "kernels.mlir").write_text("\n".join(kernels).replace("func.func private", "func.func"))
            build.time_kernels(scratch / "kernels.mlir")
            build.time_steps(scratch / f"{name}.weft", model, options.steps, scratch / "outputs")


def report(model, before, after):
    print(f"{model.name}: {'':12} {'before':>10} {'after':>10}")
    for what, get in (("kernels", lambda build: build.kernels), ("compiling, CPU s", lambda build: min(build.compiling)),
                      ("kernels, ms", lambda build: sum(build.times.values()) / 1e3), ("least step, ms", lambda build: 1e3 * min(build.step))):
        print(f"  {what:22} {get(before):10.3f} {get(after):10.3f}")
    ratios = sorted((after.times[name] / max(before.times[name], 0.1), name) for name in before.times)
    for ratio, name in ratios[:2] + ratios[-2:]:
        print(f"  {name:22} {before.times[name]:10.1f} {after.times[name]:10.1f} us  x{ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    for model in options.folders:
        before, after = Build(options.before), Build(options.after)
        with tempfile.TemporaryDirectory() as scratch:
            compare(model, before, after, options, pathlib.Path(scratch))
        report(model, before, after)


if __name__ == "__main__":
    main()
