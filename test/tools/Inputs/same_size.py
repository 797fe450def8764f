"""same_size.py PERCENT A B: fails unless the files' sizes differ by at most so much of the smaller one."""
import os
import sys

percent, a, b = float(sys.argv[1]), os.path.getsize(sys.argv[2]), os.path.getsize(sys.argv[3])
if abs(a - b) > min(a, b) * percent / 100:
    sys.exit(f"expected sizes within {percent} %, got: {a} and {b}")
