#include "compiler/Sharding/Parts.h"

#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

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
      } else if (auto reduction = dyn_cast<dist::CrossMeshAllReduceOp>(op)) {
        result.reductions.push_back(reduction);
      } else if (!isa<dist::TransferOp, dist::ResultOfOp, func::ReturnOp>(op)) {
        return op.emitOpError("expected nothing but calls of parts beside calls of parts");
      }
    addChannels();
    return success(succeeded(checkResults()) && succeeded(checkStates()));
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
    return success();
  }

  /// Once all parts are known: some values come of later ones.
  void addChannels() {
    for (auto [number, part] : llvm::enumerate(result.parts))
      for (OpOperand &operand : part.call->getOpOperands()) {
        Value value = operand.get();
        if (auto transfer = value.getDefiningOp<dist::TransferOp>())
          value = transfer.getInput();
        auto to = static_cast<unsigned>(number);
        if (auto from = value.getDefiningOp<func::CallOp>())
          result.channels.push_back({numbers.lookup(calledPart(from, symbols)),
                                     cast<OpResult>(value).getResultNumber(), to,
                                     operand.getOperandNumber()});
        else if (auto later = value.getDefiningOp<dist::ResultOfOp>())
          result.channels.push_back({numbers.lookup(symbols.lookup(later.getPart())),
                                     static_cast<unsigned>(later.getNumber()), to,
                                     operand.getOperandNumber()});
      }
  }

  /// What @main returns is made by parts.
  LogicalResult checkResults() {
    for (OpOperand &operand : result.main.getBody().front().getTerminator()->getOpOperands())
      if (isa<BlockArgument>(operand.get()))
        return result.main.emitOpError("expected results that parts make, got an input as result ")
               << operand.getOperandNumber();
    return success();
  }

  /// A state has one place and one time at which it changes: the part that stores it alone knows
  /// it.
  LogicalResult checkStates() {
    llvm::DenseMap<StringAttr, func::FuncOp> stores;
    for (const Part &part : result.parts)
      for (auto store : func::FuncOp(part.function).getBody().front().getOps<StoreOp>())
        if (func::FuncOp &by = stores[store.getWeightAttr().getAttr()]; !by)
          by = part.function;
        else if (by != part.function)
          return store.emitOpError("expected one part to store a state, got @")
                 << by.getSymName() << " and @" << func::FuncOp(part.function).getSymName()
                 << " for " << store.getWeightAttr();
    for (const Part &part : result.parts)
      for (auto load : func::FuncOp(part.function).getBody().front().getOps<LoadOp>())
        if (func::FuncOp by = stores.lookup(load.getWeightAttr().getAttr());
            by && by != part.function)
          return load.emitOpError("expected the part that stores a state to be all that loads it, "
                                  "got: ")
                 << load.getWeightAttr() << " is stored by @" << by.getSymName()
                 << ", which can hand on its value";
    return success();
  }

  SymbolTable symbols;
  Parts &result;
  llvm::DenseMap<Operation *, unsigned> numbers; ///< of parts, by function
};
} // namespace

namespace {
/// The results of a part, one for each use in @main.
class SeparateResults {
public:
  /// `early`: what stands for its results where it is not called yet, one for each use.
  SeparateResults(Part &part, ArrayRef<dist::ResultOfOp> early)
      : part(part), early(early), end(part.function.getBody().front().getTerminator()) {
    llvm::sort(this->early, [](dist::ResultOfOp a, dist::ResultOfOp b) {
      return a.getNumber() == b.getNumber() ? a->isBeforeInBlock(b) : a.getNumber() < b.getNumber();
    });
  }

  void run() {
    for (OpResult result : part.call.getResults())
      addUses(result);
    bool isSame =
        early.empty() && uses.size() == part.call.getNumResults() &&
        llvm::all_of(llvm::enumerate(uses), [](auto use) {
          return cast<OpResult>(use.value().first->get()).getResultNumber() == use.index() &&
                 use.value().second == use.index();
        });
    if (!isSame)
      rebuild();
  }

private:
  /// @main's own results lie alike and share one; it, or else the first use, keeps what is said of
  /// the old one.
  void addUses(OpResult result) {
    std::optional<unsigned> returned;
    auto add = [&](bool keepsAttributes) {
      results.push_back(end->getOperand(result.getResultNumber()));
      attributes.push_back(keepsAttributes
                               ? part.function.getResultAttrDict(result.getResultNumber())
                               : DictionaryAttr::get(result.getContext()));
      return static_cast<unsigned>(results.size() - 1);
    };
    for (OpOperand &use : result.getUses())
      if (isa<func::ReturnOp>(use.getOwner())) {
        if (!returned)
          returned = add(/*keepsAttributes=*/true);
        uses.push_back({&use, *returned});
      }
    bool keeps = !returned;
    for (OpOperand &use : result.getUses())
      if (!isa<func::ReturnOp>(use.getOwner()))
        uses.push_back({&use, add(std::exchange(keeps, false))});
    for (dist::ResultOfOp op : early)
      if (op.getNumber() == result.getResultNumber())
        numbers.push_back(add(std::exchange(keeps, false)));
  }

  void rebuild() {
    OpBuilder builder(part.call);
    end->setOperands(results);
    part.function.setType(
        builder.getFunctionType(part.function.getArgumentTypes(), ValueRange(results).getTypes()));
    part.function.setAllResultAttrs(attributes);
    auto call =
        func::CallOp::create(builder, part.call.getLoc(), part.function, part.call.getOperands());
    for (auto [use, index] : uses)
      use->set(call.getResult(index));
    for (auto [op, number] : llvm::zip_equal(early, numbers))
      op.setNumber(number);
    part.call.erase();
    part.call = call;
  }

  Part &part;
  SmallVector<dist::ResultOfOp> early; ///< in the order of what they stand for
  Operation *end;
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<std::pair<OpOperand *, unsigned>> uses; ///< and their new results
  SmallVector<unsigned> numbers;                      ///< new ones of what is early
};
} // namespace

/// What stands for the results of each part before its call, by the part's name, one for each use.
static llvm::DenseMap<StringAttr, SmallVector<dist::ResultOfOp>> separateEarly(func::FuncOp main) {
  llvm::DenseMap<StringAttr, SmallVector<dist::ResultOfOp>> early;
  OpBuilder builder(main.getContext());
  for (auto op : llvm::make_early_inc_range(main.getBody().front().getOps<dist::ResultOfOp>())) {
    if (op->use_empty()) {
      op.erase();
      continue;
    }
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      builder.setInsertionPoint(op);
      auto copy = op->hasOneUse() ? op : cast<dist::ResultOfOp>(builder.clone(*op));
      use.set(copy);
      early[op.getPartAttr().getAttr()].push_back(copy);
    }
  }
  return early;
}

void weft::separateChannels(Parts &parts) {
  auto early = separateEarly(parts.main);
  for (Part &part : parts.parts)
    SeparateResults(part, early.lookup(part.function.getSymNameAttr())).run();
}

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
