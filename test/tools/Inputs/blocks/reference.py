"""reference.py MODELS: the blocks that a person would name in every reference model, in every format."""
import json
import pathlib
import subprocess
import sys

models = pathlib.Path(sys.argv[1])
ENCODER = [0, 1, 1, 2]  # an embedding, two layers, a head
BLOCKS = {
    "bert": ENCODER, "decode": ENCODER, "gpt2": ENCODER, "llama": ENCODER, "vit": ENCODER, "jax_gpt": ENCODER,
    "moe": [0, 1, 2, 3],  # the second layer has experts
    "t5": [0, 1, 1, 2, 3, 4, 4, 5],  # two encoder layers, their norm, an embedding, two decoder layers
    "resnet": [0, 1, 1, 2, 3, 4, 5, 6],  # a stem, six residual blocks, a head
    "unet3d": [0, 1, 2, 3, 4],  # down, down, bottom and up, up, head
}
FILES = ["model.onnx", "model_dynamo.onnx", "model_opset23.onnx", "model.pt2", "closed.mlir", "open.mlir"]


def find(path):
    done = subprocess.run(["weft", "blocks", path, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


count = 0
for name, expected in BLOCKS.items():
    for path in filter(pathlib.Path.exists, (models / name / file for file in FILES)):
        answer = find(path)
        classes = [block["class"] for block in answer["blocks"]]
        assert classes == expected, f"{path}: {classes}"
        alike = {}
        for block in answer["blocks"]:
            same = (block["nodes"], block["parameters"], block["flops"])
            assert alike.setdefault(block["class"], same) == same, f"{path}: {block}"
        assert len(answer["cuts"]) == len(classes) - 1 and all(cut["live_bytes"] > 0 for cut in answer["cuts"])
        count += 1
small = find(models / "large/gpt2_small/model.onnx")
assert [block["class"] for block in small["blocks"]] == [0] + [1] * 12 + [2]
assert {block["parameters"] for block in small["blocks"][1:13]} == {12 * 768 * 768 + 13 * 768}
assert len({cut["live_bytes"] for cut in small["cuts"]}) == 1
deep = find(models / "large/resnet50/model.onnx")
assert [block["class"] for block in deep["blocks"]] == [0, 1, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 6, 6, 7, 8, 8, 9]
print(f"{count} files have the blocks that a person would name")
