//===- step_bits.cpp - training steps that are equal to the last bit ------===//
//
// step_bits STEP.mlir OTHER.mlir…: takes every training step twice, its states carried, by the
// interpreter, which computes an operation in one order wherever it stands: a library of products
// does not, which sums in other orders in matrices that lie otherwise. Integers of inputs are drawn
// below 100, the same for all. Tells of the first result or state that differs from the first
// file's in any bit.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>

using namespace mlir;
using namespace weft;

namespace {

constexpr int steps = 2;

/// Of each step its results, and states behind the last.
using Bits = std::map<std::string, std::string>;

template <typename T> T take(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

SmallVector<Tensor> drawInputs(func::FuncOp main, std::mt19937 &random) {
  SmallVector<Tensor> inputs;
  for (Type type : main.getArgumentTypes()) {
    std::vector<double> values(cast<RankedTensorType>(type).getNumElements());
    for (double &value : values)
      value = random() % 100;
    inputs.push_back(tensorOf(cast<RankedTensorType>(type), values));
  }
  return inputs;
}

std::string bytesOf(const Tensor &tensor) {
  Tensor dense = tensor.dense();
  return std::string(dense.raw().data(), dense.raw().size());
}

Bits takeSteps(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    throw std::runtime_error("a file has no @main");
  std::mt19937 random(7);
  StateValues state;
  Bits bits;
  for (int step = 0; step < steps; ++step) {
    SmallVector<Tensor> inputs = drawInputs(main, random);
    auto results = take(interpret(module, inputs, readStoredWeight, "main", &state));
    for (auto [index, result] : llvm::enumerate(results)) {
      auto name = main.getResultAttrOfType<StringAttr>(index, "weft.name");
      bits[std::to_string(step) + " " + name.str()] = bytesOf(result);
    }
  }
  for (const auto &entry : state)
    bits["state " + entry.first().str()] = bytesOf(entry.second);
  return bits;
}

bool hold(const Bits &first, const Bits &other, const char *file) {
  bool isEqual = first.size() == other.size();
  for (const auto &[name, bytes] : first) {
    auto found = other.find(name);
    if (found != other.end() && found->second == bytes)
      continue;
    std::printf("%s: %s differs\n", file, name.c_str());
    isEqual = false;
  }
  if (isEqual)
    std::printf("%zu values are equal\n", first.size());
  return isEqual;
}

int run(MLIRContext &context, ArrayRef<char *> files) {
  Bits first;
  bool isEqual = true;
  for (auto [index, file] : llvm::enumerate(files)) {
    auto module = parseSourceFile<ModuleOp>(file, &context);
    if (!module)
      return 1;
    Bits bits = takeSteps(*module);
    if (index == 0)
      first = std::move(bits);
    else
      isEqual &= hold(first, bits, file);
  }
  return isEqual ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return std::fprintf(stderr, "usage: step_bits STEP.mlir OTHER.mlir…\n"), 2;
  MLIRContext context;
  context.loadDialect<func::FuncDialect, WeftDialect>();
  try {
    return run(context, ArrayRef(argv + 1, argc - 1));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
