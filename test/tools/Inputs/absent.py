"""absent.py MODEL: runs commands, beside MODEL's there.weft and there.txtpb, on files that are not there; each says so in one line, with exit code 3."""
import subprocess
import sys

MODEL = sys.argv[1]
SLICES = ("--stages", "2")
COMMANDS = {
    "none.txtpb": [
        ("blocks",), ("cluster", "show"), ("diff", "there.txtpb"), ("explain",), ("import", "-o", "made.mlir"), ("inspect",), ("plan",),
        ("simulate",), ("compile", MODEL, "-o", "made.weft", "--plan"), ("plan", MODEL, "--cluster"), ("compile", MODEL, "-o", "made.weft", "--cluster"),
        ("simulate", "there.txtpb", "--cluster"), ("simulate", "there.weft", "--cluster"), ("diff", "there.weft", "there.txtpb", "--cluster"),
        ("blocks", MODEL, "--mesh", "data=2", "--cluster"),
        ("explain", "there.txtpb", "--model"), ("simulate", "there.txtpb", "--model"), ("inspect", "there.txtpb", "--model")],
    "none.weft": [
        ("diff", "there.weft"), ("inspect",), ("run", "--output-dir", "made"), ("simulate",), ("train", "--data", "d.npz", "--steps", "1"), ("verify",),
        ("verify", "--json")],
    "none.onnx": [("compile", "-o", "made.weft"), ("import", "-o", "made.mlir"), ("plan",)],
    "none.json": [("diff", "there.weft"), ("solve", "--time-limit", "1")],
    "none.csv": [("slice", *SLICES), ("validate",), ("schedule", "--costs", "1,1,1,0", "--import")],
}
for name, commands in COMMANDS.items():
    for words in commands:
        done = subprocess.run(["weft", *words, name], text=True, capture_output=True)
        lines = done.stderr.splitlines()
        says = len(lines) == 1 and name in lines[0] and ("does not exist" in lines[0] or "No such file or directory" in lines[0])
        if done.returncode != 3 or not says or done.stdout:
            sys.exit(f"weft {' '.join(words)} {name}: exit code {done.returncode}: {done.stderr}{done.stdout}")
