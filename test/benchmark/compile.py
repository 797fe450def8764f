"""compile.py FOLDER [--runs N]: how long Weft takes to compile a GPT-2-small-shaped graph, beside JAX on the same forward pass.

FOLDER holds model.onnx with its weights (make_weights.py gpt2_small). Prints wall seconds and peak memory of `weft compile`, JAX's
trace-and-compile seconds (a fresh process a run, start-up not counted), and the ratio of the medians. Needs jax for the peer's column.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PEER = r"""
import time, jax, jax.numpy as jnp, numpy as np
L, H, D, V, S = 12, 12, 768, 50257, 128
def norm(x, g, b):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) / jnp.sqrt(v + 1e-5) * g + b
def layer(x, p):
    q, k, v = jnp.split(norm(x, *p[0:2]) @ p[2] + p[3], 3, -1)
    heads = lambda t: t.reshape(1, S, H, D // H).transpose(0, 2, 1, 3)
    s = heads(q) @ heads(k).swapaxes(-1, -2) / jnp.sqrt(D // H)
    s = jnp.where(jnp.tril(jnp.ones((S, S), bool)), s, -jnp.inf)
    o = (jax.nn.softmax(s) @ heads(v)).transpose(0, 2, 1, 3).reshape(1, S, D)
    x = x + o @ p[4] + p[5]
    return x + jax.nn.gelu(norm(x, *p[6:8]) @ p[8] + p[9]) @ p[10] + p[11]
def forward(ids, p):
    x = p["wte"][ids] + p["wpe"][:S]
    for block in p["blocks"]:
        x = layer(x, block)
    return norm(x, *p["ln"]) @ p["wte"].T
shape = lambda *s: jax.ShapeDtypeStruct(s, jnp.float32)
block = [shape(D), shape(D), shape(D, 3 * D), shape(3 * D), shape(D, D), shape(D), shape(D), shape(D),
         shape(D, 4 * D), shape(4 * D), shape(4 * D, D), shape(D)]
params = {"wte": shape(V, D), "wpe": shape(1024, D), "ln": [shape(D), shape(D)], "blocks": [block] * L}
jax.devices()
start = time.perf_counter()
jax.jit(forward).lower(jax.ShapeDtypeStruct((1, S), jnp.int32), params).compile()
print(time.perf_counter() - start)
"""


def weft(folder, target):
    """Seconds and peak MB of one `weft compile`."""
    start = time.perf_counter()
    child = subprocess.Popen(["weft", "compile", folder / "model.onnx", "-o", target, "--quiet"])
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit("weft compile failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    own, peer = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(options.runs):
            own.append(weft(options.folder, pathlib.Path(scratch) / "model.weft"))
            done = subprocess.run([sys.executable, "-c", PEER], capture_output=True, text=True)
            if done.returncode == 0:
                peer.append(float(done.stdout))
    seconds = [run[0] for run in own]
    print(f"weft compile   {statistics.median(seconds):8.2f} s   (runs: {', '.join(f'{t:.2f}' for t in seconds)})")
    print(f"peak memory    {max(run[1] for run in own):8.0f} MB")
    if not peer:
        print("peer: jax is not installed")
        return
    print(f"jax compile    {statistics.median(peer):8.2f} s   (runs: {', '.join(f'{t:.2f}' for t in peer)})")
    print(f"ratio          {statistics.median(seconds) / statistics.median(peer):8.2f}")


if __name__ == "__main__":
    main()
