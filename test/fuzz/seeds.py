"""seeds.py FRONTEND FOLDER: small models of every kind of operator, to start a frontend's fuzzing from."""
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

TESTS = pathlib.Path(__file__).parents[1]
LARGEST = 16 << 10  # bytes: what is longer is slow to import and hides nothing that is shorter


def onnx(folder):
    """ONNX's own test models, and those of the lit tests."""
    for model in pathlib.Path("/usr/share/libonnx-testdata/data").glob("*/*/model.onnx"):
        if model.stat().st_size <= LARGEST:
            shutil.copy(model, folder / f"{model.parent.name}.onnx")
    for text in (TESTS / "frontends/onnx/Inputs").glob("*.textproto"):
        with open(text) as source, open(folder / f"{text.stem}.onnx", "wb") as target:
            protoc = ["protoc", "--encode=onnx.ModelProto", "-I/usr/include", "onnx/onnx.proto"]
            subprocess.run(protoc, stdin=source, stdout=target, check=True)


def stablehlo(folder):
    """What JAX wrote for the conformance suite."""
    with tarfile.open(TESTS / "conformance/jax/cases.tar.xz") as archive:
        for member in archive:
            if member.name.endswith(".mlir") and member.size <= LARGEST:
                (folder / member.name.replace("/", "_")).write_bytes(archive.extractfile(member).read())


def torch_export(folder):
    """What torch wrote for the conformance suite."""
    suite = TESTS / "conformance/torch"
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, suite / "unpack.py", suite / "cases.tar.xz", scratch], check=True)
        for model in pathlib.Path(scratch).glob("*/*.pt2"):
            if model.stat().st_size <= LARGEST:
                shutil.copy(model, folder / f"{model.parent.name}_{model.name}")


FRONTENDS = {"onnx": onnx, "stablehlo": stablehlo, "torch_export": torch_export}


def main():
    FRONTENDS[sys.argv[1]](pathlib.Path(sys.argv[2]))


if __name__ == "__main__":
    main()
