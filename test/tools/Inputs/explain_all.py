"""explain_all.py PLAN PART…: asks `weft explain` for the values that it lists in parts of the model; each must be what its row says."""
import json
import subprocess
import sys


def explain(*words):
    return json.loads(subprocess.run(["weft", "explain", *words, "--json", "--quiet", "--no-alternatives"], check=True, text=True, stdout=subprocess.PIPE).stdout)


def main():
    plan, *parts = sys.argv[1:]
    rows = [row for part in parts for row in explain(plan, part)]
    names = [row["value"] for row in explain(plan)]
    if len(set(names)) != len(names) or not {row["value"] for row in rows} < set(names) or len(rows) < 5:
        sys.exit(f"expected different names, and some of them, got: {names}, {rows}")
    for row in rows:
        told = explain(plan, row["value"])
        if any(told[key] != row[key] for key in ("value", "type", "sharding")):
            sys.exit(f"expected {row}, got: {told}")


if __name__ == "__main__":
    main()
