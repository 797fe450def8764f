"""foreign.py FOLDER PLAN: gives `weft import` files that are no models, by the names that people give them; prints what it says of each."""
import gzip
import json
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np

folder = sys.argv[1]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(f"{folder}/x.weft")
os.makedirs(f"{folder}/saved")
os.makedirs(f"{folder}/none")
os.makedirs(f"{folder}/some")


def write(name, data):
    with open(f"{folder}/{name}", "wb") as file:
        file.write(data)


table = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
graph = b"\x08\x08\x12\x04test"
np.save(f"{folder}/x.npy", np.zeros(3))
np.savez(f"{folder}/x.npz", x=np.zeros(3))
write("x.safetensors", len(table).to_bytes(8, "little") + table + bytes(4))
write("safetensors.onnx", len(table).to_bytes(8, "little") + table + bytes(4))
write("x.weft/executable.pb", b"WEFTEXE\0" + bytes(24))
write("saved/saved_model.pb", graph)
write("some/b.pt2", b"PK\5\6" + bytes(18))
write("some/a.onnx", graph)
write("x.onnx", graph)
write("x.onnx.data", bytes(range(256)) * 8)
write("x.gguf", b"GGUF" + bytes(60))
write("x.h5", b"\x89HDF\r\n\x1a\n" + bytes(60))
write("x.tflite", bytes(4) + b"TFL3" + bytes(60))
write("x.pt", pickle.dumps({"w": 1}, protocol=2))
write("x.onnx.gz", gzip.compress(graph))
write("config.json", b'{\n  "model_type": "gpt2"\n}\n')
write("tokens.json", b'{\n  "vocab": {}\n}\n')
write("empty.onnx", b"")
write("noise.bin", b"\xff\xfe" + bytes(range(256)))
write("notes.txt", b"no model at all\n")
shutil.copy(sys.argv[2], f"{folder}/x.txtpb")
shutil.copy("/proc/self/exe", f"{folder}/program")
for name in ["x.npy", "x.npz", "x.safetensors", "safetensors.onnx", "x.weft", "x.weft/executable.pb", "saved", "some", "none", "x.onnx.data", "x.gguf", "x.h5",
             "x.tflite", "x.pt", "x.onnx.gz", "config.json", "tokens.json", "empty.onnx", "noise.bin", "notes.txt", "x.txtpb", "program", "absent.onnx"]:
    done = subprocess.run(["weft", "import", f"{folder}/{name}"], capture_output=True, text=True)
    print(f"{name}: exit {done.returncode}: {done.stderr.strip().replace(folder + '/', '')}")
