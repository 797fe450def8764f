"""check_names.py ROOT: one word joins a pass's class, file, flag and test; passes say what they need, give and do; files stay short; the
README too."""
import pathlib
import re
import sys

LONGEST = 500
PASS = re.compile(r'^def\s+(\w+)\s*:\s*Pass<"([^"]+)"', re.M)


def kebab(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def pass_problems(root):
    for td in sorted(root.glob("passes/*/Passes.td")):
        phase = td.parent.name
        for name, flag in PASS.findall(td.read_text()):
            if flag != "weft-" + kebab(name):
                yield f"{td.relative_to(root)}: pass {name} has the flag {flag}, expected weft-{kebab(name)}"
            if not (td.parent / f"{name}.cpp").exists():
                yield f"passes/{phase}/{name}.cpp is missing"
            if not (root / f"test/passes/{phase}/{kebab(name)}.mlir").exists():
                yield f"test/passes/{phase}/{kebab(name)}.mlir is missing"
        for entry in re.split(r"^(?=def )", td.read_text(), flags=re.M)[1:]:
            for part in ("Precondition", "Postcondition", "```mlir"):
                if part not in entry:
                    yield f"{td.relative_to(root)}: the description of {entry.split()[1]} lacks {part}"


def length_problems(root):
    for folder in ("dialects", "compiler", "passes", "frontends", "driver", "examples", "runtime", "tools", "test"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".td", ".py"):
                lines = path.read_text(errors="replace").count("\n")
                if lines > LONGEST:
                    yield f"{path.relative_to(root)}: {lines} lines, at most {LONGEST}"
    lines = (root / "README.md").read_text().count("\n")
    if lines > 100:
        yield f"README.md: {lines} lines, at most 100"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = list(pass_problems(root)) + list(length_problems(root))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
