"""check_operations.py ROOT: what an operation computes is said in one place (docs/adding_an_operation.md).

Prints every use of an elementwise operation's class outside the files that may know single ones, and every use of one that consists of
others (DecomposableOpInterface) in compiler/Kernel; fails if there is one, or if a file that may is none any more.
"""
import pathlib
import re
import sys

FOLDERS = ("compiler", "dialects", "driver", "passes", "runtime", "tools")
# Where they are defined, interpreted, recognised in imported graphs, and built into losses and updates.
KNOW_ALL = ("dialects/Weft/IR", "compiler/Interpret", "passes/Import", "compiler/Training/Losses.cpp", "compiler/Training/Moments.cpp",
            "compiler/Training/Random.cpp", "compiler/Training/StepControl.cpp", "compiler/Training/UpdateRule.cpp")
KNOW_SOME = {
    "compiler/Kernel/FusionRoles.cpp": {"AttentionBackwardOp", "AttentionOp", "BarrierOp"},  # a library's reads views, as products do; keeps kernels apart
    "compiler/Kernel/Target.cpp": {"AttentionBackwardOp", "AttentionOp"},  # which a library does
    "compiler/Kernel/Arithmetic.cpp": {"CastOp"},           # names the functions that also load and store elements
    "compiler/Search/MakeProblem.cpp": {"BarrierOp"},       # what it reads lies until it is computed again
    "compiler/Search/ShardOptimizer.cpp": {"CastOp"},       # follows gradients through it, as through views
    "compiler/Search/SplitMicrobatches.cpp": {"CastOp"},    # sums of a wider type, which are rounded, and taken as they are
    "compiler/Sharding/FunctionGraph.cpp": {"CastOp"},      # follows the sharding of what it reads, as views do
    "compiler/Sharding/AssignStages.cpp": {"AddOp"},        # sums whose terms are gradients of one weight
    "compiler/Sharding/StageSums.cpp": {"AddOp"},           # parenthesises sums
    "compiler/Sharding/PhaseBuilder.cpp": {"BarrierOp"},    # is no computation
    "compiler/Sharding/Partitioner.cpp": {"BarrierOp"},     # blocks that are gathered once more, parts that wait
    "compiler/Sharding/RecomputedOps.cpp": {"BarrierOp"},   # before what is computed again
    "compiler/Training/Recompute.cpp": {"BarrierOp"},       # puts them in
    "dialects/Dist/IR/DistCanonicalize.cpp": {"AddOp", "SubOp"},  # sums of partial sums
    "passes/Lowering/DecomposeAttention.cpp": {"BarrierOp"},  # scores that are computed again
    "passes/Lowering/FormKernels.cpp": {"BarrierOp"},  # takes out what passes before it needed
}
DEFINITION = re.compile(r"^def Weft_(\w+Op) : ([^{;]*)", re.M)  # with what it is made of


def defined(root, file):
    return DEFINITION.findall((root / "dialects/Weft/IR" / file).read_text())


def uses(text, names):
    """Names of classes, but for operations of other dialects and in comments."""
    code = re.sub(r"//.*", "", text)
    return set(re.findall(r"(?<![\w:])(?:weft::)?(" + "|".join(names) + r")\b", code))


def problems(root):
    elementwise = [name for name, _ in defined(root, "WeftElementwise.td")]
    composed = [name for name, base in defined(root, "WeftSemantic.td") if "DecomposableOpInterface" in base or "Weft_NormOp<" in base]
    if len(elementwise) < 40 or len(composed) < 5:
        yield "WeftElementwise.td and WeftSemantic.td no longer define operations as this test reads them"
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".h", ".cpp") or name.startswith(KNOW_ALL):
                continue
            text = path.read_text(errors="replace")
            found, known = uses(text, elementwise), KNOW_SOME.get(name, set())
            if name.startswith("compiler/Kernel/"):
                found |= uses(text, composed)
            for each in sorted(found - known):
                yield f"{name}: knows {each}: ask an interface of it"
            for each in sorted(known - found):
                yield f"{name}: no longer knows {each}: take it from {pathlib.Path(__file__).name}"


def main():
    found = list(problems(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
