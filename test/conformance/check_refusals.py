"""check_refusals.py LIST ANSWER.json…: fails unless what did not pass of `weft conformance --json` is what LIST excuses (see Suite.h)."""
import json
import pathlib
import sys

excuses = [line.split(" -- ")[0] for line in pathlib.Path(sys.argv[1]).read_text().splitlines() if " -- " in line]
passed, inexcusable = 0, []
for path in sys.argv[2:]:
    for test in json.loads(pathlib.Path(path).read_text())["tests"]:
        told = f"{test['name']}: {test['message']}"
        if test["status"] == "passed":
            passed += 1
        elif not any(text in told for text in excuses):
            inexcusable.append(f"{test['status']} {told}")
print(*inexcusable, f"{passed} passed, {len(inexcusable)} without an excuse", sep="\n")
sys.exit(bool(inexcusable) or not passed)
