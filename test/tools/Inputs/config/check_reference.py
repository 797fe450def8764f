"""check_reference.py MODELS CONFIGS FOLDER: a model built from its configuration is the exported one: as many operations of each kind, but for reshapes
that exporters put around products, as much work and as many parameters in each block; and with the exported one's weights it computes what torch did."""
import collections
import json
import pathlib
import re
import subprocess
import sys

models, configs, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(exist_ok=True)


def weft(*words):
    return subprocess.run(["weft", *map(str, words)], check=True, capture_output=True, text=True).stdout


def count(text):
    kinds = collections.Counter(re.findall(r"= weft\.(\w+) ", text[text.index("func.func"):]))
    return {kind: number for kind, number in kinds.items() if kind not in ("reshape", "load", "constant")}


def list_blocks(*words):
    return [(b["class"], b["parameters"], b["flops"]) for b in json.loads(weft("blocks", *words, "--json"))["blocks"]]


WEIGHT = re.compile(r"weft\.weight @(\S+) : (\S+) = (.*?) loc\(", re.M)
for name in ("gpt2", "llama"):
    dims = ("--dim", "batch=4", "--dim", "seq=32")
    exported, config = models / name / "model.onnx", configs / f"{name}.json"
    weft("import", exported, "-o", folder / "exported.mlir")
    weft("import", config, *dims, "-o", folder / "built.mlir")
    theirs, ours = ((folder / f"{kind}.mlir").read_text() for kind in ("exported", "built"))
    assert count(ours) == count(theirs), (name, count(ours), count(theirs))
    assert list_blocks(config, *dims) == list_blocks(exported), name
    stored = {symbol: (kind, storage) for symbol, kind, storage in WEIGHT.findall(theirs)}
    used = 0

    def fill(match):
        global used
        kind, storage = stored[match[1]]
        assert kind == match[2], match[0]
        used += 1
        return f"weft.weight @{match[1]} : {kind} = {storage} loc("

    source = re.search(r'weft.source = "[^"]*"', theirs)[0]
    filled = re.sub(r'weft.source = "[^"]*"', lambda _: source, WEIGHT.sub(fill, ours))
    assert used == len(stored), (name, used, len(stored))
    (folder / "filled.mlir").write_text(filled)
    weft("compile", folder / "filled.mlir", "-o", folder / "filled.weft", "--quiet")
    weft("run", folder / "filled.weft", "--input-dir", models / name / "inputs", "--output-dir", folder / "outputs", "--expect",
         models / name / "outputs", "--quiet")
    print(f"{name} from its configuration is what torch exported")
