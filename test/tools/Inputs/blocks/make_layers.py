"""make_layers.py LAYERS: a decoder without weights' contents: embedding, layers of attention and MLP, head on the embedding's weight."""
import sys

layers = int(sys.argv[1])
width, tokens, words, heads = 64, 32, 512, 4
weights, body = [], []
sizes = {"tensor<512x64xf32>": 131072, "tensor<64xf32>": 256, "tensor<64x64xf32>": 16384, "tensor<64x256xf32>": 65536, "tensor<256x64xf32>": 65536}


def load(name, shape):
    kind = f"tensor<{shape}xf32>"
    weights.append(f'weft.weight @{name} : {kind} = #weft.external<"absent.bin", 0, {sizes[kind]}>')
    body.append(f"  %{name} = weft.load @{name} : {kind} loc(\"{name}\")")
    return f"%{name}"


def product(result, x, rows, w, columns):
    body.append(f"  %{result} = weft.dot_general {x}, {w} batch [] x [] contract [2] x [0] : "
                f"(tensor<2x{tokens}x{rows}xf32>, tensor<{rows}x{columns}xf32>) -> tensor<2x{tokens}x{columns}xf32> loc(\"{result}\")")
    return f"%{result}"


def split(result, x):
    body.append(f"  %{result}s = weft.reshape {x} : tensor<2x{tokens}x{width}xf32> to tensor<2x{tokens}x{heads}x{width // heads}xf32>")
    body.append(f"  %{result} = weft.transpose %{result}s [0, 2, 1, 3] : tensor<2x{tokens}x{heads}x{width // heads}xf32> -> "
                f"tensor<2x{heads}x{tokens}x{width // heads}xf32>")
    return f"%{result}"


hidden = f"tensor<2x{tokens}x{width}xf32>"
table = load("table", f"{words}x{width}")
body.append(f"  %x0 = weft.gather {table}, %ids axis 0 : (tensor<{words}x{width}xf32>, tensor<2x{tokens}xi64>) -> {hidden} loc(\"embed\")")
for i in range(layers):
    scale = load(f"h{i}_norm", f"{width}")
    body.append(f"  %n{i} = weft.rms_norm %x{i} scale {scale} : tensor<{width}xf32> axis 2 epsilon 1.0e-05 : {hidden}")
    parts = [split(f"{k}{i}", product(f"h{i}_{k}_out", f"%n{i}", width, load(f"h{i}_{k}", f"{width}x{width}"), width)) for k in "qkv"]
    head = f"tensor<2x{heads}x{tokens}x{width // heads}xf32>"
    body.append(f"  %a{i} = weft.attention {', '.join(parts)} scale 0.25 causal masked_rows nan : ({head}, {head}, {head}) -> {head}")
    body.append(f"  %b{i} = weft.transpose %a{i} [0, 2, 1, 3] : {head} -> tensor<2x{tokens}x{heads}x{width // heads}xf32>")
    body.append(f"  %c{i} = weft.reshape %b{i} : tensor<2x{tokens}x{heads}x{width // heads}xf32> to {hidden}")
    out = product(f"h{i}_o_out", f"%c{i}", width, load(f"h{i}_o", f"{width}x{width}"), width)
    body.append(f"  %y{i} = weft.add %x{i}, {out} : {hidden}")
    up = product(f"h{i}_up_out", f"%y{i}", width, load(f"h{i}_up", f"{width}x{4 * width}"), 4 * width)
    body.append(f"  %g{i} = weft.gelu erf {up} : tensor<2x{tokens}x{4 * width}xf32>")
    down = product(f"h{i}_down_out", f"%g{i}", 4 * width, load(f"h{i}_down", f"{4 * width}x{width}"), width)
    body.append(f"  %x{i + 1} = weft.add %y{i}, {down} : {hidden} loc(\"h.{i}\")")
body.append(f"  %logits = weft.dot_general %x{layers}, {table} batch [] x [] contract [2] x [1] : ({hidden}, tensor<{words}x{width}xf32>) -> "
            f"tensor<2x{tokens}x{words}xf32> loc(\"logits\")")
print("\n".join(weights))
print(f"func.func @main(%ids: tensor<2x{tokens}xi64> {{weft.name = \"ids\"}}) -> (tensor<2x{tokens}x{words}xf32> {{weft.name = \"logits\"}}) {{")
print("\n".join(body))
print(f"  return %logits : tensor<2x{tokens}x{words}xf32>\n}}")
