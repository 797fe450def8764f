"""constant.py N: writes a StableHLO function that multiplies a tensor by N different constants."""
import sys

count = int(sys.argv[1])
vector, matrix = f"tensor<{count}xf32>", f"tensor<4x{count}xf32>"
numbers = ", ".join(f"{i}.5" for i in range(count))
print(f'''"builtin.module"() <{{sym_name = "scaled"}}> ({{
  "func.func"() <{{function_type = ({matrix}) -> {matrix}, sym_name = "main", sym_visibility = "public"}}> ({{
  ^bb0(%x: {matrix} loc("x")):
    %scale = "stablehlo.constant"() <{{value = dense<[{numbers}]> : {vector}}}> : () -> {vector}
    %wide = "stablehlo.broadcast_in_dim"(%scale) <{{broadcast_dimensions = array<i64: 1>}}> : ({vector}) -> {matrix}
    %y = "stablehlo.multiply"(%x, %wide) : ({matrix}, {matrix}) -> {matrix}
    "func.return"(%y) : ({matrix}) -> ()
  }}) : () -> ()
}}) : () -> ()''')
