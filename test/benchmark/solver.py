"""solver.py FOLDER [--instances A,B] [--limits 10,60,300] [--seeds 1,2,3] [--threads 2] [--iterations N] [--weft PATH] [--update docs/solver.md]

Scores `weft solve` on the instances FOLDER/NAME.json.gz of the IOPDDL contest. Each answer is evaluated here, by code that shares nothing with
the solver's: an answer that is not feasible, costs other than what was printed, or comes later than two seconds after its limit fails the run.
Prints one table a limit: the best cost of any contest team (iopddl_best.csv), the worst and best of own costs over the seeds, best known / worst
own, the best certified bound and the best own cost's gap to it, the longest wall time, and the most memory.

With --update, each table is also written into the file, as soon as it is complete, between the marks `<!-- scores: 60 s -->` and
`<!-- end of scores -->`, in place of the table of the same limit; those of other limits stay. A table of which a run has failed is not written.
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
END = "<!-- end of scores -->"
BLOCK = re.compile(rf"<!-- scores: (?P<limit>[\d.e+]+) s -->.*?{re.escape(END)}", re.DOTALL)
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
    """A line of the table, and best known / worst own."""
    size = f"{len(problem['nodes']['costs'])} | {len(problem['edges']['nodes'])}"
    if any(run.cost is None for run in runs):
        return f"| {name} | {size} | {best or ''} | no answer | | | | | | |", None
    costs, bound = [run.cost for run in runs], max(run.bound for run in runs)
    gap = 100 * (min(costs) - bound) / max(abs(min(costs)), 1)
    score = best / max(costs) if best else None
    return (f"| {name} | {size} | {best or ''} | {max(costs)} | {min(costs)} | {score and f'{score:.5f}' or ''} | {bound} | "
            f"{f'{gap:.3f} %' if gap else 'proved'} | {max(run.seconds for run in runs):.1f} | {max(run.megabytes for run in runs):.0f} |"), score


def measure(options, problems, known, limit):
    """The lines of one limit's table, printed as they come, and whether all runs went well."""
    seeds, well, scores = options.seeds.split(","), True, []
    table = [f"{limit:g} s, {options.threads} threads, seeds {', '.join(seeds)}:", "",
             "| | nodes | edges | best known | own, worst | own, best | best known / worst | bound | gap | wall s | MB |", "|---" * 11 + "|"]
    print("\n" + "\n".join(table), flush=True)
    for name, problem in problems.items():
        command = [options.weft, "solve", str(options.folder / f"{name}.json.gz"), "--time-limit", f"{limit:g}", "--threads", options.threads]
        runs = [solve([*command, "--seed", seed, "--iterations", options.iterations], problem, limit) for seed in seeds]
        line, score = describe(name, problem, runs, known.get(name))
        table.append(line)
        print(line, flush=True)
        scores += [score] if score else []
        for seed, wrong in [(seed, wrong) for seed, run in zip(seeds, runs) for wrong in run.problems]:
            well = False
            print(f"{name}, seed {seed}: {wrong}", file=sys.stderr)
    if scores:
        table += ["", f"Best known / worst own: least {min(scores):.5f}, mean {sum(scores) / len(scores):.5f}."]
        print("\n" + table[-1], flush=True)
    return table, well


def write_table(path, limit, lines):
    """Puts a limit's table in place of the old one; a new one goes before that of the next larger limit, or to the end."""
    text, found = path.read_text(), None
    block = "\n".join([f"<!-- scores: {limit:g} s -->", "", *lines, "", END])
    for mark in BLOCK.finditer(text):
        if float(mark["limit"]) >= limit:
            found = mark
            break
    if not found:
        text = f"{text.rstrip()}\n\n{block}\n"
    elif float(found["limit"]) == limit:
        text = text[: found.start()] + block + text[found.end() :]
    else:
        text = f"{text[: found.start()]}{block}\n\n{text[found.start() :]}"
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    for option, default in (("instances", ""), ("limits", "10,60,300"), ("seeds", "1,2,3"), ("threads", "2"), ("iterations", "0"), ("weft", "weft")):
        parser.add_argument(f"--{option}", default=default)
    parser.add_argument("--update", type=pathlib.Path, help="a file whose tables are replaced")
    options = parser.parse_args()
    with open(pathlib.Path(__file__).with_name("iopddl_best.csv"), newline="") as table:
        known = {row["instance"]: int(row["best"]) for row in csv.DictReader(table)}
    names = options.instances.split(",") if options.instances else sorted(p.name[: -len(".json.gz")] for p in options.folder.glob("*.json.gz"))
    if not names:
        parser.error(f"no instances NAME.json.gz in {options.folder}")
    if options.update and not options.update.is_file():
        parser.error(f"no file {options.update}")
    problems = {name: json.load(gzip.open(options.folder / f"{name}.json.gz"))["problem"] for name in names}
    failed = False
    for limit in map(float, options.limits.split(",")):
        lines, well = measure(options, problems, known, limit)
        failed |= not well
        if options.update and well:
            write_table(options.update, limit, lines)
    sys.exit(failed)


if __name__ == "__main__":
    main()
