"""check_large.py MODEL.mlir LAYERS: the blocks of make_layers.py's model, found in at most two seconds beyond reading it."""
import json
import resource
import subprocess
import sys

model, layers = sys.argv[1], int(sys.argv[2])


def run(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return text, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


answer, seconds = run("weft", "blocks", model, "--json")
answer = json.loads(answer)
assert [b["class"] for b in answer["blocks"]] == [0] + [1] * layers + [2], answer["blocks"][:5]
assert {b["parameters"] for b in answer["blocks"][1:-1]} == {4 * 64 * 64 + 2 * 64 * 256 + 64}
assert {c["live_bytes"] for c in answer["cuts"]} == {2 * 32 * 64 * 4}
assert [c["after"] for c in answer["cuts"]] == list(range(layers + 1))
nodes = sum(b["nodes"] for b in answer["blocks"])
_, reading = run("weft", "import", model, "-o", model + ".again")
assert seconds - reading < 2, f"{seconds} s, {reading} s of which to read and write"
print(f"{nodes} nodes in time")
