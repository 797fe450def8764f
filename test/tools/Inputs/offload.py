"""offload.py CHECK FILE…: what `weft plan --json` and `weft simulate --json` say of state that hosts keep.

moved NONE OFFLOAD: all of the optimizer's state but scalars lies on hosts, as much of it as devices held, and devices allocate less.
same A B: one plan.   hosts PLAN: every rank's host keeps state.   copies SIMULATED: as many seconds of copies each way.
"""
import json
import sys


def load(path):
    with open(path) as file:
        return json.load(file)


def check_moved(none, offload):
    held, left = (plan["memory"]["classes"]["optimizer_state"] for plan in (none, offload))
    kept = offload["memory"]["host_bytes"]
    assert none["offload"] == "none" and offload["offload"] == "optimizer"
    assert set(none["memory"]["host_bytes"]) == {0} and left <= 64, (none["memory"], left)
    parameters = sum(block["count"] * block["parameters"] for block in none["blocks"])
    assert sum(kept) >= 12 * parameters, (sum(kept), parameters)  # of f32: the weights themselves, and two moments
    assert max(offload["memory"]["per_rank_bytes"]) < max(none["memory"]["per_rank_bytes"]), (held, left)


def check_same(a, b):
    for key in ("predicted", "memory", "microbatches", "recompute", "offload", "blocks"):
        assert a[key] == b[key], (key, a[key], b[key])


def check_hosts(plan):
    assert plan["offload"] == "optimizer" and min(plan["memory"]["host_bytes"]) > 0, plan["memory"]


def check_copies(simulated):
    busy = simulated["busy"]
    assert busy["copy"] > 0 and abs(busy["copy"] - busy["copy_back"]) <= 1e-9, busy


globals()["check_" + sys.argv[1]](*map(load, sys.argv[2:]))
