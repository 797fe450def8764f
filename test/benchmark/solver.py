"""solver.py FOLDER [--instances A,B] [--limits 10,60,300] [--seeds 1,2,3] [--threads 2] [--iterations N] [--weft PATH]

Scores `weft solve` on the instances FOLDER/NAME.json.gz of the IOPDDL contest. Each answer is evaluated here, by code that shares nothing with
the solver's: an answer that is not feasible, costs other than what was printed, or comes later than two seconds after its limit fails the run.
Prints one table a limit: the best cost of any contest team (iopddl_best.csv), the worst and best of own costs over the seeds, best known / worst
own, the best certified bound and the gap to it, the longest wall time, and the most memory.
"""
import argparse
import collections
import csv
import gzip
import itertools
import json
import pathlib
import re
import subprocess
import sys
import time

FORBIDDEN = 10**18
PROGRESS = re.compile(r"# cost (-?\d+) lower_bound (-?\d+) gap")
# A process's peak memory counts what it was forked from: this small one stands between.
LAUNCH = """import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)"""
Run = collections.namedtuple("Run", "cost bound seconds megabytes problems")


def evaluate(problem, answer):
    """The cost of an answer, and what is wrong with it."""
    nodes, edges, limit = problem["nodes"], problem["edges"], problem["usage_limit"]
    costs = [row[s] for row, s in zip(nodes["costs"], answer, strict=True)]
    for scope, table in zip(edges["nodes"], edges["costs"], strict=True):
        index = 0
        for node in scope:
            index = index * len(nodes["costs"][node]) + answer[node]
        costs.append(table[index])
    changes = collections.Counter()
    for (begin, end), usages, s in zip(nodes["intervals"], nodes["usages"], answer, strict=True):
        if begin < end:
            changes[begin] += usages[s]
            changes[end] -= usages[s]
    most = max(itertools.accumulate(changes[t] for t in sorted(changes)), default=0)
    problems = [] if most <= limit else [f"uses {most}, limit {limit}"]
    if any(cost >= FORBIDDEN for cost in costs):
        problems.append("chooses what is forbidden")
    return sum(costs), problems


def solve(command, problem, limit):
    """One run of `weft solve`, checked."""
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", LAUNCH, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seconds, lines = time.monotonic() - start, done.stdout.splitlines()
    *complaints, kilobytes = done.stderr.splitlines()
    megabytes = int(kilobytes) / 1024
    if done.returncode:
        return Run(None, None, seconds, megabytes, [f"exit code {done.returncode}", *complaints])
    cost, problems = evaluate(problem, json.loads(lines[-1]))
    said = [tuple(map(int, match.groups())) for match in map(PROGRESS.match, lines) if match]
    if not said or said[-1][0] != cost:
        problems.append(f"printed cost {said[-1][0] if said else None}, evaluated {cost}")
    if seconds > limit + 2:
        problems.append(f"took {seconds:.1f} s of {limit}")
    return Run(cost, max(bound for _, bound in said) if said else None, seconds, megabytes, problems)


def describe(name, problem, runs, best):
    size = f"{len(problem['nodes']['costs'])} | {len(problem['edges']['nodes'])}"
    if any(run.cost is None for run in runs):
        return f"| {name} | {size} | {best} | no answer | | | | | | |", None
    costs, bound = [run.cost for run in runs], max(run.bound for run in runs)
    gap = 100 * (min(costs) - bound) / min(costs)
    score = best / max(costs) if best else None
    return (f"| {name} | {size} | {best or ''} | {max(costs)} | {min(costs)} | {score and f'{score:.5f}' or ''} | {bound} | {gap:.3f} % | "
            f"{max(run.seconds for run in runs):.1f} | {max(run.megabytes for run in runs):.0f} |"), score


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    for option, default in (("instances", ""), ("limits", "10,60,300"), ("seeds", "1,2,3"), ("threads", "2"), ("iterations", "0"), ("weft", "weft")):
        parser.add_argument(f"--{option}", default=default)
    options = parser.parse_args()
    with open(pathlib.Path(__file__).with_name("iopddl_best.csv"), newline="") as table:
        known = {row["instance"]: int(row["best"]) for row in csv.DictReader(table)}
    names = options.instances.split(",") if options.instances else sorted(p.name[: -len(".json.gz")] for p in options.folder.glob("*.json.gz"))
    problems = {name: json.load(gzip.open(options.folder / f"{name}.json.gz"))["problem"] for name in names}
    if not names:
        parser.error(f"no instances NAME.json.gz in {options.folder}")
    failed = False
    for limit in map(float, options.limits.split(",")):
        print(f"\n{limit:g} s, {options.threads} threads, seeds {options.seeds}\n")
        print("| | nodes | edges | best known | own, worst | own, best | best known / worst | bound | gap | wall s | MB |")
        print("|---" * 11 + "|")
        scores = []
        for name in names:
            command = [options.weft, "solve", str(options.folder / f"{name}.json.gz"), "--time-limit", f"{limit:g}", "--threads", options.threads]
            runs = [solve([*command, "--seed", seed, "--iterations", options.iterations], problems[name], limit) for seed in options.seeds.split(",")]
            line, score = describe(name, problems[name], runs, known.get(name))
            scores += [score] if score else []
            print(line, flush=True)
            for seed, run in zip(options.seeds.split(","), runs):
                for problem in run.problems:
                    failed = True
                    print(f"{name}, seed {seed}: {problem}", file=sys.stderr)
        if scores:
            print(f"\nbest known / worst own: least {min(scores):.5f}, mean {sum(scores) / len(scores):.5f}", flush=True)
    sys.exit(failed)


main()
