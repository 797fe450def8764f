#include "compiler/Sharding/Parts.h"

#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace weft;

/// The function that a call calls, if it is no kernel.
static func::FuncOp calledPart(Operation *op, const SymbolTable &symbols) {
  auto call = dyn_cast<func::CallOp>(op);
  auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
  return callee && !callee->hasAttr("exec.kernel") ? callee : func::FuncOp();
}

bool weft::callsParts(func::FuncOp function) {
  if (function.isExternal())
    return false;
  for (auto call : function.getBody().front().getOps<func::CallOp>()) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    return callee &&
           !callee->hasAttr("exec.kernel"); // of parts and kernels, one function calls one
  }
  return false;
}

/// The mesh that the first annotated value of a function names.
static FlatSymbolRefAttr getAnnotatedMesh(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (dist::ShardingAttr sharding = dist::getSharding(argument))
      return sharding.getMesh();
  for (Operation &op : function.getBody().front())
    if (op.getNumResults() != 0)
      if (dist::ShardingAttr sharding = dist::getSharding(op.getResult(0)))
        return sharding.getMesh();
  return {};
}

FailureOr<dist::MeshOp> weft::findMesh(func::FuncOp function) {
  auto name = function->getAttrOfType<FlatSymbolRefAttr>(dist::kMeshAttr);
  if (!name)
    name = getAnnotatedMesh(function);
  if (name) {
    if (dist::MeshOp mesh = dist::lookupMesh(function, name))
      return mesh;
    return function.emitOpError() << "expected the name of a dist.mesh, got: " << name;
  }
  auto module = function->getParentOfType<ModuleOp>();
  auto meshes = llvm::to_vector(module.getOps<dist::MeshOp>());
  if (meshes.size() > 1)
    return module.emitError() << "expected shardings that say on which mesh @"
                              << function.getSymName() << " runs, got " << meshes.size()
                              << " meshes and no sharding";
  return meshes.empty() ? dist::MeshOp() : meshes.front();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads @main of a model in parts.
class PartsReader {
public:
  PartsReader(ModuleOp module, Parts &result) : symbols(module), result(result) {}

  LogicalResult read() {
    for (Operation &op : result.main.getBody().front())
      if (func::FuncOp callee = calledPart(&op, symbols)) {
        if (failed(addPart(cast<func::CallOp>(op), callee)))
          return failure();
      } else if (!isa<dist::TransferOp, func::ReturnOp>(op)) {
        return op.emitOpError("expected nothing but calls of parts beside calls of parts");
      }
    return success();
  }

private:
  LogicalResult addPart(func::CallOp call, func::FuncOp callee) {
    if (callee.isExternal() || !callee.getBody().hasOneBlock())
      return callee.emitOpError("expected a part with a body of one block");
    FailureOr<dist::MeshOp> mesh = findMesh(callee);
    if (failed(mesh))
      return failure();
    unsigned number = result.parts.size();
    if (!numbers.try_emplace(callee, number).second)
      return call.emitOpError("expected each part to be called once, got twice: @")
             << callee.getSymName();
    result.parts.push_back({callee, call, *mesh});
    for (OpOperand &operand : call->getOpOperands()) {
      Value value = operand.get();
      if (auto transfer = value.getDefiningOp<dist::TransferOp>())
        value = transfer.getInput();
      if (auto from = value.getDefiningOp<func::CallOp>())
        result.channels.push_back({numbers.lookup(calledPart(from, symbols)),
                                   cast<OpResult>(value).getResultNumber(), number,
                                   operand.getOperandNumber()});
    }
    return success();
  }

  SymbolTable symbols;
  Parts &result;
  llvm::DenseMap<Operation *, unsigned> numbers; ///< of parts, by function
};
} // namespace

std::optional<Parts> weft::getParts(ModuleOp module) {
  Parts result;
  result.main = module.lookupSymbol<func::FuncOp>("main");
  if (!result.main || result.main.isExternal() || !result.main.getBody().hasOneBlock()) {
    module.emitError() << "expected a function @main with a body of one block";
    return std::nullopt;
  }
  if (callsParts(result.main))
    return succeeded(PartsReader(module, result).read()) ? std::optional(result) : std::nullopt;
  FailureOr<dist::MeshOp> mesh = findMesh(result.main);
  if (failed(mesh))
    return std::nullopt;
  result.parts.push_back({result.main, {}, *mesh});
  return result;
}
