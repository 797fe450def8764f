"""run_reference.py MODELS FOLDER NAME…: compiles and runs NAME/model.pt2, and compares with the recorded outputs by their order."""
import json
import os
import shutil
import subprocess
import sys

models, folder = sys.argv[1:3]
for name in sys.argv[3:]:
    source = f"{models}/{name}"
    outputs = list(json.load(open(f"{source}/meta.json"))["outputs"])
    expected = f"{folder}/{name}"
    os.makedirs(expected)
    for index, output in enumerate(outputs):
        own = "output" if len(outputs) == 1 else f"output_{index}"
        shutil.copy(f"{source}/outputs/{output}.npy", f"{expected}/{own}.npy")
    for mesh in ("data=1", "data=2,model=2"):
        program = f"{folder}/{name}.weft"
        subprocess.run(["weft", "compile", f"{source}/model.pt2", "--mesh", mesh, "-o", program, "--quiet"], check=True)
        subprocess.run(["weft", "run", program, "--input-dir", f"{source}/inputs", "--output-dir", f"{folder}/out", "--expect", expected,
                        "--tolerance", "1e-4", "--quiet"], check=True)
