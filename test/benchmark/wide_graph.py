"""wide_graph.py NODES -o F.mlir: writes a graph of so many operations of which no two parts are alike.

Chains of small products, sums and functions whose extents differ: nothing repeats, so that whatever looks at all operations is seen to.
"""
import argparse
import random


def write(nodes, out):
    draw = random.Random(1)
    lines, values, weights = [], [("%x", 64)], {}
    while len(lines) < nodes:
        number, (name, width) = len(lines), values[-1]
        kind = draw.random()
        if kind < 0.2:
            wide = 8 * draw.randrange(4, 64)
            weights[f"w{number}"] = (width, wide)
            lines.append(f"%l{number} = weft.load @w{number} : tensor<{width}x{wide}xf32>")
            lines.append(f"%v{number} = weft.dot_general {name}, %l{number} batch [] x [] contract [1] x [0] : "
                         f"(tensor<64x{width}xf32>, tensor<{width}x{wide}xf32>) -> tensor<64x{wide}xf32>")
            values.append((f"%v{number}", wide))
            continue
        like = [other for other, extent in values[-40:] if extent == width]
        op = f"weft.add {name}, {draw.choice(like)}" if kind < 0.6 else f"weft.{draw.choice(['exp', 'tanh', 'sqrt', 'sin'])} {name}"
        lines.append(f"%v{number} = {op} : tensor<64x{width}xf32>")
        values.append((f"%v{number}", width))
    with open(out, "w") as f:
        for name, (rows, columns) in weights.items():
            f.write(f"weft.weight @{name} : tensor<{rows}x{columns}xf32> = dense<0.0> : tensor<{rows}x{columns}xf32>\n")
        f.write(f"func.func @main(%x: tensor<64x64xf32>) -> tensor<64x{values[-1][1]}xf32> {{\n")
        f.writelines(f"  {line}\n" for line in lines)
        f.write(f"  return {values[-1][0]} : tensor<64x{values[-1][1]}xf32>\n}}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", type=int)
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    write(options.nodes, options.output)


if __name__ == "__main__":
    main()
