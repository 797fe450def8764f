"""check.py ANSWER.json: parts of each row add up to its prediction, and errors are what they say."""
import json
import sys

answer = json.load(open(sys.argv[1]))
errors = []
for row in answer["rows"]:
    assert abs(sum(row["parts"].values()) - row["predicted"]) < 1e-9 * row["predicted"], row
    assert row["memory_bytes"] > 1e9, row
    assert row["gpus"] == row["tp"] * row["pp"] * row["dp"], row
    if row["measured"] is None:
        assert row["error"] is None, row
        continue
    assert abs(row["error"] - (row["predicted"] / row["measured"] - 1)) < 1e-9, row
    errors.append(row["error"])
assert abs(answer["mean"] - sum(map(abs, errors)) / len(errors)) < 1e-9
assert abs(answer["bias"] - sum(errors) / len(errors)) < 1e-9
assert [row.get("vpp") for row in answer["rows"]] == [1, 1, None]
assert {"median", "tau", "regret"} <= answer.keys()
print(f"{len(answer['rows'])} rows, parts add up, errors are fractions")
