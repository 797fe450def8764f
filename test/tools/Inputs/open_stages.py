"""open_stages.py FOLDER: what a search chooses of stages is as good as the best of what may be pinned, with little memory, too.

A deep model in four stages. What is pinned: meshes of a stage, numbers of microbatches and ways to compute again, each with each; the search is
left all of it. Where memory is short few of these fit. Prints what is better than the search's choice by more than a little; fails if any is.
"""
import itertools
import json
import pathlib
import subprocess
import sys

CONFIG = {"model_type": "gpt2", "vocab_size": 8192, "n_positions": 1024, "n_embd": 1024, "n_layer": 12, "n_head": 16}
LIMIT = "1300MiB"
MESHES, MICROBATCHES, RECOMPUTE = ("data=2", "model=2"), (8, 16), ("none", "full")
SLACK = 1.03


def seconds(config, pins):
    """What a step takes by the plan; none where nothing fits."""
    done = subprocess.run(["weft", "plan", config, "--cluster", "dgx-a100:1", "--train", "adamw", "--global-batch", "64", "--seq", "1024", "--dtype",
                           "bf16", "--memory", LIMIT, "--pin", ",".join(["stage=4,schedule=1f1b", *pins]), "--json"], capture_output=True)
    if done.returncode not in (0, 4):
        sys.exit(done.stderr.decode())
    return json.loads(done.stdout)["predicted"]["step_seconds"] if done.returncode == 0 else None


def main(folder):
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG))
    chosen = seconds(config, [])
    if chosen is None:
        sys.exit("the search finds nothing that fits")
    worse = 0
    for mesh, count, recompute in itertools.product(MESHES, MICROBATCHES, RECOMPUTE):
        pins = [mesh, f"microbatches={count}", f"recompute={recompute}"]
        pinned = seconds(config, pins)
        if pinned is not None and chosen > SLACK * pinned:
            print(f"{','.join(pins)} takes {pinned:.4f} s, what was chosen {chosen:.4f} s")
            worse += 1
    return worse > 0


sys.exit(main(pathlib.Path(sys.argv[1])))
