"""check_updates.py MODEL: states that a kernel changes in place, where one is changed by what another becomes; against numpy."""
import pathlib
import subprocess
import sys
import tempfile

import numpy

from check_model import read_safetensors

STEPS = 3


def main():
    x = numpy.random.default_rng(1).standard_normal((STEPS, 256, 64)).astype(numpy.float32)
    sums, w = numpy.full(x.shape[1:], 0.5, numpy.float32), numpy.full(x.shape[1:], 0.25, numpy.float32)
    for step in x:
        sums = sums + step
        w = w - sums * numpy.float32(0.1)
    with tempfile.TemporaryDirectory() as folder:
        data, executable, states = (pathlib.Path(folder, name) for name in ("x.npz", "updates.weft", "states.safetensors"))
        numpy.savez(data, x=x)
        for mesh in ("data=1", "data=2"):
            subprocess.run(["weft", "compile", sys.argv[1], "--mesh", mesh, "--shard", "x=[{data},{}]", "-o", executable, "--quiet"], check=True)
            subprocess.run(["weft", "run", executable, "--data", data, "--state-out", states, "--quiet"], check=True)
            got = read_safetensors(states)
            for name, expected in (("acc", sums), ("w", w)):
                error = numpy.abs(got[name] - expected).max()
                if not error <= 1e-6:
                    sys.exit(f"{mesh}: {name} is off by {error}")


main()
