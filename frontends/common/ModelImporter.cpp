#include "frontends/common/ModelImporter.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

ModelImporter::ModelImporter(MLIRContext &context, StringRef path)
    : context(context), path(path), location(FileLineColLoc::get(&context, path, 0, 0)) {
  context.loadDialect<WeftDialect, func::FuncDialect>();
}

OwningOpRef<ModuleOp> ModelImporter::run(llvm::function_ref<void(ModuleOp)> build) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  try {
    build(*module);
  } catch (const FailedValue &) { // why it failed is among the problems
  } catch (const std::exception &error) {
    problems.add(error.what());
  }
  if (!problems.any() && succeeded(verify(*module)))
    return module;
  problems.report(location);
  return {};
}

void ModelImporter::finish(ModuleOp module, EntryFunction &main, Emitter &emit) {
  if (problems.any())
    return;
  main.finish();
  emit.materialize(module);
}

std::string weft::frontend::resultName(size_t index, size_t count) {
  return count == 1 ? "output" : "output_" + std::to_string(index);
}
