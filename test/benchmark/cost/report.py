"""report.py [--data DIR] [--binary FILE] [--table TABLE.csv]… [--operations TABLE.csv]… [--update PAGE.md]

Errors of the cost model. With --table: a row for each step of a table in the columns of measured_a100.csv or of vTrain, with what the
prediction is made of. With --operations: the error of each kind of operation of a table in the columns of v100_ops.csv, weighted by time,
forward and backward, without and with tensor parallelism. Without: the calibration tables, the profiler's constants refitted without each group of rows that is predicted, and
an ablation; --update writes that between the markers of a page. Deterministic: a pattern search over multiplicative steps.
"""
import argparse
import collections
import csv
import io
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FITTED = ["profilerLayer", "profilerSoftmax", "profilerEnds"]
ALLREDUCE = [(f"allreduce_a100_{n}gpu.csv", "dgx-a100", n) for n in range(2, 9)] + [
    (f"allreduce_v100_{n}gpu.csv", "p3.16xlarge", n) for n in (4, 8)]
TERMS = ["attention", "streaming", "host", "tensor", "recompute", "head", "pipeline", "data", "optimizer"]
CURVES = {"results of products": {"resultShare": 0}, "waves": {"waveShare": 0}}


class Model:
    """Runs the predictor; the same question is asked once."""

    def __init__(self, binary, data):
        self.binary, self.data, self.known = binary, data, {}

    def run(self, *words):
        if words not in self.known:
            done = subprocess.run([self.binary, *map(str, words)], capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(done.stderr.strip())
            self.known[words] = list(csv.DictReader(io.StringIO(done.stdout)))
        return self.known[words]

    def steps(self, table, values=None, without=()):
        words = ["steps", self.data / table]
        for name, value in sorted((values or {}).items()):
            words += ["--set", f"{name}={value:.4g}"]
        for term in without:
            words += ["--without", term]
        return [(float(row["predicted"]), float(row["measured"])) for row in self.run(*words)]

    def errors(self, table, values=None, without=()):
        return [predicted / measured - 1 for predicted, measured in self.steps(table, values, without)]

    def defaults(self):
        lines = subprocess.run([self.binary, "constants"], capture_output=True, text=True, check=True).stdout.splitlines()
        return [line.split("|") for line in lines]


def mean(values):
    values = list(values)
    return sum(map(abs, values)) / len(values)


def fit(model, start, keep):
    """The constants that fit the rows `keep` of vtrain_single.csv best: steps up and down, halved where none helps."""
    def cost(values):
        errors = model.errors("vtrain_single.csv", values)
        return mean(errors[i] for i in keep)

    best, values, step = cost(start), dict(start), 1.15
    while step > 1.03:
        moved = False
        for name in FITTED:
            for factor in (step, 1 / step):
                tried = {**values, name: float(f"{values[name] * factor:.4g}")}
                if (found := cost(tried)) < best - 1e-7:
                    best, values, moved = found, tried, True
                    break
        if not moved:
            step **= 0.5
    return values


def leave_out(model, rows, start, columns):
    """Mean error over rows predicted by constants fitted without the rows that are alike in `columns`."""
    groups = collections.OrderedDict()
    for i, row in enumerate(rows):
        groups.setdefault(tuple(row[c] for c in columns), []).append(i)
    errors, worst = [], 0
    for members in groups.values():
        inside = set(members)
        values = fit(model, start, [i for i in range(len(rows)) if i not in inside])
        predicted = model.errors("vtrain_single.csv", values)
        errors += [predicted[i] for i in members]
        worst = max(worst, mean(predicted[i] for i in members))
    return mean(errors), worst, len(groups)


def kendall(pairs):
    """Of predicted against measured times: 1 where all pairs are ordered alike."""
    agree = total = 0
    for i, (p, m) in enumerate(pairs):
        for q, n in pairs[:i]:
            if m != n:
                total += 1
                agree += (p - q) * (m - n) > 0
    return 2 * agree / total - 1 if total else None


def rank(model, rows, values):
    """Kendall's tau within each workload, and what the plan predicted to be best loses."""
    groups = collections.OrderedDict()
    for row, pair in zip(rows, model.steps("vtrain_single.csv", values)):
        groups.setdefault((row[0], row[1], row[3], row[4], row[5]), []).append(pair)
    taus = [tau for pairs in groups.values() if len(pairs) > 2 and (tau := kendall(pairs)) is not None]
    regrets = [min(pairs)[1] / min(m for _, m in pairs) - 1 for pairs in groups.values()]
    return sum(taus) / len(taus), sum(regrets) / len(regrets), len(groups)


def report(model, start):
    rows = list(csv.reader((model.data / "vtrain_single.csv").open()))[1:]
    best = fit(model, start, range(len(rows)))
    yield "| table | rows | mean error | |", "|---|---|---|---|"
    for name, cluster, ranks in ALLREDUCE:
        got = model.run("allreduce", model.data / name, cluster, ranks)
        errors = [float(r["predicted"]) / float(r["measured"]) - 1 for r in got]
        powers = [errors[i - 1] for i in (2 ** n for n in range(11))]
        yield f"| {name} | {len(errors)} | {100 * mean(errors):.1f} % | {100 * mean(powers):.1f} % over powers of two |",
    errors = model.errors("measured_a100.csv", best)
    yield f"| measured_a100.csv | {len(errors)} | {100 * mean(errors):.1f} % | worst {100 * max(map(abs, errors)):.1f} %; three constants of the model were chosen on it and vTrain's |",
    errors = model.errors("vtrain_single.csv", best)
    yield f"| vtrain_single.csv | {len(rows)} | {100 * mean(errors):.2f} % | fitted on all |",
    for what, columns in (("(tensor, data, pipeline) triple", (7, 8, 9)), ("hidden size", (3,))):
        error, worst, groups = leave_out(model, rows, best, columns)
        yield f"| … without each {what} | {groups} groups | {100 * error:.2f} % | worst group {100 * worst:.1f} % |",
    tau, regret, groups = rank(model, rows, best)
    yield f"| … ranking | {groups} workloads | tau {tau:.3f} | regret {100 * regret:.1f} % |",
    yield "", "| left out | measured_a100.csv | vtrain_single.csv |", "|---|---|---|"
    cases = [("nothing", {}, ())] + [(name, values, ()) for name, values in CURVES.items()] + [(t, {}, (t,)) for t in TERMS]
    for name, values, without in cases:
        real, single = (mean(model.errors(t, {**best, **values}, without)) for t in ("measured_a100.csv", "vtrain_single.csv"))
        yield f"| {name} | {100 * real:.1f} % | {100 * single:.1f} % |",
    yield "", "| fitted to vtrain_single.csv, for it alone | value (s) |", "|---|---|"
    for name in FITTED:
        yield f"| {name} | {best[name]:.4g} |",
    yield from report_operations(model, "v100_ops.csv")


def print_table(model, path):
    rows = model.run("steps", path)
    errors = []
    for row in rows:
        predicted, measured = float(row["predicted"]), float(row["measured"])
        parts = " ".join(f"{k} {float(v):.4g}" for k, v in list(row.items())[3:-1] if float(v) > 0)
        error = ""
        if measured > 0:
            errors.append(predicted / measured - 1)
            error = f" measured {measured:.4g} s ({100 * errors[-1]:+.1f} %)"
        print(f"row {row['row']}: predicted {predicted:.4g} s{error}; {parts}; memory {float(row['memory']) / 2 ** 30:.1f} GiB")
    if errors:
        print(f"{path}: mean error {100 * mean(errors):.2f} %, worst {100 * max(map(abs, errors)):.1f} %, bias {100 * sum(errors) / len(errors):+.1f} %")


def sum_operations(model, path):
    """Sums of |predicted - measured| and of measured seconds, forward and backward, by (with tensor parallelism, kind); kind None is all."""
    sums = collections.defaultdict(lambda: [0.0] * 4)
    for row in model.run("operations", path):
        for key in ((row["tp"] != "1", None), (row["tp"] != "1", row["op"])):
            for i, name in enumerate(("forward", "backward")):
                measured, predicted = float(row[name]), float(row["predicted_" + name])
                sums[key][2 * i] += abs(predicted - measured)
                sums[key][2 * i + 1] += measured
    return sums


def print_operations(model, path):
    sums = sum_operations(model, path)
    for parallel in (False, True):
        kinds = sorted((key for key in sums if key[0] == parallel), key=lambda k: (k[1] is not None, -sums[k][1]))
        for key in kinds:
            forward, forward_time, backward, backward_time = sums[key]
            print(f"{'tp > 1' if parallel else 'tp = 1'} {key[1] or 'all':<30} forward {100 * forward / forward_time:5.1f} % of {1e3 * forward_time:8.1f} ms"
                  f"   backward {100 * backward / backward_time:5.1f} % of {1e3 * backward_time:8.1f} ms")


def report_operations(model, table):
    sums = sum_operations(model, model.data / table)
    yield "", f"| {table} | forward | backward | worst kind |", "|---|---|---|---|"
    for parallel in (False, True):
        forward, forward_time, backward, backward_time = sums[(parallel, None)]
        worst = max((max(s[0] / s[1], s[2] / s[3]), kind) for (p, kind), s in sums.items() if p == parallel and kind)
        yield (f"| {'with collectives, tensor degree 2 to 8' if parallel else 'on one GPU'} | {100 * forward / forward_time:.1f} % | "
               f"{100 * backward / backward_time:.1f} % | {worst[1]} {100 * worst[0]:.0f} % |"),


def list_constants(model):
    yield "| constant | value | unit | | source |"
    yield "|---|---|---|---|---|"
    for name, value, unit, provenance, source in model.defaults():
        if not name.startswith("profiler"):
            yield f"| {name} | {value} | {unit} | {provenance} | {source} |"


def update(page, mark, lines):
    begin, end = f"<!-- {mark} begin -->", f"<!-- {mark} end -->"
    text = page.read_text()
    if begin not in text or end not in text:
        sys.exit(f"{page} has no markers {begin} and {end}")
    page.write_text(text[: text.index(begin) + len(begin)] + "\n" + "\n".join(lines) + "\n" + text[text.index(end):])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared/data/calibration")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/bin/cost_table")
    parser.add_argument("--table", type=pathlib.Path, action="append")
    parser.add_argument("--operations", type=pathlib.Path, action="append")
    parser.add_argument("--update", type=pathlib.Path)
    options = parser.parse_args()
    model = Model(options.binary, options.data)
    for path in options.table or ():
        print_table(model, path)
    for path in options.operations or ():
        print_operations(model, path)
    if options.table or options.operations:
        return
    start = {row[0]: float(row[1]) for row in model.defaults() if row[0] in FITTED}
    lines = []
    for part in report(model, start):
        lines += part
        print("\n".join(part), flush=True)
    if options.update:
        update(options.update, "report.py", lines)
        update(options.update, "constants", list_constants(model))


if __name__ == "__main__":
    main()
