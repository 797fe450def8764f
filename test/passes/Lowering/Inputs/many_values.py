"""many_values.py FIRST LAST: for each number of values, two parts of one mesh between which so many pass."""
import sys

MATRIX = "tensor<2x2xf32>"


def write(count):
    many = lambda prefix: ", ".join(f"{prefix}{i}" for i in range(count))
    types = ", ".join([MATRIX] * count)
    product = lambda to, left, right: f"  {to} = weft.dot_general {left}, {right} batch [] x [] contract [1] x [0] : ({MATRIX}, {MATRIX}) -> {MATRIX}"
    print("dist.mesh @a <[]>")
    print(f"func.func @part0(%x: {MATRIX}) -> ({types}) attributes {{dist.mesh = @a}} {{")
    for i in range(count):
        print(product(f"%h{i}", f"%h{i - 1}" if i else "%x", "%x"))
    print(f"  return {many('%h')} : {types}\n}}")
    print(f"func.func @part1({', '.join(f'%h{i}: {MATRIX}' for i in range(count))}) -> ({types}) attributes {{dist.mesh = @a}} {{")
    for i in range(count):
        print(product(f"%y{i}", f"%h{i}", f"%h{i}"))
    print(f"  return {many('%y')} : {types}\n}}")
    print(f"func.func @main(%x: {MATRIX}) -> ({types}) {{")
    print(f"  %0:{count} = call @part0(%x) : ({MATRIX}) -> ({types})")
    print(f"  %1:{count} = call @part1({many('%0#')}) : ({types}) -> ({types})")
    print(f"  return {many('%1#')} : {types}\n}}")


def main():
    first, last = map(int, sys.argv[1:])
    for number in range(first, last):
        if number > first:
            print("// -----")
        write(number)


if __name__ == "__main__":
    main()
