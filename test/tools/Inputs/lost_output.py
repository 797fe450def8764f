"""lost_output.py MODEL PLAN EXECUTABLE INPUT INSTANCE: commands whose standard output is full, closed, or read by nobody.

Each must end with exit code 5 and a message, or quietly where a reader has seen enough.
"""
import os
import subprocess
import sys

MODEL, PLAN, EXECUTABLE, INPUT, INSTANCE = sys.argv[1:]
RUN = ["run", EXECUTABLE, "--input", f"x={INPUT}"]
SCHEDULE = ["schedule", "1f1b", "--stages", "2", "--microbatches", "4", "--costs", "1,1,1,0"]
COMMANDS = [
    ["--help"], ["--version"], ["plan", "--help"],
    ["import", MODEL], ["import", "--list-operators", "onnx"],
    ["plan", MODEL, "--mesh", "model=2"], ["plan", MODEL, "--mesh", "model=2", "--json"], ["plan", MODEL, "-o", "-"],
    ["compile", MODEL, "--mesh", "model=2", "-o", "again.weft"],
    ["explain", PLAN], ["explain", PLAN, "--json"], ["explain", PLAN, "h.0.a"], ["explain", PLAN, "h.0.a", "--json"],
    ["inspect", EXECUTABLE], ["inspect", EXECUTABLE, "--program"], ["inspect", EXECUTABLE, "--json"],
    ["inspect", PLAN], ["inspect", PLAN, "--json"],
    ["cluster", "list"], ["cluster", "list", "--json"], ["cluster", "show", "cpu"], ["cluster", "show", "cpu", "--json"],
    ["solve", INSTANCE], ["solve", INSTANCE, "--json"],
    [*SCHEDULE], [*SCHEDULE, "--json"], [*SCHEDULE, "--csv", "-"],
    [*RUN], [*RUN, "-v"], [*RUN, "--json"],
    ["verify", EXECUTABLE], ["verify", EXECUTABLE, "--json"],
]
MESSAGE = "error: cannot write the standard output: "
problems = []


def check(what, command, code, stderr, **streams):
    done = subprocess.run(["weft", *command], stderr=subprocess.PIPE, text=True, timeout=60, **streams)
    if done.returncode != code or not done.stderr.endswith(stderr) or (not stderr and done.stderr):
        problems.append(f"{what}: weft {' '.join(command)}: exit {done.returncode}, {done.stderr!r}")


for command in COMMANDS:
    with open("/dev/full", "w") as full:
        check("full", command, 5, MESSAGE + "No space left on device\n", stdout=full)
    check("closed", command, 5, MESSAGE + "Bad file descriptor\n", preexec_fn=lambda: os.close(1))
    unread = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    unread.wait()
    check("unread", command, 0, "", stdout=unread.stdin)
    unread.stdin.close()
print("\n".join(problems) or f"{len(COMMANDS)} commands told of what was lost")
sys.exit(1 if problems else 0)
