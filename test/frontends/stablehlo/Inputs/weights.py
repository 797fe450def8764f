"""weights.py FOLDER: what --weights does with files that fit, do not fit, or are no such files."""
import json
import pathlib
import re
import struct
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
MODEL = folder / "model.mlir"
MODEL.write_text(""""builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf32>, tensor<2xf32>) -> tensor<3xf32>, sym_name = "main"}> ({
  ^bb0(%w: tensor<2x3xf32> loc("params['layer'][0].w"), %x: tensor<2xf32> loc("x")):
    %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<2xf32>, tensor<2x3xf32>) -> tensor<3xf32>
    "func.return"(%y) : (tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
""")


def write(name, entries, data):
    header = json.dumps(entries).encode()
    (folder / name).write_bytes(struct.pack("<Q", len(header)) + header + data)
    return folder / name


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def check(what, files, code, *messages):
    arguments = [part for file in files for part in ("--weights", file)]
    done = subprocess.run(["weft", "import", MODEL, "--raw", *arguments], capture_output=True, text=True, timeout=60)
    text = done.stdout + done.stderr
    missing = [message for message in messages if message not in text]
    if done.returncode != code or missing:
        print(f"{what}: exit {done.returncode}, without {missing}:\n{text[:800]}")
        sys.exit(1)


SIX = struct.pack("<6f", *range(6))
for name in ("layer.0.w", "layer/0/w", "params.layer.0.w", "params['layer'][0].w"):
    entries = {"__metadata__": {"format": "pt"}, name: entry("F32", [2, 3], 4, 28)}
    offset = 8 + len(json.dumps(entries).encode()) + 4
    check(name, [write("good.safetensors", entries, b"else" + SIX)], 0, f"@{name}" if re.fullmatch(r"[\w.]+", name) else f'@"{name}"',
          f'#weft.external<"good.safetensors", {offset}, 24>', 'weft.name = "x"')
check("other", [write("other.safetensors", {"v": entry("F32", [6], 0, 24)}, SIX)], 0,
      "warning: ", "1 of 1 weights are no arguments of the model: 'v'", '''weft.name = "params['layer'][0].w"''')
check("shape", [write("shape.safetensors", {"layer.0.w": entry("F32", [3, 2], 0, 24)}, SIX)], 3,
      "argument 'params['layer'][0].w': it is 2x3xf32, but weight 'layer.0.w' in", "is 3x2xf32")
check("type", [write("type.safetensors", {"layer.0.w": entry("F16", [2, 3], 0, 12)}, SIX[:12])], 3, "is 2x3xf16")
check("unknown type", [write("f8.safetensors", {"layer.0.w": entry("F8_E4M3", [2, 3], 0, 6)}, SIX[:6])], 3, "is of type F8_E4M3, which is not supported")
check("twice", [folder / "good.safetensors", write("copy.safetensors", {"params['layer'][0].w": entry("F32", [2, 3], 0, 24)}, SIX)], 3, "and in")
check("length", [write("length.safetensors", {"w": entry("F32", [2, 3], 0, 20)}, SIX)], 3, "tensor 'w': its shape needs 24 bytes, but it holds 20")
check("beyond", [write("beyond.safetensors", {"w": entry("F32", [2, 3], 0, 24)}, SIX[:12])], 3, "lie beyond the end of its data, which has 12")
check("absent", [folder / "absent.safetensors"], 3, "it cannot be opened")
(folder / "short.safetensors").write_bytes(b"abc")
check("short", [folder / "short.safetensors"], 3, "it is too short for a safetensors file")
(folder / "noise.safetensors").write_bytes(b"\xff" * 64)
check("noise", [folder / "noise.safetensors"], 3, "it is no safetensors file")
(folder / "text.safetensors").write_bytes(struct.pack("<Q", 4) + b"nope")
check("text", [folder / "text.safetensors"], 3, "its header is not JSON")
check("fields", [write("fields.safetensors", {"w": {"dtype": "F32"}}, SIX)], 3, "tensor 'w': ")
