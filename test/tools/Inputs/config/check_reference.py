"""check_reference.py MODELS CONFIGS FOLDER: a model built from its configuration is the exported one: as many operations of each kind, but for reshapes
that exporters put around products, as much work and as many parameters in each block; with the exported one's weights it computes what torch did;
and trained with the loss that its kind brings it has torch's losses."""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

models, configs, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(exist_ok=True)
WEIGHT = re.compile(r"weft\.weight @(\S+) : (\S+) = (.*?) loc\(", re.M)
TOKENS = ("--dim", "batch=4", "--dim", "seq=32")
MODELS = {"gpt2": TOKENS, "llama": TOKENS, "bert": TOKENS, "vit": ("--dim", "batch=4"),
          "t5": ("--dim", "batch=4", "--dim", "seq=24", "--dim", "decoder_seq=16")}
SHIFTED = ("gpt2", "llama")  # their fixtures' labels stand where the logits are


def weft(*words):
    done = subprocess.run(["weft", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def count(text):
    kinds = collections.Counter(re.findall(r"= weft\.(\w+) ", text[text.index("func.func"):]))
    return {kind: number for kind, number in kinds.items() if kind not in ("reshape", "load", "constant")}


def list_blocks(*words):
    return [(b["class"], b["parameters"], b["flops"]) for b in json.loads(weft("blocks", *words, "--json"))["blocks"]]


def fill(ours, theirs):
    """Our module with the values of their weights; all of them are used."""
    stored = {symbol: (kind, storage) for symbol, kind, storage in WEIGHT.findall(theirs)}
    used = set()

    def put(match):
        kind, storage = stored[match[1]]
        assert kind == match[2], match[0]
        used.add(match[1])
        return f"weft.weight @{match[1]} : {kind} = {storage} loc("

    source = re.search(r'weft.source = "[^"]*"', theirs)[0]
    filled = re.sub(r'weft.source = "[^"]*"', lambda _: source, WEIGHT.sub(put, ours))
    assert used == set(stored), set(stored) - used
    return filled


def check(name, dims):
    exported, config = models / name / "model.pt2", configs / f"{name}.json"
    weft("import", exported, "-o", folder / "exported.mlir")
    weft("import", config, *dims, "-o", folder / "built.mlir")
    theirs, ours = ((folder / f"{kind}.mlir").read_text() for kind in ("exported", "built"))
    assert count(ours) == count(theirs), (name, count(ours), count(theirs))
    assert list_blocks(config, *dims) == list_blocks(exported), (name, list_blocks(config, *dims), list_blocks(exported))
    (folder / "filled.mlir").write_text(fill(ours, theirs))
    shutil.rmtree(folder / "expected", ignore_errors=True)
    (folder / "expected").mkdir()
    shutil.copy(models / name / "outputs" / "logits.npy", folder / "expected")
    weft("compile", folder / "filled.mlir", "-o", folder / "filled.weft", "--quiet")
    weft("run", folder / "filled.weft", "--input-dir", models / name / "inputs", "--output-dir", folder / "outputs", "--expect",
         folder / "expected", "--quiet")


def check_losses(name):
    meta = json.loads((models / name / "meta.json").read_text())["train"]
    adam = meta["optimizer"]
    options = ["--lr", adam["lr"], "--betas", ",".join(map(str, adam["betas"])), "--eps", adam["eps"], "--weight-decay", adam["weight_decay"]]
    loss = ["--loss", "cross_entropy", "--logits", "logits", "--labels", "labels"] if name in SHIFTED else []
    weft("compile", folder / "filled.mlir", "--train", "adamw", *options, *loss, "-o", folder / "train.weft", "--quiet")
    weft("train", folder / "train.weft", "--data", models / name / "train" / "data.npz", "--steps", meta["steps"], "--log", folder / "log.jsonl",
         "--quiet")
    told = [json.loads(line)["loss"] for line in (folder / "log.jsonl").read_text().splitlines()]
    assert len(told) == meta["steps"] and all(abs(a - b) < 1e-4 * b for a, b in zip(told, meta["losses"])), (name, told, meta["losses"])


for name, dims in MODELS.items():
    check(name, dims)
    check_losses(name)
    print(f"{name} from its configuration is what torch exported")
