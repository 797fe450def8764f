"""check_ptxas.py KERNELCASES FOLDER: assembles the kernels of each .mlir file of the folder for several chips."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

CHIPS = ["sm_80", "sm_90", "sm_100"]


def main():
    ptxas = shutil.which("ptxas", path="/usr/local/cuda/bin") or shutil.which("ptxas")
    if not ptxas:
        print("SKIP: no ptxas")
        return 0
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(pathlib.Path(sys.argv[2]).glob("*.mlir")):
            ptx = pathlib.Path(folder) / f"{file.stem}.ptx"
            ptx.write_bytes(subprocess.run([sys.argv[1], file, "--ptx"], check=True, capture_output=True).stdout)
            for chip in CHIPS:
                done = subprocess.run([ptxas, f"-arch={chip}", ptx, "-o", ptx.with_suffix(".cubin")], capture_output=True, text=True)
                if done.returncode:
                    failures += 1
                    print(f"{file.name} for {chip}: {done.stderr[:1000]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
