"""check_parametric.py: two parts on {data=2} each, and on {data=512} each, are executables of nearly the same bytes.

Nothing in a program is a rank's number, peers of messages neither: 1024 ranks have as many classes, instructions and, but for sizes
written with more digits, bytes as 4. A part on {data=512} that sends to one on {model=4} is no longer either.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROWS, WIDTH = 512, 16
KIND = f"tensor<{ROWS}x{WIDTH}xf32>"
MODEL = f"""module attributes {{weft.source = "chain.mlir"}} {{
  weft.weight @first : tensor<{WIDTH}x{WIDTH}xf32> = #weft.external<"weights.bin", 0, {4 * WIDTH * WIDTH}>
  weft.weight @second : tensor<{WIDTH}x{WIDTH}xf32> = #weft.external<"weights.bin", {4 * WIDTH * WIDTH}, {4 * WIDTH * WIDTH}>
  func.func @main(%x: {KIND} {{weft.name = "x"}}) -> ({KIND} {{weft.name = "y"}}) {{
    %first = weft.load @first : tensor<{WIDTH}x{WIDTH}xf32>
    %up = weft.dot_general %x, %first batch [] x [] contract [1] x [0] : ({KIND}, tensor<{WIDTH}x{WIDTH}xf32>) -> {KIND}
    %h = weft.gelu tanh %up : {KIND} loc("h")
    %second = weft.load @second : tensor<{WIDTH}x{WIDTH}xf32>
    %down = weft.dot_general %h, %second batch [] x [] contract [1] x [0] : ({KIND}, tensor<{WIDTH}x{WIDTH}xf32>) -> {KIND}
    %y = weft.add %down, %x : {KIND}
    return %y : {KIND}
  }}
}}
"""
LIMIT = 0.05


def compile_on(folder, mesh):
    """Bytes, rank classes and instructions of the model cut behind h."""
    executable = folder / "chain.weft"
    subprocess.run(["weft", "compile", folder / "chain.mlir", "--cut", "h", "--mesh", mesh, "--no-codegen", "--quiet", "-o", executable],
                   check=True)
    told = json.loads(subprocess.check_output(["weft", "inspect", executable, "--json"]))
    size = sum(file.stat().st_size for file in executable.rglob("*") if file.is_file())
    return size, told["rank_classes"], told["instructions"]


def main():
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "chain.mlir").write_text(MODEL)
        (folder / "weights.bin").write_bytes(bytes(8 * WIDTH * WIDTH))
        for few, many in (("data=2", "data=512"), ("data=2;model=4", "data=512;model=4")):
            (small, classes, instructions), (large, *other) = compile_on(folder, few), compile_on(folder, many)
            if other != [classes, instructions]:
                failures.append(f"{few}: {classes} classes of {instructions}; {many}: {other[0]} of {other[1]}")
            if abs(large - small) > LIMIT * small:
                failures.append(f"{small} bytes on {few}, {large} on {many}")
            print(f"{small} bytes on {few}, {large} on {many}")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
