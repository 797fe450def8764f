"""check_includes.py ROOT: keeps the one include direction of the house.

tools → driver → passes, frontends → compiler → dialects → MLIR. The command itself includes passes and frontends through the driver
alone; examples know the driver and the runtime. The runtime includes nothing of those but .proto files, and gives away one thing, functions that kernels and its own loops share; `dist` includes `weft`, `exec` includes neither's operations. In the runtime, devices and transports know nothing of each other, and what
executes knows devices by their interface alone. Prints every include that goes against it, and fails if there is one.
"""
import pathlib
import re
import sys

ALLOWED = {
    "dialects": {"dialects"},
    "compiler": {"compiler", "dialects", "runtime/Program/executable.pb.h", "runtime/Support/FloatMath.h"},
    "passes": {"passes", "compiler", "dialects", "runtime/Program/executable.pb.h"},
    "frontends": {"frontends", "compiler", "dialects"},
    "runtime": {"runtime", "compiler/Plan/plan.pb.h"},
    "driver": {"driver", "passes", "frontends", "compiler", "dialects", "runtime"},
    "examples": {"driver", "runtime"},
    "tools": {"tools", "driver", "passes", "frontends", "compiler", "dialects", "runtime"},
}
PROTO = {"runtime/Program/executable.pb.h", "compiler/Plan/plan.pb.h"}
FLOORS = {
    "dialects/Support": {"dialects/Support"},
    "dialects/Weft": {"dialects/Weft", "dialects/Support"},
    "dialects/Dist": {"dialects/Dist", "dialects/Weft", "dialects/Support"},
    "dialects/Exec": {"dialects/Exec", "dialects/Support"},
    "runtime/Device": {"runtime/Device", "runtime/Support", *PROTO},
    "runtime/Cpu": {"runtime/Cpu", "runtime/Device", "runtime/Support"},
    "runtime/Cuda": {"runtime/Cuda", "runtime/Device", "runtime/Collective/Transport.h", "runtime/Support", *PROTO},
    "runtime/Collective": {"runtime/Collective", "runtime/Support", *PROTO},
    "runtime/Checkpoint": {"runtime/Checkpoint", "runtime/Io", "runtime/Support"},
    "runtime/Executor": {"runtime/Executor", "runtime/Checkpoint", "runtime/Device", "runtime/Collective", "runtime/Io", "runtime/Program",
                         "runtime/Support", "runtime/Cpu/CpuDevice.h"},
    "tools/weft": {"tools/weft", "driver", "compiler", "runtime"},
}
# The one place of the executor that knows where the host may touch a device's memory.
POINTERS, THEIR_PLACE = re.compile(r"\bgetHostPointer\b|\bgetValue\(\)"), "runtime/Executor/Staging.cpp"
FOREIGN_TO_RUNTIME = re.compile(r'#\s*include\s*[<"](mlir|llvm)/')
INCLUDE = re.compile(r'#\s*include\s*"([^"]+)"|^\s*include\s+"([^"]+)"', re.M)


def allowed(target, permitted):
    return any(target == entry or target.startswith(entry + "/") for entry in permitted)


def problems(root, path):
    name = path.relative_to(root).as_posix()
    text = path.read_text(errors="replace")
    folder = name.split("/")[0]
    if folder == "runtime" and FOREIGN_TO_RUNTIME.search(text):
        yield f"{name}: the runtime includes MLIR or LLVM"
    if name.startswith("runtime/Executor/") and name != THEIR_PLACE and POINTERS.search(text):
        yield f"{name}: takes a device's address for a pointer"
    permitted = ALLOWED[folder]
    for floor, inner in FLOORS.items():
        if name.startswith(floor + "/"):
            permitted = inner
    for match in INCLUDE.finditer(text):
        target = match.group(1) or match.group(2)
        if target.split("/")[0] not in ALLOWED and not target.startswith("test/"):
            continue
        if not allowed(target, permitted):
            yield f"{name}: includes {target}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found, seen = [], 0
    for folder in ALLOWED:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".td", ".inc"):
                seen += 1
                found += problems(root, path)
    print("\n".join(found))
    if seen < 20:
        print(f"only {seen} source files found under {root}: is this the root?")
    sys.exit(1 if found or seen < 20 else 0)


if __name__ == "__main__":
    main()
