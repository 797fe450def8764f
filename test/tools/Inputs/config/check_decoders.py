"""check_decoders.py CONFIGS FOLDER NAME…: graphs from configurations, with weights of a file, compute what numpy does (decoders.py): logits on a
mesh, and the loss that their kind brings. Mixtures of experts: with room for every token, and with less."""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

import decoders

BATCH, SEQUENCE = 4, 14


def weft(*words):
    done = subprocess.run(["weft", *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(value.tobytes() for value in tensors.values()))


def make_weights(module, seed):
    """Random numbers for the weights of a module, so that what comes out is of the size of 1."""
    random, weights = np.random.default_rng(seed), {}
    for name, shape in re.findall(r"weft\.weight (?:\S+ )?@(\S+) : tensor<([0-9x]+)xf32>", module):
        if name.startswith(("model.", "lm_head.")) and "rotary" not in name:
            shape = tuple(map(int, shape.split("x")))
            values = random.standard_normal(shape) * (0.3 if len(shape) == 1 else 1.2 / shape[-1]**0.5)
            weights[name] = (values + ("norm" in name)).astype(np.float32)
    return weights


def expect_loss(folder, expected):
    told = json.loads((folder / "log.jsonl").read_text().splitlines()[-1])["loss"]
    assert abs(told - expected) < 1e-4 * expected, (told, expected)


def check(config_path, folder, mesh, capacity):
    config = json.loads(config_path.read_text())
    sizes = ["--global-batch", BATCH, "--seq", SEQUENCE] + ([] if capacity is None else ["--dim", f"capacity={capacity}"])
    weights = make_weights(weft("import", config_path, *sizes), seed=5)
    write_safetensors(folder / "weights.safetensors", weights)
    random = np.random.default_rng(6)
    tokens, labels = random.integers(0, config["vocab_size"], (2, BATCH, SEQUENCE))
    labels[1, 3:6] = -100
    (folder / "expected").mkdir(exist_ok=True)
    logits = decoders.Decoder(config, weights).run(tokens, capacity)
    np.save(folder / "ids.npy", tokens)
    np.save(folder / "expected" / "logits.npy", logits.astype(np.float32))
    shared = [config_path, *sizes, "--weights", folder / "weights.safetensors", "--quiet"]
    weft("compile", *shared, "--mesh", mesh, "-o", folder / "model.weft")
    weft("run", folder / "model.weft", "--input", f"input_ids={folder / 'ids.npy'}", "--output-dir", folder / "out", "--expect",
         folder / "expected", "--tolerance", "1e-4", "--quiet")
    if capacity not in (None, SEQUENCE):
        return
    np.savez(folder / "data.npz", input_ids=tokens[None], labels=labels[None])
    weft("compile", *shared, "--train", "sgd", "--lr", "0", "--mesh", mesh, "-o", folder / "train.weft")
    weft("train", folder / "train.weft", "--data", folder / "data.npz", "--steps", 1, "--log", folder / "log.jsonl", "--quiet")
    expect_loss(folder, decoders.loss(logits, labels))
    # Of a file of tokens the labels are the tokens: the loss shifts them.
    tokens.astype(np.uint16).tofile(folder / "tokens.u16")
    weft("train", folder / "train.weft", "--data", folder / "tokens.u16", "--steps", 1, "--log", folder / "log.jsonl", "--quiet")
    expect_loss(folder, decoders.loss(logits, tokens))


def main():
    configs, folder = map(pathlib.Path, sys.argv[1:3])
    folder.mkdir(exist_ok=True)
    for name in sys.argv[3:]:
        path = configs / f"{name}.json"
        routed = any("experts" in field for field in json.loads(path.read_text()))
        for number, capacity in enumerate((SEQUENCE, 3) if routed else (None,)):
            check(path, folder, ("model=2", "data=2")[number], capacity)
        print(f"{name} computes what numpy does")


if __name__ == "__main__":
    main()
