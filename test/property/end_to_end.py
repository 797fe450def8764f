"""end_to_end.py DIRECTORY [--seeds N] [--start S] [--jobs J] [--device D] [--keep]: random models from `weft compile` to `weft run`.

weft-property writes each case (CaseFiles.h); `weft compile` makes an executable for its mesh and pins, `weft verify` checks
it, `weft run` runs it on one thread a rank. Its outputs are held against the interpreter's on one device, and those
against numpy's (reference.py). Every 16th case is compiled and run once more: the same bytes must come out; every 32nd
runs under mpirun, too. 300 cases by default, or WEFT_SEEDS. Exit 1 if a case fails, or if weft-property finds operations
or splits too seldom.
"""
import argparse
import concurrent.futures
import filecmp
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

import reference

TOLERANCE = 1e-4


class Failure(Exception):
    pass


def call(*arguments):
    """Runs a command that is to succeed."""
    arguments = [str(argument) for argument in arguments]
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(arguments)}: not done after 120 s") from None
    if done.returncode != 0:
        raise Failure(f"{' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def hold(value, expected, what):
    """Integers are to be equal, floats to TOLERANCE of the largest magnitude (at least 1e-3: sums may cancel)."""
    if value.shape != expected.shape or value.dtype != expected.dtype:
        raise Failure(f"{what} is {value.dtype}{list(value.shape)}, expected {expected.dtype}{list(expected.shape)}")
    if value.dtype.kind != "f":
        if not np.array_equal(value, expected):
            raise Failure(f"{what} differs in {np.count_nonzero(value != expected)} of {value.size} elements")
        return
    odd = ~np.isfinite(expected)
    if not np.array_equal(value[odd], expected[odd], equal_nan=True):
        raise Failure(f"{what} differs in what is not finite")
    value, expected = value[~odd].astype(np.float64), expected[~odd].astype(np.float64)
    difference = np.max(np.abs(value - expected), initial=0) / np.max(np.abs(expected), initial=1e-3)
    if not difference <= TOLERANCE:
        raise Failure(f"{what} differs by {difference:.3g} of its largest magnitude")


def compile_and_run(folder, case, name, device):
    """The executable and its outputs' folder, in a folder of that name."""
    work = folder / name
    work.mkdir()
    plan = ["--mesh", case["mesh"]] if case["chosen"] else ["--plan", folder / "plan.txtpb"]
    pins = [part for pin in case["pins"] for part in ("--shard", pin)] if case["chosen"] else []
    executable, outputs = work / "model.weft", work / "outputs"
    call("weft", "compile", folder / "model.mlir", *plan, *pins, "--device", device, "-o", executable, "--quiet", "--threads", 1)
    call("weft", "verify", executable, "--quiet")
    call("weft", "run", executable, "--input-dir", folder / "inputs", "--output-dir", outputs, "--threads", 1, "--quiet")
    return executable, outputs


def check_repeats(folder, case, executable, outputs, device):
    again, repeated = compile_and_run(folder, case, "again", device)
    files = sorted(path.relative_to(executable) for path in executable.rglob("*") if path.is_file())
    others = sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    if files != others:
        raise Failure(f"compiled a second time, the executable has {others} instead of {files}")
    for one, other, names in ((executable, again, files), (outputs, repeated, os.listdir(outputs))):
        for name in names:
            if not filecmp.cmp(one / name, other / name, shallow=False):
                raise Failure(f"{name} has other bytes when compiled and run a second time")


def check_mpi(folder, case, executable, expected):
    ranks = math.prod(int(axis.split("=")[1]) for axis in case["mesh"].split(","))
    outputs = folder / "mpi"
    call("mpirun", "--oversubscribe", "-np", ranks, "weft", "run", executable, "--transport", "mpi", "--input-dir",
         folder / "inputs", "--output-dir", outputs, "--threads", 1, "--quiet")
    hold_outputs(outputs, expected, "over mpi, ")


def hold_outputs(outputs, expected, where=""):
    for index, value in enumerate(expected):
        hold(np.load(outputs / f"y{index}.npy"), value, f"{where}output y{index}")


def check(folder, seed, device):
    case = json.loads((folder / "case.json").read_text())
    data = (folder / "data.bin").read_bytes()
    expected = [reference.elements(entry, data) for entry in case["expected"]]
    for index, value in enumerate(reference.evaluate(case, data)):
        hold(value, expected[index], f"numpy's output y{index}")
    (folder / "inputs").mkdir()
    leaves = {node["results"][0]: node for node in case["nodes"] if node["op"] == "leaf"}
    for index, number in enumerate(case["inputs"]):
        np.save(folder / "inputs" / f"x{index}.npy", reference.elements(leaves[number], data))
    executable, outputs = compile_and_run(folder, case, "once", device)
    hold_outputs(outputs, expected)
    if seed % 32 == 1 and device == "cpu":
        check_mpi(folder, case, executable, expected)
    if seed % 16 == 0:
        check_repeats(folder, case, executable, outputs, device)


def run(directory, seed, options):
    """What is wrong with a case, or nothing."""
    folder = directory / str(seed)
    try:
        check(folder, seed, options.device)
    except Failure as failure:
        return (f"seed {seed}: {failure}\nits files: {folder}\nreplay: PATH=build/release/bin:$PATH {sys.executable} "
                f"test/property/end_to_end.py replay --start {seed} --seeds 1 --device {options.device} --keep\n")
    if not options.keep:
        shutil.rmtree(folder)
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("WEFT_SEEDS", 300)))
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu", help="what is compiled for")
    parser.add_argument("--keep", action="store_true", help="leave the files of cases that pass")
    options = parser.parse_args()
    directory = options.directory
    shutil.rmtree(directory, ignore_errors=True)
    written = subprocess.run(["weft-property", "--write", directory, "--start", str(options.start), "--seeds",
                              str(options.seeds)], capture_output=True, text=True)
    print(written.stdout, written.stderr, sep="", end="")
    seeds = range(options.start, options.start + options.seeds)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        failures = [text for text in pool.map(lambda seed: run(directory, seed, options), seeds) if text]
    print("\n".join(failures[:10]))
    print(f"{len(failures)} of {len(seeds)} cases failed end to end")
    return 1 if failures or written.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
