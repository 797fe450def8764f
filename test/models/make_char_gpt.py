"""make_char_gpt.py FOLDER: a character-level GPT of about a million parameters, and how torch trains it.

Writes FOLDER/model.onnx, whose weights lie in a file beside it that is not kept (char_gpt.py makes it anew from seeds, as
FOLDER/layout.json says where), and FOLDER/losses.json: the loss of each of 500 steps of AdamW by torch, from the same weights on
the same text. Needs torch and onnx.
"""
import json
import pathlib
import sys

import onnx
import torch
import torch.nn.functional as F

from char_gpt import BATCH, LAYERS, LENGTH, OPTIMIZER, STEPS, VOCABULARY, WIDTH, HEADS, initial_value, read_text, step_tokens


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        query, key, value = self.qkv(self.norm1(x)).view(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class CharGpt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.characters = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.positions = torch.nn.Embedding(LENGTH, WIDTH)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.characters(tokens) + self.positions(torch.arange(LENGTH))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def train(model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=OPTIMIZER["lr"], betas=OPTIMIZER["betas"], eps=OPTIMIZER["eps"],
                                  weight_decay=OPTIMIZER["weight_decay"])
    text, losses = read_text(), []
    for step in range(STEPS):
        tokens, labels = (torch.from_numpy(array) for array in step_tokens(text, step))
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    model = CharGpt()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(initial_value(name, tuple(parameter.shape))))
    path = folder / "model.onnx"
    torch.onnx.export(model, (torch.zeros(BATCH, LENGTH, dtype=torch.long),), str(path), input_names=["tokens"], output_names=["logits"],
                      opset_version=17, do_constant_folding=False, dynamo=False)
    onnx.save(onnx.load(path), str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    (folder / "weights.bin").unlink()
    layout = {}
    for tensor in onnx.load(path, load_external_data=False).graph.initializer:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        layout[tensor.name] = [list(tensor.dims), int(entries["offset"])]
    (folder / "layout.json").write_text(json.dumps(layout) + "\n")
    losses = train(model)
    (folder / "losses.json").write_text(json.dumps([round(loss, 5) for loss in losses]) + "\n")
    print(sum(parameter.numel() for parameter in model.parameters()), losses[0], losses[-1])


if __name__ == "__main__":
    main()
