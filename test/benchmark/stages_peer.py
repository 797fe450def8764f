"""stages_peer.py export|train FOLDER LAYERS BATCH TOKENS STEPS [MICROBATCHES FIRST]: the model of stages.py, and torch's pipeline of it.

export writes model.pt2 and data.npz; train runs two processes, FIRST layers in the first, and prints {"seconds":[…],"losses":[…]}.
"""
import json
import pathlib
import sys
import time

import numpy
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch_models import Block, initialise

VOCABULARY, WIDTH, HEADS = 50257, 768, 12


class Decoder(nn.Module):
    """All of it, or the part with these layers: with the embeddings if it begins, with the last layer if it ends."""

    def __init__(self, positions, layers, begins=True, ends=True):
        super().__init__()
        if begins:
            self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(positions, WIDTH)
        self.blocks = nn.ModuleList(Block(WIDTH, HEADS, True, "tanh", causal=True) for _ in range(layers))
        if ends:
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.begins, self.ends = begins, ends

    def forward(self, x):
        if self.begins:
            x = self.tokens(x) + self.positions(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)) if self.ends else x


def make_whole(layers, tokens):
    torch.manual_seed(0)
    return Decoder(tokens, layers).apply(initialise)


def export(folder, layers, batch, tokens, steps):
    x = torch.zeros(batch, tokens, dtype=torch.int64)
    torch.export.save(torch.export.export(make_whole(layers, tokens), (x,)), folder / "model.pt2")
    random = numpy.random.default_rng(0)
    numpy.savez(folder / "data.npz", x=random.integers(0, 20000, (steps, batch, tokens)), labels=random.integers(0, 900, (steps, batch, tokens)))


def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten())


def take_part(layers, tokens, first, rank):
    """A stage with the weights that the whole has."""
    whole = make_whole(layers, tokens)
    part = Decoder(tokens, first if rank == 0 else layers - first, begins=rank == 0, ends=rank == 1)
    skipped = 0 if rank == 0 else first
    own = whole.state_dict()
    rename = lambda name: ".".join(["blocks", str(int(name.split(".")[1]) + skipped), *name.split(".")[2:]]) if name.startswith("blocks.") else name
    part.load_state_dict({name: own[rename(name)] for name in part.state_dict()})
    return part


def train(rank, folder, layers, batch, tokens, steps, microbatches, first):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    part = take_part(layers, tokens, first, rank)
    rows = batch // microbatches
    example = torch.zeros(rows, tokens, dtype=torch.int64) if rank == 0 else torch.zeros(rows, tokens, WIDTH)
    stage = PipelineStage(part, rank, 2, torch.device("cpu"), input_args=(example,))
    schedule = Schedule1F1B(stage, microbatches, loss_fn=loss_of)
    optimizer = torch.optim.AdamW(part.parameters(), lr=1e-4, weight_decay=0.01)
    data, seconds, losses = numpy.load(folder / "data.npz"), [], []
    for step in range(steps):
        x, labels, parts = torch.from_numpy(data["x"][step]), torch.from_numpy(data["labels"][step]), []
        dist.barrier()
        start = time.perf_counter()
        optimizer.zero_grad()
        schedule.step(x) if rank == 0 else schedule.step(target=labels, losses=parts)
        optimizer.step()
        dist.barrier()
        seconds.append(time.perf_counter() - start)
        losses.append(float(torch.stack(parts).mean()) if parts else 0.0)
    if rank == 1:
        print(json.dumps({"seconds": seconds, "losses": losses}), flush=True)
    dist.destroy_process_group()


def main():
    folder, numbers = pathlib.Path(sys.argv[2]), [int(text) for text in sys.argv[3:]]
    if sys.argv[1] == "export":
        return export(folder, *numbers)
    (folder / "meet").unlink(missing_ok=True)
    torch.multiprocessing.spawn(train, args=(folder, *numbers), nprocs=2)


if __name__ == "__main__":
    main()
