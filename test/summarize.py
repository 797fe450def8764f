"""summarize.py RESULTS.json REQUIRE: counts lit's results, names the reasons of skips, and closes with one line."""
import collections
import json
import sys

results, require = sys.argv[1], sys.argv[2] == "1"
with open(results) as file:
    tests = json.load(file)["tests"]
passed = [t for t in tests if t["code"] in ("PASS", "XFAIL", "FLAKYPASS")]
skipped = [t for t in tests if t["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED")]
failed = [t for t in tests if t not in passed and t not in skipped]

reasons = collections.Counter()
for test in skipped:
    lines = [line for line in test.get("output", "").splitlines() if line.strip()]
    reasons[lines[-1].strip() if lines else test["code"].lower()] += 1
for reason, count in sorted(reasons.items()):
    print(f"skipped {count}: {reason}")
for test in failed:
    print(f"failed: {test['name']}")
bad = len(failed) + (len(skipped) if require else 0) + (0 if passed else 1)
if require and skipped:
    print("skips are failures here (--require-reference)")
print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
sys.exit(1 if bad else 0)
