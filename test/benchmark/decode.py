"""decode.py [--batch B …] [--runs N] [--steps N] [--layers N]: a decoder's step that makes one token, beside torch (eager, compiled) and ONNX
Runtime, and beside what reading alone takes.

The model is made here: width 2048, 8 layers, 16 heads, a vocabulary of 32000, and caches of 1024 positions that each step changes in one (state).
All use two threads, in turns, so that a busy machine troubles all alike; each run is a process of its own that makes N steps after two that are
not counted. Prints for each batch the median and least step of all, Weft's ratio to the fastest peer (of medians, and of the least), the largest
difference to torch's logits over the largest magnitude, and what part of the step it takes to read weights and caches once at the rate that the
same run measured. Needs torch and numpy; a peer that cannot be run is left out, and said.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

THREADS, WIDTH, HEADS, POSITIONS, VOCABULARY, FIRST = 2, 2048, 16, 1024, 32000, 500
PEERS = ["eager", "compile", "onnxruntime"]
WARMING = 2  # steps that are not counted: the first compiles


def make_model(batch, layers):
    import torch
    import torch.nn.functional as F
    from torch import nn

    size = WIDTH // HEADS

    class Norm(nn.RMSNorm):
        def forward(self, x):
            if torch.onnx.is_in_onnx_export():  # which does not know it
                return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + torch.finfo(x.dtype).eps) * self.weight
            return super().forward(x)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = Norm(WIDTH), Norm(WIDTH)
            self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)
            for name in ("keys", "values"):
                self.register_buffer(name, torch.zeros(batch, HEADS, POSITIONS, size))

        def forward(self, x, position, mask, keys, values):
            y = self.norm1(x)
            q, k, v = (part(y).view(batch, 1, HEADS, size).transpose(1, 2) for part in (self.q, self.k, self.v))
            if keys is None:
                keys, values = self.keys.index_copy_(2, position, k), self.values.index_copy_(2, position, v)
            else:
                keys, values = keys.index_copy(2, position, k), values.index_copy(2, position, v)
            y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
            x = x + self.out(y.transpose(1, 2).reshape(batch, 1, WIDTH))
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh")), keys, values

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.layers = nn.Embedding(VOCABULARY, WIDTH), nn.ModuleList(Layer() for _ in range(layers))
            self.norm, self.head = Norm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

        def forward(self, token_ids, position, *caches):
            """The logits, and the caches where they are given: else they are state."""
            mask = (torch.arange(POSITIONS)[None] <= position)[None, None]
            x, after = self.tokens(token_ids), []
            for index, layer in enumerate(self.layers):
                x, *changed = layer(x, position, mask, *(caches[2 * index : 2 * index + 2] or (None, None)))
                after += changed
            logits = self.head(self.norm(x))
            return (logits, *after) if caches else logits

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    model = Decoder().eval()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.02)
    return model


def make_data(batch, steps):
    tokens = numpy.random.default_rng(0).integers(0, VOCABULARY, (steps, batch, 1))
    return tokens, numpy.arange(FIRST, FIRST + steps)[:, None]


def measure_reading():
    """Bytes a second that both threads read of what no cache holds: the most of three ways."""
    import torch

    torch.set_num_threads(THREADS)
    memory, vector, least = torch.ones(1 << 14, 1 << 14), torch.ones(1 << 14), math.inf
    for _ in range(4):
        for read in (memory.sum, memory.amax, lambda: memory @ vector):
            start = time.perf_counter()
            read()
            least = min(least, time.perf_counter() - start)
    return memory.nbytes / least


def prepare_torch(model, who):
    import torch

    run = torch.compile(model) if who == "compile" else model

    def step(*inputs):
        with torch.inference_mode():
            return run(*map(torch.from_numpy, inputs)).numpy()

    return step


def prepare_onnxruntime(model, folder):
    """Caches are inputs and outputs, in turns: what is an output of one step is an input of the next where it lies."""
    import onnxruntime
    import torch

    inputs = tuple(map(torch.from_numpy, (numpy.zeros((model.layers[0].keys.shape[0], 1), "i8"), numpy.zeros(1, "i8"))))
    caches = [cache.numpy() for _, cache in model.named_buffers()]
    names = ["token_ids", "position", *(f"before_{i}" for i in range(len(caches)))]
    outputs = ["logits", *(f"after_{i}" for i in range(len(caches)))]
    with torch.no_grad():
        torch.onnx.export(model, (*inputs, *map(torch.from_numpy, caches)), f"{folder}/model.onnx", input_names=names, output_names=outputs,
                          dynamo=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = THREADS, 1, 3
    session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options, providers=["CPUExecutionProvider"])
    turns = [[onnxruntime.OrtValue.ortvalue_from_numpy(cache) for cache in caches] for _ in range(2)]

    def step(token_ids, position):
        binding = session.io_binding()
        binding.bind_cpu_input("token_ids", token_ids)
        binding.bind_cpu_input("position", position)
        for i, (before, after) in enumerate(zip(*turns)):
            binding.bind_ortvalue_input(f"before_{i}", before)
            binding.bind_ortvalue_output(f"after_{i}", after)
        binding.bind_output("logits")
        session.run_with_iobinding(binding)
        turns.reverse()
        return binding.get_outputs()[-1].numpy()

    return step


def run_peer(who, batch, layers, steps, folder):
    """In a process of its own: prints seconds, and leaves the logits of all steps."""
    model = make_model(batch, layers)
    step = prepare_onnxruntime(model, folder) if who == "onnxruntime" else prepare_torch(model, who)
    seconds, logits = [], []
    for inputs in zip(*make_data(batch, steps)):
        start = time.perf_counter()
        logits.append(step(*inputs))
        seconds.append(time.perf_counter() - start)
    numpy.save(f"{folder}/{who}.npy", numpy.stack(logits))
    print(json.dumps(seconds[WARMING:]))


def export(batch, layers, steps, folder):
    """The model's archive and the steps' inputs. In a process of its own, whose memory goes with it."""
    import torch

    model, data = make_model(batch, layers), make_data(batch, steps)
    with torch.no_grad():
        torch.export.save(torch.export.export(model, tuple(torch.from_numpy(values[0]) for values in data)), f"{folder}/model.pt2")
    numpy.savez(f"{folder}/steps.npz", token_ids=data[0], position=data[1])
    weights = sum(parameter.nbytes for parameter in model.parameters()) - model.tokens.weight.nbytes
    print(json.dumps(weights + sum(cache.nbytes for cache in model.buffers())))


class Decode:
    def __init__(self, batch, options, folder):
        self.batch, self.layers, self.steps, self.folder = batch, options.layers, options.steps + WARMING, folder
        self.seconds = {}
        self.bytes = self.call("export")
        (folder / "expected").mkdir()
        subprocess.run(["weft", "compile", folder / "model.pt2", "--quiet", "-o", folder / "model.weft"], check=True)

    def call(self, who):
        """What this script prints as WHO; None where that fails."""
        done = subprocess.run([sys.executable, __file__, "--as", who, "--batch", str(self.batch), "--layers", str(self.layers), "--steps",
                               str(self.steps), "--folder", self.folder], capture_output=True, text=True)
        if done.returncode:
            print(f"batch {self.batch}: {who} left out: {(done.stderr.strip().splitlines() or ['no message'])[-1][-200:]}")
            return None
        return json.loads(done.stdout.splitlines()[-1])

    def run_peer(self, who):
        seconds = self.call(who)
        if seconds is None:
            return False
        self.seconds.setdefault(who, []).extend(seconds)
        if who == "eager":
            (self.folder / "eager.npy").replace(self.folder / "expected/output.npy")
        return True

    def run_weft(self):
        expect = ["--expect", self.folder / "expected"] if any((self.folder / "expected").iterdir()) else []
        done = subprocess.run(["weft", "run", self.folder / "model.weft", "--data", self.folder / "steps.npz", "--threads", str(THREADS),
                               "--json", *expect], stdout=subprocess.PIPE, text=True)
        if done.returncode not in (0, 6):
            sys.exit("weft run failed")
        told = json.loads(done.stdout)
        self.seconds.setdefault("weft", []).append(told["step_seconds"]["median"])
        self.least = min(getattr(self, "least", math.inf), told["step_seconds"]["min"])
        self.difference = max((output["relative"] for output in told["expect"]), default=math.nan)

    def report(self, rate):
        medians = {who: statistics.median(times) for who, times in self.seconds.items()}
        peers = {who: times for who, times in self.seconds.items() if who != "weft"}
        fastest = min((medians[who] for who in peers), default=math.nan)
        least = min(map(min, peers.values()), default=math.nan)
        row = "".join(f"{medians[who] * 1e3:12.1f} ms" if who in medians else f"{'-':>15}" for who in ["weft", *PEERS])
        print(f"batch {self.batch:<4}{row}{medians['weft'] / fastest:9.2f}{self.least / least:9.2f}{self.difference:11.1e}")
        print(f"  reading {self.bytes / 1e9:.2f} GB at {rate / 1e9:.1f} GB/s: {self.bytes / rate * 1e3:.1f} ms, "
              f"{self.bytes / rate / medians['weft']:.0%} of the step ({self.bytes / rate / self.least:.0%} of the least)", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--as", dest="who", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.who == "export":
        return export(options.batch[0], options.layers, options.steps, options.folder)
    if options.who:
        return run_peer(options.who, options.batch[0], options.layers, options.steps, options.folder)
    print(f"{'':<10}" + "".join(f"{who:>15}" for who in ["weft", *PEERS]) + f"{'ratio':>9}{'of least':>9}{'difference':>11}")
    for batch in options.batch:
        with tempfile.TemporaryDirectory() as folder:
            decode, peers, rate = Decode(batch, options, pathlib.Path(folder)), PEERS, 0
            for _ in range(options.runs):
                peers = [who for who in peers if decode.run_peer(who)]
                decode.run_weft()
                rate = max(rate, measure_reading())
            decode.report(rate)


if __name__ == "__main__":
    main()
