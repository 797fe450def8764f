#include "frontends/common/EntryFunction.h"

using namespace mlir;
using namespace weft::frontend;

EntryFunction::EntryFunction(ModuleOp module, StringRef source) {
  module->setAttr("weft.source", StringAttr::get(module.getContext(), source));
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  function =
      func::FuncOp::create(builder, module.getLoc(), "main", builder.getFunctionType({}, {}));
  function.addEntryBlock();
}

static void checkNamed(llvm::StringSet<> &taken, RankedTensorType type, StringRef name) {
  if (!taken.insert(name).second)
    throw ImportError("another has the same name");
  if (type.getNumElements() == 0)
    throw ImportError("it has no elements, which is not supported: " + describe(type));
}

Value EntryFunction::addArgument(RankedTensorType type, StringRef name) {
  checkNamed(takenArguments, type, name);
  auto attr = StringAttr::get(function.getContext(), name);
  argumentNames.push_back(attr);
  return body()->addArgument(type, NameLoc::get(attr));
}

void EntryFunction::addResult(Value value, StringRef name, StringRef structurePath) {
  checkNamed(takenResults, typeOf(value), name);
  resultNames.push_back(StringAttr::get(function.getContext(), name));
  resultPaths.push_back(StringAttr::get(function.getContext(), structurePath));
  results.push_back(value);
}

void EntryFunction::finish() {
  OpBuilder builder = OpBuilder::atBlockEnd(body());
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setFunctionType(
      builder.getFunctionType(body()->getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [index, name] : llvm::enumerate(argumentNames))
    function.setArgAttr(index, "weft.name", name);
  for (auto [index, name] : llvm::enumerate(resultNames))
    function.setResultAttr(index, "weft.name", name);
  for (auto [index, path] : llvm::enumerate(resultPaths))
    if (!cast<StringAttr>(path).empty())
      function.setResultAttr(index, "weft.path", path);
}
