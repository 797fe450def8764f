"""check_simulation.py EXECUTABLE PLAN TRACE MEASURED: what simulate says of an executable and of its plan.

Keys that may be relied on are there, both take the same seconds, and the trace is what tools that read traces of Chrome take: times within the
step, on each thread of a process one instruction after another. A measured trace of the same program has the same names.
"""
import json
import subprocess
import sys


def simulate(path, *options):
    return json.loads(subprocess.run(["weft", "simulate", path, "--json", *options], check=True, stdout=subprocess.PIPE).stdout)


def spans(path):
    events = json.load(open(path))["traceEvents"]
    return [event for event in events if event["ph"] == "X"]


def check_trace(path, seconds):
    ends = {}
    for span in sorted(spans(path), key=lambda span: span["ts"]):
        thread = span["pid"], span["tid"]
        assert span["ts"] >= ends.get(thread, 0) - 2e-3, span  # times are written to the nanosecond
        ends[thread] = span["ts"] + span["dur"]
    assert max(ends.values()) <= seconds * 1e6 + 2e-3, (ends, seconds)


def main():
    executable, plan, trace, measured = sys.argv[1:]
    told = simulate(executable, "--trace", trace)
    assert told["step_seconds"] > 0 and 0 <= told["bubble"] < 1, told
    inspected = json.loads(subprocess.run(["weft", "inspect", executable, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    assert len(told["peak_bytes"]) == inspected["rank_classes"] == len(told["rank_classes"])
    assert told["peak_bytes"][0] >= sum(inspected["arenas"][0].values())
    assert {"compute", "collective", "copy"} <= told["busy"].keys()
    assert told["busy"]["compute"] <= told["step_seconds"]
    assert told["bubble"] == 1 - told["busy"]["compute"] / told["step_seconds"]
    for rank_class in told["rank_classes"]:
        assert sum(owner["bytes"] for owner in rank_class["owners"]) <= rank_class["live_bytes"]
        assert "h.0.up" in [owner["name"] for owner in rank_class["owners"]]
    operations = {operation["name"]: operation["count"] for operation in told["operations"]}
    assert operations["GEMM"] == inspected["instructions"]["GEMM"], operations
    collectives = sum(count for name, count in operations.items() if name.startswith("COLLECTIVE "))
    assert collectives == inspected["instructions"]["COLLECTIVE"], operations
    again = simulate(plan)
    for key in ("step_seconds", "busy", "operations", "peak_bytes"):
        assert again[key] == told[key], (key, again[key], told[key])
    # The same on the same cluster by its name; other clusters take other times.
    assert simulate(plan, "--cluster", told["cluster"]) == again
    fast = simulate(executable, "--cluster", "dgx-h100:1")
    assert fast["step_seconds"] != told["step_seconds"] and fast["peak_bytes"] == told["peak_bytes"]
    check_trace(trace, told["step_seconds"])
    names = {span["name"] for span in spans(measured) if span["cat"] != "WAIT"}
    assert names == {span["name"] for span in spans(trace)}, names
    assert {span["cat"] for span in spans(trace)} == operations.keys()
    print("simulated", len(names), "instructions")


if __name__ == "__main__":
    main()
