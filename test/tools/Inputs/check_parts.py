"""check_parts.py FILE: holds `weft inspect --json` of the bundled GPT-2, cut in two on {data=2} and {model=2}, against counts made by hand."""
import json
import sys

told = json.load(open(sys.argv[1]))
expected = {
    "ranks": 4,
    "meshes": [{"name": "mesh0", "axes": {"data": 2}, "devices": [0, 2]}, {"name": "mesh1", "axes": {"model": 2}, "devices": [2, 2]}],
    "rank_classes": 2,
}
for key, value in expected.items():
    if told[key] != value:
        sys.exit(f"expected {key} {value}, got: {told[key]}")
if "mesh" in told:
    sys.exit(f"expected no mesh of a model that has two, got: {told['mesh']}")
lists = [told["weights_bytes"], told["arenas"]]
if any(len(each) != 4 or each[0] != each[1] or each[2] != each[3] or each[0] == each[2] for each in lists):
    sys.exit(f"expected numbers of each of four ranks, alike on a mesh: {lists}")
# Each rank of mesh0 holds half of the batch of [4, 32, 64] f32, and sends it to both of mesh1, which hold all of it.
transfer = {"kind": "transfer", "from": "mesh0", "to": "mesh1", "dtype": "f32", "bytes": 2 * 4 * 32 * 64 * 4, "count": 1, "messages": 4,
            "source": "/transformer/h.0/Add_1_output_0", "moves": "activations"}
transfers = [each for each in told["collectives"] if each["kind"] == "transfer"]
if transfers != [transfer]:
    sys.exit(f"expected {transfer}, got: {transfers}")
others = {each["mesh"] for each in told["collectives"] if each["kind"] != "transfer"}
if others != {"mesh1"}:
    sys.exit(f"expected collectives on mesh1 alone, got: {others}")
instructions = {name: told["instructions"].get(name) for name in ("SEND", "RECV")}
if instructions != {"SEND": 1, "RECV": 1}:
    sys.exit(f"expected a send and a receive, got: {instructions}")
