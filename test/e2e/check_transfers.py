"""check_transfers.py SEED COUNT: a small network cut in three, on COUNT times three random meshes, values split at random: equal to numpy.

Unlike numbers of ranks (sizes 1, 2, 3, 4 and 6), sub-axes, axes in any order, copies on both sides: what TransferTest.cpp simulates is
sent here, small values to each copy and, every other time, blocks that are worth to be gathered.
"""
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy

TOLERANCE = 1e-4
NAMES = ["xyz"[:count] for count in range(4)]
HELD = {"mesh0": ["x", "h", "u"], "mesh1": ["u", "g"], "mesh2": ["h", "g", "s"]}  # which values each part holds


def module(rows, columns):
    kind, square = f"tensor<{rows}x{columns}xf32>", f"tensor<{columns}x{columns}xf32>"
    length = 4 * columns * columns
    dot = f"batch [] x [] contract [1] x [0] : ({kind}, {square}) -> {kind}"
    return f"""module attributes {{weft.source = "net.mlir"}} {{
  weft.weight @a : {square} = #weft.external<"weights.bin", 0, {length}>
  weft.weight @b : {square} = #weft.external<"weights.bin", {length}, {length}>
  func.func @main(%x: {kind} {{weft.name = "x"}}) -> ({kind} {{weft.name = "y"}}) {{
    %a = weft.load @a : {square} loc("a")
    %h = weft.dot_general %x, %a {dot} loc("h")
    %u = weft.tanh %h : {kind} loc("u")
    %b = weft.load @b : {square} loc("b")
    %g = weft.dot_general %u, %b {dot} loc("g")
    %s = weft.add %g, %h : {kind} loc("s")
    %y = weft.dot_general %s, %a {dot} loc("y")
    return %y : {kind}
  }}
}}
"""


def choose_mesh(chance):
    """Axes and sizes, of at most 12 ranks."""
    while True:
        sizes = [chance.choice([1, 2, 2, 3, 4, 6]) for _ in range(chance.randrange(1, 4))]
        if numpy.prod(sizes) <= 12:
            return dict(zip(NAMES[len(sizes)], sizes))


def choose_sharding(chance, mesh):
    """Digits of the mesh in either dimension or in none, in any order."""
    digits = []
    for axis, size in mesh.items():
        parts = chance.choice([[size]] + [[part, size // part] for part in range(2, size) if size % part == 0])
        pre = 1
        for part in parts:
            if part > 1:
                digits.append((axis, pre, part))
            pre *= part
    chance.shuffle(digits)
    dims = [[], []]
    for digit in digits:
        where = chance.randrange(3)
        if where < 2:
            dims[where].append(digit)
    return dims


def decision(value, mesh, dims):
    axes = ["".join(f' axes {{ name: "{axis}" pre: {pre} size: {size} }}' for axis, pre, size in dim) for dim in dims]
    return (f'decisions {{ value: "{value}" sharding {{ mesh: "{mesh}" dims {{{axes[0]} }} dims {{{axes[1]} }} }} origin: USER }}\n')


def check(chance, folder, rows, columns):
    """Compiles and runs one choice; returns what is wrong."""
    meshes = {f"mesh{part}": choose_mesh(chance) for part in range(3)}
    text = ";".join(",".join(f"{axis}={size}" for axis, size in mesh.items()) for mesh in meshes.values())
    plan, executable, model = folder / "net.txtpb", folder / "net.weft", folder / "net.mlir"
    subprocess.run(["weft", "plan", model, "--cut", "u", "--cut", "g", "--mesh", text, "-o", plan, "--quiet"], check=True)
    undecided = re.sub(r"^decisions \{\n(.|\n)*?^\}\n", "", plan.read_text(), flags=re.MULTILINE)
    chosen = {(value, mesh): choose_sharding(chance, meshes[mesh]) for mesh, values in HELD.items() for value in values}
    plan.write_text(undecided + "".join(decision(value, mesh, dims) for (value, mesh), dims in chosen.items()))
    case = f"{rows}x{columns} on {text}, {chosen}"
    for command in (["compile", model, "--plan", plan, "-o", executable, "--quiet"], ["verify", executable, "--quiet"],
                    ["run", executable, "--input-dir", folder / "in", "--output-dir", folder / "out", "--quiet", "--timeout", "60"]):
        done = subprocess.run(["weft", *command], text=True, capture_output=True)
        if done.returncode != 0:
            return f"{case}: weft {command[0]} ends with {done.returncode}: {done.stderr}"
    expected, got = numpy.load(folder / "expected.npy"), numpy.load(folder / "out" / "y.npy")
    difference = numpy.abs(got - expected).max() / numpy.abs(expected).max()
    return None if difference <= TOLERANCE else f"{case}: relative difference of {difference}"


def main():
    chance, failures = random.Random(int(sys.argv[1])), []
    for number in range(int(sys.argv[2])):
        rows, columns = (72, 144) if number % 2 == 0 else (288, 576)
        numbers = numpy.random.default_rng(number)
        weights = [(numbers.standard_normal((columns, columns)) / columns**0.5).astype(numpy.float32) for _ in range(2)]
        x = numbers.standard_normal((rows, columns)).astype(numpy.float32)
        h = x.astype(numpy.float64) @ weights[0]
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "in").mkdir()
            numpy.save(folder / "in" / "x.npy", x)
            numpy.save(folder / "expected.npy", (numpy.tanh(h) @ weights[1] + h) @ weights[0])
            (folder / "weights.bin").write_bytes(b"".join(weight.tobytes() for weight in weights))
            (folder / "net.mlir").write_text(module(rows, columns))
            failures.append(check(chance, folder, rows, columns))
    failures = [failure for failure in failures if failure]
    print("\n".join(failures) or f"{sys.argv[2]} ways to split three parts, all equal to numpy")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
