"""step.py FOLDER [--runs N] [--steps N]: a step of a GPT-2-small-shaped model on one rank, beside ONNX Runtime; and a rank's memory.

FOLDER holds model.onnx with its weights (make_weights.py gpt2_small) and inputs/input_ids.npy. Both run with two threads, in turns, so
that a busy machine troubles both alike; each run is a process of its own that makes N steps after loading. Prints the least and the
median step of both, the ratio of the medians, and the difference of the outputs; then the peak resident memory of one MPI rank beside the
sum of its arenas. Needs numpy; onnxruntime for the peer's columns, mpirun for the memory's.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

THREADS = 2
PEER = r"""
import json, sys, time
import numpy as np
import onnxruntime as ort
model, inputs, outputs, threads, steps = *sys.argv[1:4], *map(int, sys.argv[4:6])
options = ort.SessionOptions()
options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
feed = {put.name: np.load(f"{inputs}/{put.name}.npy") for put in session.get_inputs()}
seconds = []
for _ in range(steps):
    start = time.perf_counter()
    values = session.run(None, feed)
    seconds.append(time.perf_counter() - start)
for put, value in zip(session.get_outputs(), values):
    np.save(f"{outputs}/{put.name}.npy", value)
print(json.dumps(seconds))
"""


def weft(*arguments, launcher=()):
    """What `weft` prints as JSON."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([*launcher, "weft", *map(str, arguments)], stdout=subprocess.PIPE, text=True, env=os.environ | root)
    if done.returncode not in (0, 6):
        sys.exit(f"weft {arguments[0]} failed")
    return json.loads(done.stdout) if done.stdout else None


def peer(folder, outputs, steps):
    """Seconds of each step; None without onnxruntime."""
    done = subprocess.run([sys.executable, "-c", PEER, folder / "model.onnx", folder / "inputs", outputs, str(THREADS), str(steps)],
                          capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def compare_steps(folder, executable, options, expected):
    own, other, difference = [], [], []
    for _ in range(options.runs):
        other += peer(folder, expected, options.steps) or []
        expect = ["--expect", expected] if other else []
        done = weft("run", executable, "--input-dir", folder / "inputs", "--repeat", options.steps, "--threads", THREADS, "--json", *expect)
        own.append(done["step_seconds"])
        difference = done["expect"]
    least, median = min(run["min"] for run in own), statistics.median(run["median"] for run in own)
    print(f"weft step          {median * 1e3:8.1f} ms   (least {least * 1e3:.1f} ms)")
    if not other:
        print("peer: onnxruntime is not installed")
        return
    print(f"onnxruntime step   {statistics.median(other) * 1e3:8.1f} ms   (least {min(other) * 1e3:.1f} ms)")
    print(f"ratio              {median / statistics.median(other):8.2f}      (of the least {least / min(other):.2f})")
    for output in difference:
        print(f"{output['output']:<18} {output['relative']:8.1e}      (largest difference over largest magnitude)")


def show_memory(folder, executable):
    if not shutil.which("mpirun"):
        print("memory: mpirun is not installed")
        return
    run = weft("run", executable, "--input-dir", folder / "inputs", "--repeat", 2, "--transport", "mpi", "--json", launcher=("mpirun", "-np", "1"))
    arenas, peak = run["arena_bytes"][0] / 2**20, run["peak_rss_bytes"][0] / 2**20
    print(f"arenas             {arenas:8.0f} MiB")
    print(f"peak memory        {peak:8.0f} MiB  (1.2 x arenas + 150: {1.2 * arenas + 150:.0f})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        executable, expected = pathlib.Path(scratch) / "model.weft", pathlib.Path(scratch) / "expected"
        os.mkdir(expected)
        weft("compile", options.folder / "model.onnx", "-o", executable, "--quiet")
        compare_steps(options.folder, executable, options, expected)
        show_memory(options.folder, executable)


if __name__ == "__main__":
    main()
