"""The models of the large folders (make_weights.py), written in torch: what the benchmarks hold Weft against. Weights are random."""
import torch
import torch.nn.functional as F
from torch import nn

INPUTS = {"gpt2": "input_ids", "bert": "input_ids", "llama": "input_ids", "resnet": "pixel_values", "vit": "pixel_values"}

class Block(nn.Module):
    """A transformer's layer; normalised first (GPT-2) or last (BERT)."""

    def __init__(self, width, heads, first, activation, causal):
        super().__init__()
        self.heads, self.first, self.activation, self.causal = heads, first, activation, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def mix(self, x):
        b, s, w = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).reshape(b, s, w))

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
        self.blocks = nn.ModuleList(Block(width, heads, first, "tanh" if first else "none", causal=first) for _ in range(layers))
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


class VisionTransformer(nn.Module):
    """ViT-B/16 on 224 x 224: blocks normalised first, whose heads see all, and a class token."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 768, 16, 16)
        self.token, self.positions = nn.Parameter(torch.zeros(1, 1, 768)), nn.Parameter(torch.zeros(1, 197, 768))
        self.blocks = nn.ModuleList(Block(768, 12, True, "none", causal=False) for _ in range(12))
        self.norm, self.head = nn.LayerNorm(768), nn.Linear(768, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class LlamaBlock(nn.Module):
    """32 heads of 64 in 4 groups, rotary positions, a gated MLP."""

    def __init__(self, width=2048, groups=4, inner=5632):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q, self.k, self.v = (nn.Linear(width, size, bias=False) for size in (width, 64 * groups, 64 * groups))
        self.out, self.down = nn.Linear(width, width, bias=False), nn.Linear(inner, width, bias=False)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)

    def rotate(self, x, cosine, sine):
        low, high = x.chunk(2, -1)
        return x * cosine + torch.cat([-high, low], -1) * sine

    def forward(self, x, cosine, sine):
        b, s, w = x.shape
        y = self.norm1(x)
        q, k, v = (part(y).view(b, s, -1, 64).transpose(1, 2) for part in (self.q, self.k, self.v))
        q, k = self.rotate(q, cosine, sine), self.rotate(k, cosine, sine)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, s, w))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(32000, 2048)
        self.blocks = nn.ModuleList(LlamaBlock() for _ in range(22))
        self.norm, self.head = nn.RMSNorm(2048), nn.Linear(2048, 32000, bias=False)

    def forward(self, input_ids):
        angles = torch.outer(torch.arange(input_ids.shape[1]), 1e4 ** (-torch.arange(0, 64, 2) / 64)).repeat(1, 2)
        x = self.tokens(input_ids)
        for block in self.blocks:
            x = block(x, angles.cos(), angles.sin())
        return self.head(self.norm(x))


def make(name):
    """A model of the family of that name: gpt2, bert, vit, llama or resnet; as exported, with stored statistics."""
    if name == "gpt2":
        return Transformer(50257, 1024, 768, 12, 12, first=True)
    if name == "bert":
        return Transformer(30522, 512, 768, 12, 12, first=False)
    return {"vit": VisionTransformer, "llama": Llama, "resnet": ResNet50}[name]().eval()


def initialise(module):
    """As such models begin: embeddings of deviation 1 would make probabilities that no f32 holds, on which products are slow."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
