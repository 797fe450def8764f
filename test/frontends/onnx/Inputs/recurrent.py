"""recurrent.py FOLDER: LSTM, GRU and RNN nodes in ways that ONNX's own tests leave out, against numpy, from the definitions."""
import pathlib
import sys

import numpy as np
from nodes import check_node

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


def write(folder, op, step, gates, direction, **attributes):
    directions = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    draw = lambda *shape: RNG.uniform(-1, 1, shape).astype(np.float32)
    count, rows = len(directions), gates * HIDDEN
    operands = [draw(TIME, BATCH, WIDTH), draw(count, rows, WIDTH), draw(count, rows, HIDDEN), draw(count, 2 * rows), LENGTHS,
                draw(count, BATCH, HIDDEN), draw(count, BATCH, HIDDEN), draw(count, 3 * HIDDEN)]
    results = run(step, operands, attributes, directions)
    inputs = list(zip("XWRBLHCP", operands))
    outputs = [(name, array.astype(np.float32)) for name, array in zip(("Y", "Y_h", "Y_c"), results)]
    if op != "LSTM":
        inputs, outputs = inputs[:6], outputs[:2]
    if op == "RNN":
        attributes["activations"] = ["Relu"] * count
    check_node(folder, f"{op}_{direction}", op, inputs, outputs, attributes | {"direction": direction, "hidden_size": HIDDEN})


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
