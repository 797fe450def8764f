"""train_peer.py NAME DATA STEPS THREADS eager|compile: training steps by torch, as JSON {"seconds":[…],"peak_kib":N}."""
import json
import resource
import sys
import time

import numpy
import torch
import torch.nn.functional as F
from torch_models import INPUTS, initialise, make


def main():
    name, data, steps, threads, mode = sys.argv[1], numpy.load(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = make(name).apply(initialise)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    run = torch.compile(model) if mode == "compile" else model
    seconds = []
    for step in range(steps):
        x = torch.from_numpy(data[INPUTS[name]][step])
        labels = torch.from_numpy(data["labels"][step])
        start = time.perf_counter()
        logits = run(x)
        loss = F.cross_entropy(logits.flatten(0, -2), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


if __name__ == "__main__":
    main()
