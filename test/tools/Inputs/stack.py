"""stack.py LAYERS BATCH: writes a module of LAYERS equal blocks (layer norm, an MLP of two products, a residual) over a batch."""
import sys

layers, batch = int(sys.argv[1]), int(sys.argv[2])
shape = f"tensor<{batch}x8xf32>"
wide = f"tensor<{batch}x16xf32>"
lines = ['module attributes {weft.source = "stack"} {']
for layer in range(layers):
    lines += [
        f'  weft.weight @"h.{layer}.scale" : tensor<8xf32> = dense<{1 + layer}.0> : tensor<8xf32>',
        f'  weft.weight @"h.{layer}.up" : tensor<8x16xf32> = dense<0.25> : tensor<8x16xf32>',
        f'  weft.weight @"h.{layer}.down" : tensor<16x8xf32> = dense<0.5> : tensor<16x8xf32>',
    ]
lines.append(f'  func.func @main(%x0: {shape} {{weft.name = "x"}}) -> ({shape} {{weft.name = "y"}}) {{')
for i in range(layers):
    lines += [
        f'    %s{i} = weft.load @"h.{i}.scale" : tensor<8xf32> loc("h.{i}.scale")',
        f'    %u{i} = weft.load @"h.{i}.up" : tensor<8x16xf32> loc("h.{i}.up")',
        f'    %d{i} = weft.load @"h.{i}.down" : tensor<16x8xf32> loc("h.{i}.down")',
        f'    %n{i} = weft.rms_norm %x{i} scale %s{i} : tensor<8xf32> axis 1 epsilon 1.0e-5 : {shape} loc("h.{i}.norm")',
        f'    %a{i} = weft.dot_general %n{i}, %u{i} batch [] x [] contract [1] x [0] : ({shape}, tensor<8x16xf32>) -> {wide} loc("h.{i}.a")',
        f'    %b{i} = weft.tanh %a{i} : {wide} loc("h.{i}.b")',
        f'    %c{i} = weft.dot_general %b{i}, %d{i} batch [] x [] contract [1] x [0] : ({wide}, tensor<16x8xf32>) -> {shape} loc("h.{i}.c")',
        f'    %x{i + 1} = weft.add %x{i}, %c{i} : {shape} loc("h.{i}.sum")',
    ]
lines += [f"    return %x{layers} : {shape}", "  }", "}"]
print("\n".join(lines))
