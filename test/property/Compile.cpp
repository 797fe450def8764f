#include "test/property/Compile.h"

#include "dialects/Dist/IR/Extent.h"
#include "dialects/Dist/IR/Sharding.h"
#include "passes/Lowering/Passes.h"
#include "passes/Partition/Passes.h"
#include "passes/Planning/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::property;

void weft::property::loadDialects(MLIRContext &context) {
  context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>();
}

/// Runs passes; the diagnostics of a failure, or nothing.
static std::string runPasses(PassManager &passes, ModuleOp module) {
  std::string text;
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(text) << diagnostic.getLocation() << ": " << diagnostic.str() << "\n";
    return success();
  });
  if (succeeded(passes.run(module)))
    return "";
  return text.empty() ? "a pass failed without a word" : text;
}

std::string weft::property::plan(Case &test) {
  PassManager passes(test.model.module->getContext());
  ApplyPlanOptions options;
  options.mesh = test.mesh;
  options.shard = llvm::join(test.pins, ";");
  passes.addNestedPass<func::FuncOp>(createSplitConstants());
  passes.addPass(createApplyPlan(options));
  if (test.chosen)
    passes.addPass(createChooseShardings());
  passes.addPass(createPropagateShardings());
  return runPasses(passes, *test.model.module);
}

std::string weft::property::partition(Case &test) {
  PassManager passes(test.model.module->getContext());
  passes.addPass(createPartition());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return runPasses(passes, *test.model.module);
}

std::string weft::property::formKernels(Case &test) {
  PassManager passes(test.model.module->getContext());
  // As targets do that have no attention of their own: libraries' is not interpreted.
  passes.addNestedPass<func::FuncOp>(
      createDecomposeAttention(DecomposeAttentionOptions{"generic", /*scoreBytes=*/0}));
  passes.addNestedPass<func::FuncOp>(createDecomposePadding());
  passes.addNestedPass<func::FuncOp>(createDecomposeWindows());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createFormKernels());
  return runPasses(passes, *test.model.module);
}

/// The dimensions in which a value is split.
static SmallVector<int64_t> splitDims(Value value) {
  SmallVector<int64_t> split;
  if (dist::ShardingAttr sharding = dist::getSharding(value))
    for (auto [dim, axes] : llvm::enumerate(sharding.getDims()))
      if (!axes.getAxes().empty())
        split.push_back(dim);
  return split;
}

/// Whether blocks of a value are padded.
static bool isPaddedSomewhere(Value value) {
  dist::ShardingAttr sharding = dist::getSharding(value);
  if (!sharding)
    return false;
  Operation *place = value.getParentBlock()->getParentOp();
  dist::MeshOp mesh = dist::lookupMesh(place, sharding.getMesh());
  return llvm::any_of(
      llvm::zip_equal(sharding.getDims(), cast<RankedTensorType>(value.getType()).getShape()),
      [&](const auto &entry) {
        auto [dim, size] = entry;
        return isPadded(size, mesh.getSize(dim.getAxes()), dim.getUnit());
      });
}

void weft::property::countSplits(ModuleOp module, Coverage &coverage) {
  bool elsewhere = false, padded = false;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (Value argument : main.getArguments()) {
    elsewhere |= llvm::any_of(splitDims(argument), [](int64_t dim) { return dim > 0; });
    padded |= isPaddedSomewhere(argument);
  }
  for (Operation &op : main.front().without_terminator()) {
    SmallVector<int64_t> split = splitDims(op.getResult(0));
    elsewhere |= llvm::any_of(split, [](int64_t dim) { return dim > 0; });
    coverage.split[op.getName().stripDialect().str()] += !split.empty();
    padded |= llvm::any_of(op.getResults(), isPaddedSomewhere);
  }
  coverage.splitCases += elsewhere;
  coverage.paddedCases += padded;
}

void weft::property::countCollectives(ModuleOp module, Coverage &coverage) {
  module.walk([&](Operation *op) {
    if (isa<dist::DistDialect>(op->getDialect()) && op->getNumResults() == 1)
      ++coverage.collectives[op->getName().stripDialect().str()];
  });
}

std::string weft::property::print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(0));
  return text;
}
