"""Models of one node, with what they must compute."""
import subprocess

import numpy as np

KINDS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6}


def attribute(name, value):
    if isinstance(value, int):
        return f'attribute {{ name: "{name}" type: INT i: {value} }}'
    if isinstance(value, str):
        return f'attribute {{ name: "{name}" type: STRING s: "{value}" }}'
    kind, entry = ("INTS", "ints: {}") if isinstance(value[0], int) else ("STRINGS", 'strings: "{}"')
    return f'attribute {{ name: "{name}" type: {kind} {" ".join(entry.format(part) for part in value)} }}'


def value_info(kind, name, array):
    dims = " ".join(f"dim {{ dim_value: {size} }}" for size in array.shape)
    return f'{kind} {{ name: "{name}" type {{ tensor_type {{ elem_type: {KINDS[str(array.dtype)]} shape {{ {dims} }} }} }} }}'


def check_node(folder, name, op, inputs, outputs, attributes, tolerance=1e-5):
    """Runs the operator on (name, array) inputs; the outputs must be equal but for the tolerance."""
    node = " ".join([f'op_type: "{op}"', *(f'input: "{key}"' for key, _ in inputs), *(f'output: "{key}"' for key, _ in outputs),
                     *(attribute(*pair) for pair in attributes.items())])
    infos = [value_info("input", *pair) for pair in inputs] + [value_info("output", *pair) for pair in outputs]
    text = f'ir_version: 10\nopset_import {{ version: 21 }}\ngraph {{\n  name: "g"\n  node {{ {node} }}\n  ' + "\n  ".join(infos) + "\n}\n"
    model, executable = folder / f"{name}.onnx", folder / f"{name}.weft"
    with open(model, "w") as target:
        subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I/usr/include", "onnx/onnx.proto"], input=text, text=True, stdout=target,
                       check=True)
    for part, pairs in (("inputs", inputs), ("outputs", outputs)):
        (folder / name / part).mkdir(parents=True)
        for key, array in pairs:
            np.save(folder / name / part / f"{key}.npy", array)
    subprocess.run(["weft", "compile", model, "-o", executable, "--quiet"], check=True)
    subprocess.run(["weft", "run", executable, "--input-dir", folder / name / "inputs", "--expect", folder / name / "outputs",
                    "--tolerance", str(tolerance), "--quiet"], check=True)
    print(name, "equal")
