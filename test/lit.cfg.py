"""lit settings: every .mlir and .test file is a test, by its RUN lines; bin/unit binaries are run by unit/catch.py."""
import os
import sys

sys.path.insert(0, os.path.join(config.weft_source_dir, "test"))
import formats

config.name = "weft"
config.test_format = formats.OwnFolderTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "models", "corpus", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.weft_source_dir, "test")
config.test_exec_root = os.path.join(config.weft_binary_dir, "test")

tools = [os.path.join(config.weft_binary_dir, "bin"), config.llvm_tools_dir]
config.environment["PATH"] = os.pathsep.join(tools + [os.environ.get("PATH", "")])
reference = os.environ.get("WEFT_REFERENCE_MODELS", os.path.join(config.weft_source_dir, "..", "shared", "models"))
if os.path.isdir(reference):
    config.available_features.add("reference-models")
    config.substitutions.append(("%reference", os.path.abspath(reference)))
testdata = "/usr/share/libonnx-testdata/data"
if os.path.isdir(testdata):
    config.available_features.add("onnx-testdata")
    config.substitutions.append(("%onnx-testdata", testdata))
# Stand-ins for CUDA's libraries, which are built where its headers are; elsewhere there is nothing to test.
stand_in = os.path.join(config.weft_binary_dir, "lib", "cuda-stand-in")
if os.path.isdir(stand_in):
    config.substitutions.append(("%stand-in", "LD_LIBRARY_PATH=" + stand_in))
else:
    config.excludes.append("cuda")
config.substitutions.append(("%python", "/usr/bin/python3"))
config.substitutions.append(("%mutations", os.environ.get("WEFT_MUTATIONS", "300")))
config.substitutions.append(("%kills", os.environ.get("WEFT_KILLS", "5")))
config.substitutions.append(("%full_training", "--full" if os.environ.get("WEFT_FULL_TRAINING") else ""))
config.substitutions.append(("%full_search", "--full" if os.environ.get("WEFT_FULL_SEARCH") else ""))
config.substitutions.append(("%training_cases", "200" if os.environ.get("WEFT_FULL_TRAINING") else "12"))
config.substitutions.append(("%models", os.path.join(config.test_source_root, "models")))
config.substitutions.append(("%build", config.weft_binary_dir))
config.substitutions.append(("%unit", os.path.join(config.weft_binary_dir, "bin", "unit")))
for name in ("WEFT_REFERENCE_MODELS", "WEFT_SEEDS", "WEFT_BRUTE_FORCE", "HOME", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
             "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
