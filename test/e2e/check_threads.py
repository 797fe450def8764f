"""check_threads.py MODEL_FOLDER INSTRUCTION_SET: outputs have the same bits on any number of threads and either transport.

Runs the model in MODEL_FOLDER and Inputs/threads.mlir, whose products and convolutions are large enough to be cut, on one rank
and on four, with 1, 2, 3 and 5 threads a rank, on local threads and under mpirun; the product library is held to
INSTRUCTION_SET (DNNL_MAX_CPU_ISA; DEFAULT: all that the processor has).
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

MESHES = {"data=1": 1, "data=2,model=2": 4}
THREADS = [1, 2, 3, 5]
SHAPES = {"x": (4, 130, 384), "up": (384, 1000), "down": (1000, 384), "image": (2, 24, 30, 30), "kernel": (48, 24, 3, 3)}


def weft(*arguments, launcher=()):
    subprocess.run([*launcher, "weft", *map(str, arguments), "--quiet"], check=True, timeout=300)


def run(executable, inputs, outputs, threads, launcher):
    transport = "mpi" if launcher else "local"
    weft("run", executable, "--input-dir", inputs, "--output-dir", outputs, "--threads", threads, "--transport", transport, launcher=launcher)
    return {path.name: path.read_bytes() for path in outputs.glob("*.npy")}


def check(model, inputs, folder):
    for mesh, ranks in MESHES.items():
        executable = folder / f"{model.stem}_{ranks}.weft"
        weft("compile", model, "--mesh", mesh, "-o", executable)
        expected = None
        for threads in THREADS:
            for launcher in ((), ("mpirun", "--oversubscribe", "-np", str(ranks))):
                outputs = folder / f"{model.stem}_{ranks}_{threads}_{len(launcher)}"
                found = run(executable, inputs, outputs, threads * ranks, launcher)
                expected = expected or found
                assert found == expected, f"{model.name} on {mesh}: other bits with {threads} threads {launcher}"


def main():
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", DNNL_MAX_CPU_ISA=sys.argv[2])
    bundled = pathlib.Path(sys.argv[1])
    here = pathlib.Path(__file__).parent
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "inputs").mkdir()
        random = numpy.random.default_rng(0)
        for put, shape in SHAPES.items():
            numpy.save(folder / "inputs" / f"{put}.npy", random.standard_normal(shape, numpy.float32))
        check(here / "Inputs" / "threads.mlir", folder / "inputs", folder)
        check(bundled / "model.onnx", bundled / "inputs", folder)


if __name__ == "__main__":
    main()
