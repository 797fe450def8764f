"""check_experts.py: experts in groups, [groups, tokens, experts, capacity], on ranks.

Writes a module (top-1 gating by position in each expert's queue, dispatch, a product for each expert, combine), computes it with
numpy, and compiles and runs it with groups and experts on the same axis of several meshes: outputs within 1e-5 of the largest
magnitude, and no more bytes moved than by one all_to_all each way, but for a batch whose axes are pinned in another order than the
mesh's: its input may be permuted.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
MODULE = """
module {{
  weft.weight @gate : tensor<{M}x{E}xf32> = #weft.external<"weights.bin", 0, {gate_bytes}>
  weft.weight @up : tensor<{E}x{M}x{F}xf32> = #weft.external<"weights.bin", {gate_bytes}, {up_bytes}>
  weft.weight @down : tensor<{E}x{F}x{M}xf32> = #weft.external<"weights.bin", {down_at}, {up_bytes}>
  func.func @main(%x: tensor<{G}x{S}x{M}xf32> {{weft.name = "x"}}) -> (tensor<{G}x{S}x{M}xf32> {{weft.name = "y"}}) {{
    %one = weft.constant dense<1.0> : tensor<{G}x{S}x{E}xf32>
    %experts = weft.constant dense<{experts}> : tensor<{E}xi64>
    %slots = weft.constant dense<{slots}> : tensor<{C}xf32>
    %wg = weft.load @gate : tensor<{M}x{E}xf32>
    %logits = weft.dot_general %x, %wg batch [] x [] contract [2] x [0] : (tensor<{G}x{S}x{M}xf32>, tensor<{M}x{E}xf32>) -> tensor<{G}x{S}x{E}xf32>
    %prob = weft.softmax %logits axis 2 : tensor<{G}x{S}x{E}xf32>
    %best = weft.reduce max %prob dims [2] : tensor<{G}x{S}x{E}xf32> -> tensor<{G}x{S}xf32>
    %bests = weft.broadcast %best dims [0, 1] : tensor<{G}x{S}xf32> to tensor<{G}x{S}x{E}xf32>
    %hit = weft.compare eq %prob, %bests : tensor<{G}x{S}x{E}xf32>
    %hot = weft.cast %hit : tensor<{G}x{S}x{E}xi1> to tensor<{G}x{S}x{E}xf32>
    %counts = weft.cumsum %hot axis 1 : tensor<{G}x{S}x{E}xf32>
    %place = weft.sub %counts, %one : tensor<{G}x{S}x{E}xf32>
    %places = weft.broadcast %place dims [0, 1, 2] : tensor<{G}x{S}x{E}xf32> to tensor<{G}x{S}x{E}x{C}xf32>
    %slot = weft.broadcast %slots dims [3] : tensor<{C}xf32> to tensor<{G}x{S}x{E}x{C}xf32>
    %same = weft.compare eq %places, %slot : tensor<{G}x{S}x{E}x{C}xf32>
    %here = weft.cast %same : tensor<{G}x{S}x{E}x{C}xi1> to tensor<{G}x{S}x{E}x{C}xf32>
    %mask = weft.dot_general %hot, %here batch [0, 1, 2] x [0, 1, 2] contract [] x [] : (tensor<{G}x{S}x{E}xf32>, tensor<{G}x{S}x{E}x{C}xf32>) -> tensor<{G}x{S}x{E}x{C}xf32>
    %gates = weft.dot_general %prob, %mask batch [0, 1, 2] x [0, 1, 2] contract [] x [] : (tensor<{G}x{S}x{E}xf32>, tensor<{G}x{S}x{E}x{C}xf32>) -> tensor<{G}x{S}x{E}x{C}xf32>
    %in = weft.dot_general %mask, %x batch [0] x [0] contract [1] x [1] : (tensor<{G}x{S}x{E}x{C}xf32>, tensor<{G}x{S}x{M}xf32>) -> tensor<{G}x{E}x{C}x{M}xf32>
    %sent = weft.transpose %in [1, 0, 2, 3] : tensor<{G}x{E}x{C}x{M}xf32> -> tensor<{E}x{G}x{C}x{M}xf32>
    %wup = weft.load @up : tensor<{E}x{M}x{F}xf32>
    %0 = weft.dot_general %sent, %wup batch [0] x [0] contract [3] x [1] : (tensor<{E}x{G}x{C}x{M}xf32>, tensor<{E}x{M}x{F}xf32>) -> tensor<{E}x{G}x{C}x{F}xf32>
    %1 = weft.tanh %0 : tensor<{E}x{G}x{C}x{F}xf32>
    %wdown = weft.load @down : tensor<{E}x{F}x{M}xf32>
    %out = weft.dot_general %1, %wdown batch [0] x [0] contract [3] x [1] : (tensor<{E}x{G}x{C}x{F}xf32>, tensor<{E}x{F}x{M}xf32>) -> tensor<{E}x{G}x{C}x{M}xf32>
    %y = weft.dot_general %gates, %out batch [0] x [1] contract [2, 3] x [0, 2] : (tensor<{G}x{S}x{E}x{C}xf32>, tensor<{E}x{G}x{C}x{M}xf32>) -> tensor<{G}x{S}x{M}xf32>
    return %y : tensor<{G}x{S}x{M}xf32>
  }}
}}
"""
# mesh, and what of it takes groups and experts (groups of a batch axis need no pin)
MESHES = [
    ("data=2", None, "data"),
    ("data=4", None, "data"),
    ("expert=2", "expert", "expert"),
    ("expert=4", "expert", "expert"),
    ("data=2,expert=2", "data,expert", "expert"),
    ("data=2,expert=2", "expert,data", "data"),
]
SIZES = [dict(G=4, S=8, E=4, C=3, M=16, F=32), dict(G=4, S=16, E=8, C=4, M=64, F=16)]


def write(folder, size):
    """The module, its weights, and its input; returns what numpy makes of them."""
    g, s, e, c, m, f = (size[name] for name in "GSECMF")
    rng = np.random.default_rng(7)
    gate, up, down, x = (rng.standard_normal(shape).astype(np.float32) / 4 for shape in ((m, e), (e, m, f), (e, f, m), (g, s, m)))
    (folder / "weights.bin").write_bytes(gate.tobytes() + up.tobytes() + down.tobytes())
    text = MODULE.format(**size, gate_bytes=gate.nbytes, up_bytes=up.nbytes, down_at=gate.nbytes + up.nbytes,
                         experts=list(range(e)), slots=[float(slot) for slot in range(c)])
    (folder / "experts.mlir").write_text(text)
    (folder / "expected").mkdir(exist_ok=True)
    np.save(folder / "x.npy", x)
    logits = x @ gate
    prob = np.exp(logits - logits.max(2, keepdims=True))
    prob /= prob.sum(2, keepdims=True)
    hot = (prob == prob.max(2, keepdims=True)).astype(np.float32)
    mask = hot[..., None] * ((hot.cumsum(1) - 1)[..., None] == np.arange(c))
    sent = np.einsum("gsec,gsm->egcm", mask, x)
    out = np.einsum("egcf,efm->egcm", np.tanh(np.einsum("egcm,emf->egcf", sent, up)), down)
    np.save(folder / "expected" / "y.npy", np.einsum("gsec,egcm->gsm", mask * prob[..., None], out).astype(np.float32))


def call(failures, *arguments):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    if done.returncode != 0:
        failures.append(f"exit {done.returncode}: {' '.join(map(str, arguments))}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
    return done.stdout


def check(folder, size, mesh, groups, experts, weights, failures):
    executable = folder / "experts.weft"
    pins = [] if groups is None else [f"x=[{{{groups}}},{{}},{{}}]"]
    pins += [f"{weight}=[{{{experts}}},{{}},{{}}]" for weight in weights]
    options = [part for pin in pins for part in ("--shard", pin)]
    call(failures, "weft", "compile", folder / "experts.mlir", "--mesh", mesh, *options, "-o", executable, "--quiet")
    told = json.loads(call(failures, "weft", "inspect", executable, "--json") or '{"collectives": []}')
    moved = sum(c["bytes"] * c["count"] for c in told["collectives"] if c["kind"] != "permute" or groups != "expert,data")
    exchanged = 4 * size["G"] * size["E"] * size["C"] * size["M"]
    if moved > 2 * exchanged:
        failures.append(f"{mesh} {pins}: expected at most {exchanged} bytes each way, got {told['collectives']}")
    call(failures, "weft", "verify", executable, "--quiet")
    call(failures, "weft", "run", executable, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder / "out", "--expect",
         folder / "expected", "--tolerance", "1e-5", "--quiet")


def main():
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for size in SIZES:
            write(folder, size)
            for mesh, groups, experts in MESHES:
                # Beside two axes of groups, what is left open of the weights is split further for memory's sake, which moves more.
                for weights in [["up", "down"]] if groups == "expert,data" else [["up"], ["up", "down"]]:
                    check(folder, size, mesh, groups, experts, weights, failures)
    print("\n".join(failures) or "no more than one all_to_all each way, and numpy's numbers")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
