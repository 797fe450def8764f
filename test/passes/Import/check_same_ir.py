"""check_same_ir.py FILE.mlir FILE.mlir…: whether modules are one but for names, and how weights lie in their files.

Compares the values that @main returns as expressions: operations with their attributes and types. A weight read through views, or looked up
at known positions (which exporters do beforehand), is known by the type that is read; constants are equal within the rounding of their tables; attention's rule for fully masked rows and whether indices may count from the end may differ.
"""
import re
import struct
import sys

OPERATION = re.compile(r"^\s*(%\w+(?:, %\w+)*) = (weft\.\w+) ?(.*)$")
VIEWS = ("weft.reshape", "weft.slice", "weft.transpose")


def rounded(text):
    """A constant's numbers with four digits; tables are written as bytes."""
    found = re.match(r'dense<"0x([0-9A-F]+)"> : (tensor<[\dx]*f32>)', text)
    if found:
        numbers = struct.unpack(f"<{len(found[1]) // 8}f", bytes.fromhex(found[1]))
        return found[2] + " ".join(f"{number:.4f}" for number in numbers).replace("-0.0000", "0.0000")
    return re.sub(r"-?\d+\.\d+([eE][+-]?\d+)?", lambda number: f"{float(number[0]):.4e}", text)


def read(path):
    """The numbered expressions of a module's results: one number an expression, whatever file it stands in."""
    values, results = {}, []
    with open(path) as lines:
        for line in lines:
            if "func.func @main" in line:
                for argument in re.findall(r"(%\w+):", line):
                    values[argument] = intern(("argument", argument))
            line = re.sub(r" loc\(.*", "", line.rstrip())
            found = OPERATION.match(line)
            if found:
                names, value = found[1].split(", "), number(found[2], found[3], values)
                values.update((name, value if len(names) == 1 else intern(("result", at, value))) for at, name in enumerate(names))
            elif line.strip().startswith("return "):
                results = [values[name] for name in re.findall(r"%\w+", line)]
    return results


table = {}


def intern(expression):
    return table.setdefault(expression, len(table))


def number(name, text, values):
    operands = tuple(values[operand] for operand in re.findall(r"%\w+", text))
    attributes = re.sub(r"%\w+", "%", text)
    kind = lambda operand: expressions()[operand][0]
    if name == "weft.load":
        return intern(("weight", text.rsplit(" : ", 1)[1]))
    if name == "weft.cast" and re.search(r"[<x]i64> to .*[<x]ui64>$", text):
        return operands[0]
    if name in VIEWS and kind(operands[0]) == "weight":
        return intern(("weight", re.split(r" to | -> ", text)[-1]))
    if name == "weft.gather" and (kind(operands[0]), kind(operands[1])) == ("weight", "weft.constant"):
        return intern(("weight", text.rsplit(" -> ", 1)[1]))
    if name == "weft.gather":
        attributes = attributes.replace("ui64", "i64")
    if name == "weft.constant":
        return intern((name, rounded(text)))
    if name == "weft.attention":
        attributes = re.sub(r"masked_rows \w+", "", attributes)
    return intern((name, attributes, operands))


def expressions():
    if len(expressions.all) < len(table):
        expressions.all.extend(list(table)[len(expressions.all):])
    return expressions.all


expressions.all = []


def first_difference(left, right):
    """Walks both expressions down to where they part."""
    a, b = expressions()[left], expressions()[right]
    if a[:-1] == b[:-1] and isinstance(a[-1], tuple) and isinstance(b[-1], tuple) and len(a[-1]) == len(b[-1]):
        for x, y in zip(a[-1], b[-1]):
            if x != y:
                return first_difference(x, y)
    return a, b


def main():
    first = read(sys.argv[1])
    if not first or None in first:
        sys.exit(f"{sys.argv[1]}: no results")
    for path in sys.argv[2:]:
        other = read(path)
        if first != other:
            a, b = first_difference(*next((x, y) for x, y in zip(first, other) if x != y))
            sys.exit(f"{sys.argv[1]} and {path} differ:\n  {str(a)[:300]}\n  {str(b)[:300]}")
    print(f"{len(sys.argv) - 1} modules, one program of {len(table)} values")


if __name__ == "__main__":
    main()
