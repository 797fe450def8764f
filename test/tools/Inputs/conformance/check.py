"""check.py ANSWER.json: the answer counts its tests, in the order of their names, and says of each what came of it."""
import json
import sys

answer = json.load(open(sys.argv[1]))
tests = answer["tests"]
assert [test["name"] for test in tests] == ["suite/add", "suite/broken", "suite/external", "suite/reshape", "suite/unknown", "suite/wrong"], tests
assert [test["status"] for test in tests] == ["passed", "refused", "passed", "passed", "refused", "differs"], tests
for status in ("passed", "refused", "failed", "differs"):
    assert answer[status] == sum(test["status"] == status for test in tests), status
for test in tests:
    assert test["seconds"] > 0 and bool(test["message"]) == (test["status"] != "passed"), test
    if test["status"] in ("passed", "differs"):
        assert test["ranks"] == 2 and (test["relative"] == 0.5) == (test["status"] == "differs"), test
