//===- KernelCases.cpp - compiled kernels against the interpreter ---------===//
//
// KernelCases FILE.mlir [--time | --device NAME | --ptx]: compiles every function of the file as a
// kernel, operations that consist of others written out, runs it over all tiles at once and over
// tiles shared out in uneven ranges, and compares with the interpreter. On a device of the runtime,
// such as cuda, it runs twice over all tiles. With --ptx it prints the kernels for GPUs and runs
// none. Values are random, the same in every run: floats normal, integers in the argument's
// `test.range`
// ([low, high), by default [-5, 6)). `test.tolerance` on a function bounds the difference, relative
// to the largest magnitude (default 1e-6). `test.error` expects a failed check: its number, value
// and position. With --time, prints microseconds a launch beside those of a memcpy of as many
// bytes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"
#include "compiler/Kernel/KernelCompiler.h"
#include "compiler/Kernel/StridedView.h"
#include "test/unit/Kernel/Launcher.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace weft;

namespace {

class Case {
public:
  /// `module` is interpreted, where `function` has operations that were written out.
  Case(ModuleOp module, func::FuncOp function, Launcher &launcher)
      : module(module), function(function), launcher(launcher), random(17) {}

  /// What is wrong, or "".
  std::string run(bool isTimed) {
    FailureOr<KernelInfo> described = describeKernel(function, launcher.getMachine());
    if (failed(described))
      return "is no kernel";
    info = std::move(*described);
    makeInputs();
    if (isTimed)
      return time(), "";
    Buffers whole = outputs(), parts = outputs();
    std::optional<Failure> failure = launch(whole, 0, info.tiles);
    if (auto expected = function->getAttrOfType<DenseI64ArrayAttr>("test.error"))
      return checkError(failure, expected);
    if (failure)
      return "failed check " + describe(*failure);
    int64_t step = launcher.takesRanges() ? 1 : info.tiles;
    for (int64_t low = 0; low < info.tiles; low += step, step = step * 2 % 7 + 1)
      launch(parts, low, std::min(low + step, info.tiles));
    for (size_t i = 0; i < whole.size(); ++i)
      if (whole[i] != parts[i])
        return "result " + std::to_string(i) + " depends on how tiles are shared out";
    return compare(whole);
  }

private:
  static std::string describe(const Failure &failure) {
    return std::to_string(failure[0]) + " on value " + std::to_string(failure[1]) +
           " at position " + std::to_string(failure[2]);
  }

  std::string checkError(const std::optional<Failure> &failure, DenseI64ArrayAttr expected) {
    if (!failure)
      return "expected a failed check";
    bool isRight = llvm::equal(*failure, expected.asArrayRef());
    return isRight ? "" : "expected another failed check, got: " + describe(*failure);
  }

  Tensor randomTensor(RankedTensorType type, unsigned argument) {
    std::pair<int64_t, int64_t> range(-5, 6);
    if (auto given = function.getArgAttrOfType<DenseI64ArrayAttr>(argument, "test.range"))
      range = {given[0], given[1]};
    std::vector<double> numbers(type.getNumElements());
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int64_t> uniform(range.first, range.second - 1);
    bool isFloat = weft::isFloat(*getDType(type.getElementType()));
    for (double &number : numbers)
      number = isFloat ? normal(random) : double(uniform(random));
    if (auto special = function.getArgAttrOfType<DenseF64ArrayAttr>(argument, "test.values"))
      for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = special[i % special.size()];
    return tensorOf(type, numbers);
  }

  void makeInputs() {
    for (BlockArgument argument : function.getArguments()) {
      unsigned number = argument.getArgNumber();
      Tensor value = randomTensor(cast<RankedTensorType>(argument.getType()), number);
      inputs.push_back(value);
      if (function.getArgAttr(number, "exec.param")) {
        params.push_back(numbersOf<int64_t>(value).front());
        continue;
      }
      auto strides = function.getArgAttrOfType<DenseI64ArrayAttr>(number, stridesAttrName);
      buffers.push_back(
          strides ? spread(value, strides.asArrayRef())
                  : std::vector<char>(value.dense().raw().begin(), value.dense().raw().end()));
    }
  }

  /// The value's bytes in a buffer of these strides.
  static std::vector<char> spread(const Tensor &value, ArrayRef<int64_t> strides) {
    int64_t last = 0, width = value.elementBytes();
    for (auto [extent, stride] : llvm::zip_equal(value.shape(), strides))
      last += (extent - 1) * stride;
    std::vector<char> bytes((last + 1) * width, 77);
    SmallVector<int64_t> index(value.rank(), 0);
    for (int64_t position = 0; position < value.size(); ++position) {
      int64_t offset = 0;
      for (auto [at, stride] : llvm::zip_equal(index, strides))
        offset += at * stride;
      std::memcpy(&bytes[offset * width], value.data() + position * width, width);
      for (int64_t dim = value.rank() - 1; dim >= 0 && ++index[dim] == value.shape()[dim]; --dim)
        index[dim] = 0;
    }
    return bytes;
  }

  Buffers outputs() {
    Buffers made;
    for (Type type : function.getResultTypes())
      made.emplace_back(Tensor::allocate(cast<RankedTensorType>(type)).raw().size(), 55);
    return made;
  }

  std::optional<Failure> launch(Buffers &results, int64_t low, int64_t high) {
    Buffers operands = std::move(buffers);
    size_t inputCount = operands.size();
    std::move(results.begin(), results.end(), std::back_inserter(operands));
    std::optional<Failure> failure = launcher.launch(info, operands, params, low, high);
    std::move(operands.begin() + inputCount, operands.end(), results.begin());
    operands.resize(inputCount);
    buffers = std::move(operands);
    return failure;
  }

  std::string compare(const Buffers &results) {
    llvm::Expected<SmallVector<Tensor>> expected =
        interpret(module, inputs, readStoredWeight, function.getName());
    if (!expected)
      return "interpreter: " + llvm::toString(expected.takeError());
    double tolerance = 1e-6;
    if (auto given = function->getAttrOfType<FloatAttr>("test.tolerance"))
      tolerance = given.getValueAsDouble();
    for (auto [number, tensor] : llvm::enumerate(*expected)) {
      std::vector<double> want = numbersOf<double>(tensor), got(want.size());
      readNumbers(tensor.kind(), results[number].data(), got.data(), got.size());
      double scale = 0;
      for (double value : want)
        if (std::isfinite(value))
          scale = std::max(scale, std::fabs(value));
      for (size_t i = 0; i < want.size(); ++i) {
        bool isSame = want[i] == got[i] || (std::isnan(want[i]) && std::isnan(got[i]));
        if (!isSame && !(std::fabs(want[i] - got[i]) <= tolerance * scale))
          return "result " + std::to_string(number) + " at " + std::to_string(i) + ": expected " +
                 std::to_string(want[i]) + ", got " + std::to_string(got[i]) + ", largest " +
                 std::to_string(scale);
      }
    }
    return "";
  }

  void time() {
    auto seconds = [](auto act) {
      double best = 1e9;
      for (int i = 0; i < 20; ++i) {
        auto start = std::chrono::steady_clock::now();
        act();
        best = std::min(
            best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      }
      return best;
    };
    Buffers results = outputs();
    size_t bytes = 0;
    for (auto &list : {buffers, results})
      for (auto &buffer : list)
        bytes += buffer.size();
    std::vector<char> from(bytes / 2, 1), to(bytes / 2);
    double own = seconds([&] { launch(results, 0, info.tiles); });
    double copy = seconds([&] { std::memcpy(to.data(), from.data(), from.size()); });
    llvm::outs() << llvm::format("%-28s %9.1f us  memcpy %3.0f %%  tiles %lld\n",
                                 function.getName().str().c_str(), own * 1e6, 100 * copy / own,
                                 (long long)info.tiles);
  }

  ModuleOp module;
  func::FuncOp function;
  Launcher &launcher;
  std::mt19937_64 random;
  KernelInfo info;
  SmallVector<Tensor> inputs;
  Buffers buffers; ///< of inputs
  std::vector<int64_t> params;
};

} // namespace

/// Runs all functions; how many are wrong.
static int runCases(ModuleOp module, ArrayRef<func::FuncOp> functions, Launcher &launcher,
                    bool isTimed) {
  int failures = 0;
  for (func::FuncOp function : functions) {
    std::string wrong;
    try {
      wrong = Case(module, function, launcher).run(isTimed);
    } catch (const std::exception &error) {
      wrong = error.what();
    }
    if (wrong.empty())
      continue;
    llvm::errs() << function.getName() << ": " << wrong << '\n';
    ++failures;
  }
  return failures;
}

int main(int argc, char **argv) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect, WeftDialect>();
  context.allowUnregisteredDialects();
  std::string mode = argc > 2 ? argv[2] : "";
  std::unique_ptr<Launcher> launcher =
      mode == "--device" && argc > 3 ? makeDeviceLauncher(argv[3]) : makeHostLauncher();
  bool printsPtx = mode == "--ptx";
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argc > 1 ? argv[1] : "", &context);
  if (!module)
    return 1;
  OwningOpRef<ModuleOp> written(module->clone());
  decomposeAll(*written);
  SmallVector<func::FuncOp> functions(written->getOps<func::FuncOp>());
  auto start = std::chrono::steady_clock::now();
  KernelOptions options;
  options.machine = printsPtx ? KernelMachine::Gpu : launcher->getMachine();
  llvm::Expected<KernelLibrary> library = compileKernels(functions, options);
  if (!library) {
    llvm::errs() << llvm::toString(library.takeError()) << '\n';
    return 1;
  }
  if (printsPtx) {
    llvm::outs() << library->bytes;
    return 0;
  }
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (mode == "--time")
    llvm::outs() << llvm::format("%zu kernels compiled in %.0f ms\n", library->keys.size(),
                                 elapsed.count() * 1e3);
  if (std::string wrong = launcher->load(*library); !wrong.empty()) {
    llvm::errs() << wrong << '\n';
    return 1;
  }
  return runCases(*module, functions, *launcher, mode == "--time") != 0;
}
