"""check_inspect.py FILE: holds `weft inspect --json` of stack.py 2 8 on {data=2, model=2} against counts made by hand."""
import json
import sys

told = json.load(open(sys.argv[1]))
# of each layer a rank holds the scale (8) and half of up and down (64 each), f32; in the arena each block begins at a multiple of 64 bytes
weights = 2 * 4 * (8 + 64 + 64)
arena = weights + 2 * 32
reduce = {"kind": "all_reduce", "axes": ["model"], "reduction": "sum", "dtype": "f32", "bytes": 4 * 8 * 4, "count": 1,
          "moves": "activations"}
expected = {
    "ranks": 4,
    "mesh": {"data": 2, "model": 2},
    "meshes": [{"name": "mesh", "axes": {"data": 2, "model": 2}, "devices": [0, 4]}],
    "weights_bytes": [weights] * 4,
    "instructions": {"COLLECTIVE": 2, "COPY": 1, "GEMM": 4, "LAUNCH": 5},
    "kernels": 4,
    "rank_classes": 1,
    "collectives": [{**reduce, "source": "h.0.c"}, {**reduce, "kind": "reduce_scatter", "source": "h.1.c"}],
}
for key, value in expected.items():
    if told[key] != value:
        sys.exit(f"expected {key} {value}, got: {told[key]}")
kinds = {"weights", "state", "activations", "communication", "workspace"}
if len(told["arenas"]) != 4 or any(set(arenas) != kinds or arenas["weights"] != arena for arenas in told["arenas"]):
    sys.exit(f"unexpected arenas: {told['arenas']}")
