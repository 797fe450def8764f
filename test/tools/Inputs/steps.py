"""steps.py: writes inputs of three steps for state.mlir, good and bad ones; steps.py CHECK…: evaluates what runs left.

In a check `load(path)` reads a .npy, or a tensor called `sum` from a .safetensors.
"""
import json
import struct
import sys

import numpy

X = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
N = numpy.array([1, 2, -1])
SUMS = 1 + numpy.cumsum(X * N[:, None].astype(numpy.float32), axis=0)


def safetensors(path, **arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        kind = {"float32": "F32", "int32": "I32"}[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def load(path):
    if not path.endswith(".safetensors"):
        return numpy.load(path)
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8 : 8 + size])["sum"]
    assert entry["dtype"] == "F32" and entry["shape"] == [4]
    return numpy.frombuffer(data[8 + size + entry["data_offsets"][0] :], "<f4")


def write_steps():
    numpy.savez("steps.npz", x=X, n=N)
    numpy.savez_compressed("deflated.npz", x=X, n=N)
    numpy.savez("missing.npz", x=X)
    numpy.savez("extra.npz", x=X, n=N, m=N)
    numpy.savez("unequal.npz", x=X, n=N[:2])
    numpy.savez("shape.npz", x=X[:, :3], n=N)
    numpy.savez("type.npz", x=X.astype(numpy.float64), n=N)
    numpy.savez("scalar.npz", x=X, n=N[0])
    numpy.savez("none.npz", x=X[:0], n=N[:0])
    numpy.savez("columns.npz", x=numpy.asfortranarray(X), n=N)
    good = open("steps.npz", "rb").read()
    open("short.npz", "wb").write(good[:300])
    at = good.index(X.tobytes())
    open("changed.npz", "wb").write(good[: at + 5] + bytes([good[at + 5] ^ 1]) + good[at + 6 :])
    open("text.npz", "w").write("no archive")
    numpy.save("x.npy", X[1]), numpy.save("n.npy", N[0])
    safetensors("two.safetensors", sum=numpy.full(4, 2, numpy.float32))
    safetensors("other.safetensors", total=numpy.zeros(4, numpy.float32))
    safetensors("more.safetensors", sum=numpy.zeros(4, numpy.float32), total=numpy.zeros(4, numpy.float32))
    safetensors("less.safetensors")
    safetensors("long.safetensors", sum=numpy.zeros(5, numpy.float32))
    safetensors("integers.safetensors", sum=numpy.zeros(4, numpy.int32))
    open("cut.safetensors", "wb").write(open("two.safetensors", "rb").read()[:-1])


def main():
    if len(sys.argv) == 1:
        write_steps()
    for check in sys.argv[1:]:
        assert eval(check), check


if __name__ == "__main__":
    main()
