"""check_constraints.py ROOT [TESTS]: every numbered constraint of a dialect has a negative test that names it.

Constraints are the lines `- C1: …` in the descriptions of dialects, attributes and operations, as llvm-tblgen reads them from
dialects/*/IR/*Ops.td. A test names one by a comment above what is expected, in TESTS (default: ROOT/test/dialects):

    // C2 of weft.conv
    // expected-error @+1 {{expected channels and outputs to be multiples of groups, got: 2, 6, 3}}

Prints what is wrong, and fails if anything is: constraints that no test names, constraints that are not numbered from C1 on, what verifies
itself but states no constraint, tests that name no constraint, or name one where no error is expected or its operation does not stand.
"""
import json
import pathlib
import re
import subprocess
import sys

CONSTRAINT = re.compile(r"^\s*- C(\d+):", re.M)
MARK = re.compile(r"^\s*// C(\d+) of (\S+)$")
INCLUDES = "/usr/lib/llvm-22/include"


def name_of(records, record):
    """`weft.conv` of an operation, `dist.sharding` of an attribute, `dist` of a dialect; None of anything else."""
    kinds = record.get("!superclasses", [])
    if "Dialect" in kinds:
        return record["name"]
    if "Op" in kinds:
        return f"{records[record['opDialect']['def']]['name']}.{record['opName']}"
    if "AttrDef" in kinds and record["mnemonic"]:
        return f"{records[record['dialect']['def']]['name']}.{record['mnemonic']}"
    return None


def verifies(records, record):
    """Whether C++ checks it, beyond its operands' and attributes' types."""
    traits = [records.get(trait["def"], {}) for trait in record.get("traits") or []]
    flags = ("hasVerifier", "hasRegionVerifier", "genVerifyDecl", "hasOperationAttrVerify")
    return any(record.get(flag) for flag in flags) or any(trait.get("cppInterfaceName") == "SymbolUserOpInterface" for trait in traits)


def read_records(root, td):
    text = subprocess.run(["llvm-tblgen", "--dump-json", f"-I{root}", f"-I{INCLUDES}", td], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)


def constraints_of(root):
    """The numbers of the constraints of everything that has any, the names of operations, and what is wrong."""
    found, operations, problems = {}, set(), []
    for td in sorted(root.glob("dialects/*/IR/*Ops.td")):
        records = read_records(root, td)
        for record in records.values():
            name = isinstance(record, dict) and name_of(records, record)
            if not name or name.split(".")[0] != td.parent.parent.name.lower():
                continue
            if "opName" in record:
                operations.add(name)
            numbers = [int(number) for number in CONSTRAINT.findall(record.get("description") or "")]
            if numbers != list(range(1, len(numbers) + 1)):
                problems.append(f"{name}: constraints are numbered {numbers}")
            if not numbers and verifies(records, record):
                problems.append(f"{name} has a verifier, but states no constraint")
            if numbers:
                found[name] = set(numbers)
    return found, operations, problems


def sections_of(path):
    """The sections of a test that is split, each as numbered lines."""
    lines = list(enumerate(path.read_text().splitlines(), 1))
    section = []
    for number, line in lines:
        if line.startswith("// -----"):
            yield section
            section = []
        else:
            section.append((number, line))
    yield section


def tests_of(folder, constraints, operations):
    """The pairs (name, number) that tests name, and what is wrong with how they do."""
    named, problems = set(), []
    for path in sorted(folder.glob("*/*.mlir")):
        for section in sections_of(path):
            code = "\n".join(line for _, line in section if not line.lstrip().startswith("//"))
            for index, (number, line) in enumerate(section):
                match = MARK.match(line)
                if not match:
                    continue
                place, pair = f"{path}:{number}", (match[2], int(match[1]))
                named.add(pair)
                if pair[1] not in constraints.get(pair[0], ()):
                    problems.append(f"{place}: there is no constraint C{pair[1]} of {pair[0]}")
                if index + 1 == len(section) or "expected-error" not in section[index + 1][1]:
                    problems.append(f"{place}: no error is expected")
                # Attributes stand in the syntax of operations, without their names; members of programs without their dialect's.
                if pair[0] in operations and not re.search(rf"\b{pair[0].split('.')[1]}\b", code):
                    problems.append(f"{place}: the section has no {pair[0]}")
    return named, problems


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "test" / "dialects"
    constraints, operations, problems = constraints_of(root)
    named, wrong = tests_of(folder, constraints, operations)
    count = sum(map(len, constraints.values()))
    for name, numbers in sorted(constraints.items()):
        problems += [f"C{number} of {name} has no negative test" for number in sorted(numbers) if (name, number) not in named]
    print("\n".join([*problems, *wrong, f"{count} constraints"]))
    sys.exit(1 if problems or wrong or count == 0 else 0)


if __name__ == "__main__":
    main()
