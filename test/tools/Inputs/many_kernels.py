"""many_kernels.py N: a module whose program calls N kernels, one for each of its arguments' sizes."""
import sys

count = int(sys.argv[1])
arguments = ", ".join(f'%x{i}: tensor<{i}xf32> {{weft.name = "x{i}"}}' for i in range(1, count + 1))
types = ", ".join(f"tensor<{i}xf32>" for i in range(1, count + 1))
results = ", ".join(f'tensor<{i}xf32> {{weft.name = "y{i}"}}' for i in range(1, count + 1))
print(f"func.func @main({arguments}) -> ({results}) {{")
for i in range(1, count + 1):
    print(f"  %y{i} = weft.exp %x{i} : tensor<{i}xf32>")
print(f"  return {', '.join(f'%y{i}' for i in range(1, count + 1))} : {types}\n}}")
