"""recurrent.py FOLDER: LSTM, GRU and RNN nodes in ways that ONNX's own tests leave out, against numpy, from the definitions."""
import pathlib
import subprocess
import sys

import numpy as np

TIME, BATCH, WIDTH, HIDDEN = 5, 3, 4, 2
RNG = np.random.default_rng(5)
LENGTHS = np.array([5, 2, 3], np.int32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, h, c, w, r, b, p, attributes):
    i, o, f, g = np.split(x @ w.T + h @ r.T + b[:8] + b[8:], 4, axis=1)
    i = sigmoid(i + p[:2] * c)
    f = 1 - i if attributes.get("input_forget") else sigmoid(f + p[4:] * c)
    c = f * c + i * np.tanh(g)
    return sigmoid(o + p[2:4] * c) * np.tanh(c), c


def gru(x, h, c, w, r, b, p, attributes):
    zx, rx, nx = np.split(x @ w.T + b[:6], 3, axis=1)
    rz, rr, rn = np.split(r, 3)
    bz, br, bn = np.split(b[6:], 3)
    keep, reset = sigmoid(zx + h @ rz.T + bz), sigmoid(rx + h @ rr.T + br)
    kept = reset * (h @ rn.T + bn) if attributes.get("linear_before_reset") else (reset * h) @ rn.T + bn
    return (1 - keep) * np.tanh(nx + kept) + keep * h, c


def rnn(x, h, c, w, r, b, p, attributes):
    return np.maximum(x @ w.T + h @ r.T + b[:2] + b[2:], 0), c


def run(step, operands, attributes, directions):
    x, w, r, b, lengths, h, c, p = operands
    y, h, c = np.zeros((TIME, len(directions), BATCH, HIDDEN)), h.copy(), c.copy()
    for d, backward in enumerate(directions):
        for n, length in enumerate(lengths):
            for t in reversed(range(length)) if backward else range(length):
                own = [a[d, n:n + 1] for a in (h, c)]
                h[d, n], c[d, n] = (a[0] for a in step(x[t, n:n + 1], *own, w[d], r[d], b[d], p[d], attributes))
                y[t, d, n] = h[d, n]
    return y, h, c


def attribute(name, value):
    if isinstance(value, int):
        return f'attribute {{ name: "{name}" type: INT i: {value} }}'
    if isinstance(value, str):
        return f'attribute {{ name: "{name}" type: STRING s: "{value}" }}'
    return f'attribute {{ name: "{name}" type: STRINGS {" ".join(f"strings: {chr(34)}{v}{chr(34)}" for v in value)} }}'


def value_info(kind, name, array):
    dims = " ".join(f"dim {{ dim_value: {size} }}" for size in array.shape)
    return f'{kind} {{ name: "{name}" type {{ tensor_type {{ elem_type: {6 if array.dtype == np.int32 else 1} shape {{ {dims} }} }} }} }}'


def write(folder, op, step, gates, direction, **attributes):
    directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    draw = lambda *shape: RNG.uniform(-1, 1, shape).astype(np.float32)
    count, rows = len(directions), gates * HIDDEN
    operands = [draw(TIME, BATCH, WIDTH), draw(count, rows, WIDTH), draw(count, rows, HIDDEN), draw(count, 2 * rows), LENGTHS,
                draw(count, BATCH, HIDDEN), draw(count, BATCH, HIDDEN), draw(count, 3 * HIDDEN)]
    results = run(step, operands, attributes, directions)
    inputs, outputs = list(zip("XWRBLHCP", operands)), list(zip(("Y", "Y_h", "Y_c"), results))
    if op != "LSTM":
        inputs, outputs = inputs[:6], outputs[:2]
    if op == "RNN":
        attributes["activations"] = ["Relu"] * count
    texts = [attribute(*pair) for pair in (attributes | {"direction": direction, "hidden_size": HIDDEN}).items()]
    node = " ".join([f'op_type: "{op}"', *(f'input: "{name}"' for name, _ in inputs), *(f'output: "{name}"' for name, _ in outputs), *texts])
    infos = [value_info("input", *pair) for pair in inputs] + [value_info("output", *pair) for pair in outputs]
    name = f"{op}_{direction}"
    (folder / f"{name}.textproto").write_text("ir_version: 9\nopset_import { version: 20 }\ngraph {\n  name: \"g\"\n  node { "
                                              + node + " }\n  " + "\n  ".join(infos) + "\n}\n")
    for part, pairs in (("inputs", inputs), ("outputs", outputs)):
        (folder / name / part).mkdir(parents=True)
        for key, array in pairs:
            np.save(folder / name / part / f"{key}.npy", array if array.dtype == np.int32 else array.astype(np.float32))
    check(folder, name)


def check(folder, name):
    text, model, executable = (folder / f"{name}.{kind}" for kind in ("textproto", "onnx", "weft"))
    with open(text) as source, open(model, "w") as target:
        subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I/usr/include", "onnx/onnx.proto"], stdin=source, stdout=target, check=True)
    subprocess.run(["weft", "compile", model, "-o", executable, "--quiet"], check=True)
    subprocess.run(["weft", "run", executable, "--input-dir", folder / name / "inputs", "--expect", folder / name / "outputs",
                    "--tolerance", "1e-5", "--quiet"], check=True)
    print(name, "equal")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, "LSTM", lstm, 4, "bidirectional")
    write(folder, "LSTM", lstm, 4, "reverse", input_forget=1)
    write(folder, "GRU", gru, 3, "bidirectional", linear_before_reset=1)
    write(folder, "GRU", gru, 3, "reverse")
    write(folder, "RNN", rnn, 1, "bidirectional")


if __name__ == "__main__":
    main()
