"""summarize.py RESULTS.json REQUIRE: what failed with its output, what was skipped and why, and one closing line."""
import collections
import json
import re
import sys

MISSING = re.compile(r"unavailable features: (.+)")
REASONS = {
    "reference-models": "the reference models are absent (WEFT_REFERENCE_MODELS, default ../shared/models)",
    "onnx-testdata": "libonnx-testdata is not installed",
}
SHOWN = 40  # lines of a failed test's output


def reason(test):
    """Why a test was skipped: a feature that this machine lacks, or the last words of its output."""
    found = MISSING.search(test.get("output", ""))
    if found:
        return "; ".join(REASONS.get(feature, feature) for feature in found.group(1).split(", "))
    lines = [line.strip() for line in test.get("output", "").splitlines() if line.strip()]
    return lines[-1] if lines else test["code"].lower()


def main():
    require = sys.argv[2] == "1"
    with open(sys.argv[1]) as file:
        tests = json.load(file)["tests"]
    passed = [t for t in tests if t["code"] in ("PASS", "XFAIL", "FLAKYPASS")]
    left_out = [t for t in tests if t["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED")]
    failed = [t for t in tests if t not in passed and t not in left_out]
    for test in failed:
        lines = test.get("output", "").rstrip().splitlines()
        print(f"failed: {test['name']}", *([f"  … {len(lines) - SHOWN} lines"] if len(lines) > SHOWN else []), sep="\n")
        print("\n".join("  " + line for line in lines[-SHOWN:]))
    for test in failed if len(failed) > 1 else []:
        print(f"failed: {test['name']}")
    # Tests that lack the same thing are one skip: what is missing counts, not how many would have used it.
    skipped = collections.Counter(map(reason, left_out))
    for why, count in sorted(skipped.items()):
        print(f"skipped: {why} ({count} test{'s' if count > 1 else ''})")
    if require and skipped:
        print("skips are failures here (--require-reference)")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(1 if failed or not passed or (require and skipped) else 0)


if __name__ == "__main__":
    main()
