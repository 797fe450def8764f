"""check_char_gpt.py FOLDER: trains the bundled character-level GPT on four ranks, and holds its losses against torch's.

500 steps on {data=2,model=2} from the same weights on the same text: the first loss within 1e-5, and the mean of the last twenty
within 1 % of torch's (sums of another order part ways slowly).
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy


def main():
    source = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(source.parent))
    import char_gpt

    expected = json.loads((source / "losses.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(source / "model.onnx", folder)
        shutil.copy(source / "layout.json", folder)
        char_gpt.write_weights(folder)
        text = char_gpt.read_text()
        tokens, labels = zip(*(char_gpt.step_tokens(text, step) for step in range(char_gpt.STEPS)))
        numpy.savez(folder / "data.npz", tokens=numpy.stack(tokens), labels=numpy.stack(labels))
        options = char_gpt.OPTIMIZER
        subprocess.run(["weft", "compile", folder / "model.onnx", "--quiet", "--mesh", "data=2,model=2", "--train", "adamw", "--lr",
                        str(options["lr"]), "--betas", ",".join(map(str, options["betas"])), "--eps", str(options["eps"]),
                        "--weight-decay", str(options["weight_decay"]), "--loss", "cross_entropy", "--logits", "logits", "--labels",
                        "labels", "-o", folder / "step.weft"], check=True)
        subprocess.run(["weft", "train", folder / "step.weft", "--quiet", "--data", folder / "data.npz", "--steps", str(char_gpt.STEPS),
                        "--log", folder / "log.jsonl"], check=True)
        losses = [json.loads(line)["loss"] for line in (folder / "log.jsonl").read_text().splitlines()]
    own, other = numpy.mean(losses[-20:]), numpy.mean(expected[-20:])
    print(f"first loss {losses[0]:.6f}, torch {expected[0]:.6f}; last twenty {own:.5f}, torch {other:.5f}")
    assert len(losses) == char_gpt.STEPS
    assert abs(losses[0] - expected[0]) <= 2e-5, "the first loss"
    assert abs(own - other) <= 0.01 * other, "the last losses"


if __name__ == "__main__":
    main()
