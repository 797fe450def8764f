"""contest_peer.py WHO NAME FOLDER OUTPUT STEPS THREADS: steps of a model of FOLDER by a peer, as JSON {"seconds":[…],"shape":[…]}.

WHO is eager or compile (torch), jax, or onnxruntime, which runs FOLDER/model.onnx itself and writes what it computes into the folder OUTPUT;
the others run a model of the family NAME and of the same sizes with weights of their own.
"""
import json
import os
import pathlib
import sys
import time

import numpy


def prepare_torch(name, threads, mode):
    import torch
    import torch_models

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = torch_models.make(name).apply(torch_models.initialise).eval()
    run = torch.compile(model) if mode == "compile" else model

    def step(inputs):
        with torch.inference_mode():
            return run(torch.from_numpy(inputs[torch_models.INPUTS[name]])).numpy()

    return step


def prepare_jax(name, inputs):
    import jax_models
    import torch_models

    value = inputs[torch_models.INPUTS[name]]
    run, weights = jax_models.make(name, value)
    return lambda _: numpy.asarray(run(weights, value))


def prepare_onnxruntime(folder, output, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    name = session.get_outputs()[0].name

    def step(inputs):
        value = session.run([name], inputs)[0]
        if not (output / f"{name}.npy").exists():
            numpy.save(output / f"{name}.npy", value)
        return value

    return step


def main():
    who, name, folder, output = sys.argv[1], sys.argv[2], *map(pathlib.Path, sys.argv[3:5])
    steps, threads = int(sys.argv[5]), int(sys.argv[6])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])  # JAX takes the processors that it finds
    inputs = {put.stem: numpy.load(put) for put in sorted((folder / "inputs").glob("*.npy"))}
    if who == "jax":
        step = prepare_jax(name, inputs)
    elif who == "onnxruntime":
        step = prepare_onnxruntime(folder, output, threads)
    else:
        step = prepare_torch(name, threads, who)
    seconds = []
    for _ in range(steps + 1):  # the first compiles
        start = time.perf_counter()
        value = step(inputs)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds[1:], "shape": value.shape}))


if __name__ == "__main__":
    main()
