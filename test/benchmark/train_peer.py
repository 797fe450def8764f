"""train_peer.py NAME DATA STEPS THREADS eager|compile: training steps by torch, as JSON {"seconds":[…],"peak_kib":N}."""
import json
import resource
import sys
import time

import numpy
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """A transformer's layer; normalised first (GPT-2) or last (BERT)."""

    def __init__(self, width, heads, first, activation):
        super().__init__()
        self.heads, self.first, self.activation = heads, first, activation
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def mix(self, x):
        b, s, w = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=self.first).transpose(1, 2).reshape(b, s, w))

    def spread(self, x):
        return self.down(F.gelu(self.up(x), approximate=self.activation))

    def forward(self, x):
        if self.first:
            x = x + self.mix(self.norm1(x))
            return x + self.spread(self.norm2(x))
        x = self.norm1(x + self.mix(x))
        return self.norm2(x + self.spread(x))


class Transformer(nn.Module):
    def __init__(self, vocabulary, positions, width, heads, layers, first):
        super().__init__()
        self.first = first
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, heads, first, "tanh" if first else "none") for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        if not first:
            self.transform, self.bias = nn.Linear(width, width), nn.Parameter(torch.zeros(vocabulary))
            self.norm2 = nn.LayerNorm(width)

    def forward(self, input_ids):
        x = self.tokens(input_ids) + self.positions(torch.arange(input_ids.shape[1]))
        x = x if self.first else self.norm(x)
        for block in self.blocks:
            x = block(x)
        if self.first:
            return F.linear(self.norm(x), self.tokens.weight)
        return F.linear(self.norm2(F.gelu(self.transform(x))), self.tokens.weight, self.bias)


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.norm3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.short = nn.Sequential()
        if stride != 1 or inside != 4 * width:
            self.short = nn.Sequential(nn.Conv2d(inside, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        y = F.relu(self.norm2(self.conv2(y)))
        return F.relu(self.norm3(self.conv3(y)) + self.short(x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        blocks, inside = [], 64
        for width, count, stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
            for index in range(count):
                blocks.append(Bottleneck(inside, width, stride if index == 0 else 1))
                inside = 4 * width
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(2048, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


def make(name):
    if name == "resnet":
        return ResNet50().eval()  # as exported: stored statistics
    if name == "gpt2":
        return Transformer(50257, 1024, 768, 12, 12, first=True)
    return Transformer(30522, 512, 768, 12, 12, first=False)


def initialise(module):
    """As such models begin: embeddings of deviation 1 would make probabilities that no f32 holds, on which products are slow."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)


def main():
    name, data, steps, threads, mode = sys.argv[1], numpy.load(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = make(name).apply(initialise)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    run = torch.compile(model) if mode == "compile" else model
    seconds = []
    for step in range(steps):
        x = torch.from_numpy(data["pixel_values" if name == "resnet" else "input_ids"][step])
        labels = torch.from_numpy(data["labels"][step])
        start = time.perf_counter()
        logits = run(x)
        loss = F.cross_entropy(logits.flatten(0, -2), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


main()
