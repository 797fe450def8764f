"""check_panels.py: products by matrices that are stored in panels are NumPy's, on one rank and split by columns and by rows.

A matrix [rows, columns] and one [rows, heads, size] of long rows, read by one product each, multiply 1, 5 and 130 rows. The panels that a
rank's block lies in are looked for in the executable.
"""
import pathlib
import sys
import tempfile

import numpy
from training_files import weft

DEPTH, COLUMNS, HEADS = 96, 3072, 48
SIZE = COLUMNS // HEADS
MODULE = """
weft.weight @w : tensor<{k}x{n}xf32> = #weft.external<"w.bin", 0, {bytes}>
weft.weight @h : tensor<{k}x{h}x{s}xf32> = #weft.external<"w.bin", {bytes}, {bytes}>
func.func @main(%x: tensor<{m}x{k}xf32> {{weft.name = "x"}})
    -> (tensor<{m}x{n}xf32> {{weft.name = "plain"}}, tensor<{h}x{m}x{s}xf32> {{weft.name = "heads"}}) {{
  %w = weft.load @w : tensor<{k}x{n}xf32>
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %h = weft.load @h : tensor<{k}x{h}x{s}xf32>
  %1 = weft.dot_general %x, %h batch [] x [] contract [1] x [0] : (tensor<{m}x{k}xf32>, tensor<{k}x{h}x{s}xf32>) -> tensor<{m}x{h}x{s}xf32>
  %2 = weft.transpose %1 [1, 0, 2] : tensor<{m}x{h}x{s}xf32> -> tensor<{h}x{m}x{s}xf32>
  return %0, %2 : tensor<{m}x{n}xf32>, tensor<{h}x{m}x{s}xf32>
}}
"""
# The options of each, and the columns of a panel: 768 of 3072, 768 of 1536 (in heads of 64).
SPLITS = [([], 768),
          (["--mesh", "model=2", "--shard", "weight:w=[{},{model}]", "--shard", "weight:h=[{},{model},{}]"], 768),
          (["--mesh", "model=2", "--shard", "weight:w=[{model},{}]", "--shard", "weight:h=[{model},{},{}]"], 768)]


def check(folder, rows, matrices, random):
    x = random.standard_normal((rows, DEPTH), dtype=numpy.float32)
    (folder / "model.mlir").write_text(MODULE.format(m=rows, k=DEPTH, n=COLUMNS, h=HEADS, s=SIZE, bytes=4 * DEPTH * COLUMNS))
    numpy.save(folder / "x.npy", x)
    product = [x.astype(numpy.float64) @ matrix.astype(numpy.float64) for matrix in matrices]
    expected = folder / "expected"
    expected.mkdir(exist_ok=True)
    numpy.save(expected / "plain.npy", product[0].astype(numpy.float32))
    numpy.save(expected / "heads.npy", product[1].reshape(rows, HEADS, SIZE).transpose(1, 0, 2).astype(numpy.float32))
    for options, panel in SPLITS:
        weft("compile", folder / "model.mlir", *options, "-o", folder / "model.weft", "--quiet")
        program = weft("inspect", folder / "model.weft", "--program")
        panels = [line for line in program.splitlines() if f", {panel}]" in line and line.lstrip().startswith(("w ", "h "))]
        assert len(panels) == 2, f"{rows} rows {options}: expected panels of {panel} columns in\n{program}"
        weft("run", folder / "model.weft", "--input", f"x={folder / 'x.npy'}", "--expect", expected, "--tolerance", "1e-5", "--quiet")


def main():
    random = numpy.random.default_rng(7)
    matrices = random.standard_normal((2, DEPTH, COLUMNS), dtype=numpy.float32)
    with tempfile.TemporaryDirectory() as name:
        (pathlib.Path(name) / "w.bin").write_bytes(matrices.tobytes())
        for rows in [1, 5, 130]:
            check(pathlib.Path(name), rows, matrices, random)


if __name__ == "__main__":
    sys.exit(main())
