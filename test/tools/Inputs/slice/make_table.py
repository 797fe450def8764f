"""make_table.py TOKENS GRANULARITY: times of every slice, with a floor, a slope and attention, as `weft slice` reads them."""
import sys

tokens, unit = int(sys.argv[1]), int(sys.argv[2])
print("length,context,forward_s,backward_s")
for end in range(unit, tokens + 1, unit):
    for context in range(0, end, unit):
        length = end - context
        seconds = 8e-3 + 4.8e-5 * length + 1e-9 * length * (context + length / 2)
        print(f"{length},{context},{seconds / 3:.9g},{seconds * 2 / 3:.9g}")
