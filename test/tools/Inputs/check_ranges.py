"""check_ranges.py RANGES.json FIRST…: what `weft blocks --cluster` says of ranges that begin so: no split is beaten by another, those of least memory move most."""
import json
import sys

ranges = json.load(open(sys.argv[1]))["ranges"]
if [each["first"] for each in ranges] != [int(text) for text in sys.argv[2:]]:
    sys.exit(f"expected ranges from {sys.argv[2:]}, got: {[each['first'] for each in ranges]}")
for each in ranges:
    costs = [tuple(split.values()) for split in each["splits"]]
    if len(costs) < 2 or any(len(cost) != 5 for cost in costs):
        sys.exit(f"expected several splits of five costs each, got: {costs}")
    for cost in costs:
        if any(other != cost and all(x <= y for x, y in zip(other, cost)) for other in costs):
            sys.exit(f"{cost} of blocks from {each['first']} on is beaten")
    fastest, least = min(costs, key=lambda cost: cost[3]), min(costs, key=lambda cost: cost[4])
    if not (fastest[3] < least[3] and least[4] < fastest[4]):
        sys.exit(f"expected least memory {least} to take communication, got less than of {fastest}")
