"""plan_answers.py COMMAND …: checks what `weft plan`, `explain` and `simulate` answer against each other.

  plan PLAN.json SIMULATED.json     parts add up, and the step is the simulated one
  parameters BLOCKS.json PLAN.json  blocks have the parameters that `weft blocks` counts; prints which, and how often each comes
  candidates PLAN.json COUNT        the best comes first and is what was planned
  alternative EXPLAINED.json MODEL MESH CLUSTER
                                    planned with the best other sharding pinned, a step takes what was said
  fits MESSAGES OPTION COMMAND …    with the option that is said to fit the plan's program does
  fewest COUNT COMMAND …            the plan has so many microbatches, and with half as many there is none
"""
import json
import re
import subprocess
import sys


def near(a, b, tolerance=1e-6):
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-12)


def expect(holds, *what):
    if not holds:
        sys.exit("unexpected: " + " ".join(map(str, what)))


def load(path):
    with open(path) as file:
        return json.load(file)


def weft(*words, code=0):
    done = subprocess.run(["weft", *words], text=True, capture_output=True)
    expect(done.returncode == code, words, done.returncode, done.stderr)
    return done.stdout


def plan(path, simulated):
    answer = load(path)
    predicted, memory, search = answer["predicted"], answer["memory"], answer["search"]
    steps = predicted["waterfall"]
    expect(near(sum(step["seconds"] for step in steps), predicted["step_seconds"]), predicted)
    expect(all(step["seconds"] >= -1e-9 * predicted["step_seconds"] for step in steps), steps)
    expect(steps[0]["name"] == "arithmetic at peak" and steps[0]["seconds"] > 0, steps)
    expect(near(predicted["step_seconds"], load(simulated)["step_seconds"]), predicted, simulated)
    expect(max(load(simulated)["peak_bytes"]) == max(memory["per_rank_bytes"]), memory)
    expect(sum(memory["classes"].values()) == max(memory["per_rank_bytes"]), memory)
    expect(all(size >= 0 for size in memory["classes"].values()), memory)
    expect(len(memory["per_rank_bytes"]) == answer["ranks"], memory)
    expect(0 < search["lower_bound"] <= search["cost"], search)
    expect(all(collective["seconds"] > 0 for collective in answer["collectives"]), answer["collectives"])
    expect(answer["blocks"] and answer["axes"] and answer["stages"], answer)
    exposed = dict((step["name"], step["seconds"]) for step in steps)["communication"]
    expect(exposed <= sum(collective["seconds"] for collective in answer["collectives"]) * 1.001, steps)


def parameters(counted, planned):
    expected = [block["parameters"] for block in load(counted)["blocks"] if block["parameters"]]
    blocks = [block for block in load(planned)["blocks"] if block["parameters"]]
    expect([block["parameters"] for block in blocks for _ in range(block["count"])] == expected, blocks, expected)
    print(*(f"{block['name']} {block['count']}" for block in blocks))


def candidates(path, count):
    answer = load(path)
    rows = answer["candidates"]
    expect(len(rows) == int(count), rows)
    expect(rows[0]["mesh"] == answer["mesh"] and rows[0]["simulated"] and rows[0]["fits"], rows)
    expect(near(rows[0]["step_seconds"], answer["predicted"]["step_seconds"]), rows, answer["predicted"])
    steps = [row["step_seconds"] for row in rows if row["simulated"]]
    expect(len(steps) > 1 and steps == sorted(steps), rows)


def alternative(path, model, mesh, cluster):
    told = load(path)
    best = told["alternatives"]["best"]
    name = told["value"]
    again = json.loads(weft("plan", model, "--mesh", mesh, "--cluster", cluster, "--shard", f"{name}={best['sharding']}", "--json"))
    expect(near(again["predicted"]["step_seconds"], best["step_seconds"], 1e-3), best["step_seconds"], again["predicted"])
    expect(max(again["memory"]["per_rank_bytes"]) == best["memory_bytes"], again["memory"], best["memory_bytes"])
    expect(best["sharding"] != told["sharding"] and best["sharding"] in told["alternatives"]["tried"], told)


def fits(messages, option, *words):
    with open(messages) as file:
        found = re.search(rf"note: {option} (\S+) would fit", file.read())
    expect(found, "no such note:", option)
    if option == "--cluster":  # another one, and its own mesh
        words = [word for i, word in enumerate(words) if "--cluster" not in words[max(0, i - 1) : i + 1] and "--mesh" not in words[max(0, i - 1) : i + 1]]
    answer = json.loads(weft(*words, option, found[1], "--json"))
    expect(max(answer["memory"]["per_rank_bytes"]) <= answer["memory"]["limit_bytes"], answer["memory"])


def fewest(count, *words):
    answer = json.loads(weft(*words, "--json"))
    expect(answer["microbatches"] == int(count), answer["microbatches"])
    weft(*words, "--accumulate", str(int(count) // 2), code=4)


if __name__ == "__main__":
    {"plan": plan, "parameters": parameters, "candidates": candidates, "alternative": alternative, "fits": fits, "fewest": fewest}[sys.argv[1]](*sys.argv[2:])
