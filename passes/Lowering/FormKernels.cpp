//===- FormKernels.cpp - outlines fused groups into kernels ---------------===//

#include "compiler/Kernel/Epilogue.h"
#include "compiler/Kernel/FusionGroups.h"
#include "compiler/Kernel/StateUpdates.h"
#include "compiler/Kernel/StridedView.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "passes/Lowering/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace weft {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Lowering/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The reshapes and transposes behind `value`, each the only reader of the one before.
static SmallVector<Operation *> getMovementChain(Value value) {
  SmallVector<Operation *> chain;
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (!isa<ReshapeOp, TransposeOp>(user))
      break;
    chain.push_back(user);
    value = user->getResult(0);
  }
  return chain;
}

/// The strides that `op`'s operand needs for its result to have `strides`, if that is a view.
static std::optional<Strides> getOperandStrides(Operation *op, const Strides &strides) {
  auto operandType = cast<RankedTensorType>(op->getOperand(0).getType());
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Strides result(strides.size());
    for (auto [index, dim] : llvm::enumerate(transpose.getPermutation()))
      result[dim] = strides[index];
    return result;
  }
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  return reshapeStrides(resultType.getShape(), strides, operandType.getShape());
}

/// Lets a library write its result in the order in which the transposes behind it are read, where
/// the result's dimension `unit` stays contiguous: a product's rows, the channels of a convolution.
/// The longest chain of which that holds is chosen.
static void chooseResultLayout(OpResult result, int64_t unit) {
  SmallVector<Operation *> chain = getMovementChain(result);
  auto type = cast<RankedTensorType>(result.getType());
  for (size_t length = chain.size(); length > 0; --length) {
    auto end = cast<RankedTensorType>(chain[length - 1]->getResult(0).getType());
    std::optional<Strides> strides = getRowMajorStrides(end.getShape());
    for (size_t index = length; index > 0 && strides; --index)
      strides = getOperandStrides(chain[index - 1], *strides);
    if (!strides || strides->empty() || ((*strides)[unit] != 1 && type.getDimSize(unit) != 1))
      continue;
    if (!isRowMajor(type.getShape(), *strides))
      setResultStrides(result, *strides);
    return;
  }
}

/// What kernels that are merged have in common beside their bodies.
static auto describeKernel(func::FuncOp kernel) {
  return std::tuple<Type, Attribute, Attribute>(kernel.getFunctionType(), kernel.getArgAttrsAttr(),
                                                kernel.getResAttrsAttr());
}

static uint64_t hashKernel(func::FuncOp kernel) {
  llvm::hash_code hash = llvm::hash_value(describeKernel(kernel));
  for (Operation &op : kernel.getBody().front())
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(&op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::IgnoreLocations));
  return hash;
}

static bool isSame(func::FuncOp kernel, func::FuncOp other) {
  return describeKernel(kernel) == describeKernel(other) &&
         OperationEquivalence::isRegionEquivalentTo(&kernel.getBody(), &other.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Whether products alone read the value, as right factor [rows, columns…].
static bool isRightFactor(Value value, const Target &target) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    auto dot = dyn_cast<DotGeneralOp>(use.getOwner());
    return dot && use.getOperandNumber() == 1 && target.callsLibrary(dot) &&
           dot.getRhsBatch().empty() && dot.getRhsContract() == ArrayRef<int64_t>{0};
  });
}

/// The most rows that a product of right factor `matrix` has.
static int64_t getMostRows(Value matrix) {
  int64_t most = 0, columns = ShapedType::getNumElements(shapeOf(matrix).drop_front());
  for (Operation *user : matrix.getUsers())
    most = std::max(most, ShapedType::getNumElements(shapeOf(user->getResult(0))) /
                              std::max<int64_t>(columns, 1));
  return most;
}

/// How the matrix that `load` reads is to be stored.
static MatrixStorage chooseStorage(Operation *load, const Target &target) {
  Value matrix = load->getResult(0);
  if (!isRightFactor(matrix, target))
    return {};
  auto shard = dyn_cast<dist::LoadShardOp>(load);
  bool isColumnMajor = shard && !shard.getStrides().empty() && shard.getStrides().front() == 1;
  return target.chooseStorage(cast<RankedTensorType>(matrix.getType()), getMostRows(matrix),
                              isColumnMajor);
}

static void mark(Operation *load, MatrixStorage storage) {
  Builder builder(load->getContext());
  int64_t unit = ShapedType::getNumElements(shapeOf(load->getResult(0)).drop_front(2));
  if (storage.kind == MatrixStorage::InPanels)
    load->setAttr(panelsAttrName, builder.getI64IntegerAttr(storage.panelColumns / unit));
  if (storage.kind == MatrixStorage::ByColumns)
    load->setAttr(byColumnsAttrName, builder.getUnitAttr());
}

/// Has matrices that never change stored as suits all that loads them.
static void chooseStorages(ArrayRef<func::FuncOp> functions, const Target &target) {
  llvm::MapVector<StringAttr, SmallVector<std::pair<Operation *, MatrixStorage>>> loads;
  llvm::DenseSet<StringAttr> others; // symbols that are to lie as they are
  for (func::FuncOp function : functions)
    for (Operation &op : function.getBody().front()) {
      if (StringAttr state = getStoredSymbol(&op))
        others.insert(state);
      StringAttr weight = getLoadedSymbol(&op);
      if (!weight)
        continue;
      MatrixStorage storage = chooseStorage(&op, target);
      auto &known = loads[weight];
      if (storage.kind == MatrixStorage::AsItIs ||
          (!known.empty() && known.front().second.kind != storage.kind))
        others.insert(weight);
      known.push_back({&op, storage});
    }
  for (auto &[weight, ops] : loads)
    for (auto [op, storage] : ops)
      if (!others.contains(weight))
        mark(op, storage);
}

namespace {

/// Kernels of a module, each of another structure.
struct KnownKernels {
  llvm::DenseMap<uint64_t, SmallVector<func::FuncOp, 1>> alike; ///< by hash
  size_t count = 0;
};

/// Outlines the kernels of one function.
class Outliner {
public:
  Outliner(func::FuncOp function, const Target &target, SymbolTable &symbols, KnownKernels &known)
      : function(function), block(function.getBody().front()), target(target),
        groups(block, target), symbols(symbols), known(known) {
    for (const FusionUnit &unit : groups.units)
      for (Value input : unit.inputs)
        ++readers[input];
    llvm::DenseMap<StringAttr, SmallVector<Value, 1>> stored;
    for (Operation &op : block)
      if (StringAttr state = getStoredSymbol(&op))
        stored[state].push_back(op.getOperand(0));
    for (auto [state, update] : findUpdates(block))
      if (update->hasAttr(inPlaceAttrName) || isStoredRowMajor(update, stored[state]))
        states[update].push_back(state);
  }

  void run() {
    OpBuilder builder(function.getContext());
    Operation *terminator = block.getTerminator();
    for (FusionUnit &unit : groups.units) {
      builder.setInsertionPoint(terminator);
      if (unit.isKernel)
        call(builder, unit);
      else if (unit.ops.front() != terminator)
        place(unit.ops.front(), terminator);
    }
    for (Value operand : terminator->getOperands())
      if (groups.isCarried(operand.getDefiningOp()))
        place(operand.getDefiningOp(), terminator);
    for (auto &[output, result] : replacements) {
      Value value = output;
      value.replaceAllUsesWith(result);
    }
    eraseUnused();
  }

private:
  /// Whether what an operation makes is stored as it lies there: is one of the values stored.
  static bool isStoredRowMajor(Operation *update, ArrayRef<Value> stored) {
    return llvm::any_of(stored, [&](Value value) {
      std::optional<Strides> strides = getViewStrides(value);
      return getUnviewed(value).getDefiningOp() == update && strides &&
             isRowMajor(cast<ShapedType>(value.getType()).getShape(), *strides);
    });
  }

  /// Moves a boundary, after the carried operations it reads, to the end of what is in order.
  void place(Operation *op, Operation *terminator) {
    if (!placed.try_emplace(op, placed.size()).second)
      return;
    for (Value operand : op->getOperands())
      if (groups.isCarried(operand.getDefiningOp()))
        place(operand.getDefiningOp(), terminator);
    op->moveBefore(terminator);
  }

  void call(OpBuilder &builder, FusionUnit &unit) {
    if (unit.outputs.empty())
      return;
    func::FuncOp kernel = outline(unit);
    for (auto [number, output] : llvm::enumerate(unit.outputs))
      if (auto found = states.find(output.getDefiningOp()); found != states.end())
        for (StringAttr state : found->second)
          markInPlace(kernel, unit, number, output, state);
    decomposeAll(kernel);
    std::optional<unsigned> followed = findFollowed(kernel, unit);
    if (followed)
      kernel.setArgAttr(*followed, inPlaceAttrName, builder.getI64IntegerAttr(0));
    kernel = merge(kernel);
    SmallVector<Location> locations;
    for (Value output : unit.outputs)
      locations.push_back(output.getLoc());
    auto operands = llvm::map_to_vector(unit.inputs, [&](Value input) {
      auto it = replacements.find(input);
      return it == replacements.end() ? input : it->second;
    });
    auto call = func::CallOp::create(builder, FusedLoc::get(function.getContext(), locations),
                                     kernel, operands);
    if (Attribute strides = kernel.getResultAttr(0, stridesAttrName)) // of a scatter, alone
      call->setAttr(stridesAttrName, strides);
    if (followed) {
      call->setAttr(epilogueAttrName, builder.getI64IntegerAttr(*followed));
      unit.inputs[*followed].getDefiningOp()->moveBefore(call);
    }
    for (auto [output, result] : llvm::zip_equal(unit.outputs, call.getResults()))
      replacements[output] = result;
  }

  func::FuncOp outline(FusionUnit &unit) {
    ArrayRef<Value> inputs = unit.inputs.getArrayRef();
    OpBuilder builder(function.getContext());
    auto type = builder.getFunctionType(TypeRange(inputs), TypeRange(unit.outputs.getArrayRef()));
    auto kernel = func::FuncOp::create(unit.ops.front()->getLoc(), "kernel", type);
    kernel.setPrivate();
    kernel->setAttr("exec.kernel", builder.getUnitAttr());
    Block *body = kernel.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments())) {
      mapping.map(input, argument);
      describeArgument(kernel, argument.getArgNumber(), input);
    }
    for (Operation *op : unit.ops)
      copy(builder, op, mapping);
    SmallVector<Value> results;
    for (Value output : unit.outputs)
      results.push_back(mapping.lookup(output));
    func::ReturnOp::create(builder, kernel.getLoc(), results);
    return kernel;
  }

  /// Marks the argument that is a state, if the kernel may write its new value, a result, over it.
  static void markInPlace(func::FuncOp kernel, const FusionUnit &unit, unsigned result,
                          Value output, StringAttr state) {
    Operation *update = output.getDefiningOp();
    auto marked = update->hasAttr(inPlaceAttrName) ? dyn_cast<UpdateOpInterface>(update) : nullptr;
    if (llvm::any_of(llvm::seq<unsigned>(0, unit.inputs.size()), [&](unsigned number) {
          auto other = kernel.getArgAttrOfType<IntegerAttr>(number, inPlaceAttrName);
          return other && other.getInt() == result;
        }))
      return; // of two states that get the same value, one
    for (auto [number, input] : llvm::enumerate(unit.inputs)) {
      if (marked ? getUnviewed(marked.getDestination()) != input
                 : getLoadedSymbol(input.getDefiningOp()) != state)
        continue;
      if (!marked &&
          (kernel.getArgAttr(number, stridesAttrName) ||
           kernel.getArgAttr(number, inPlaceAttrName) || !canUpdate(kernel, number, result)))
        continue;
      kernel.setArgAttr(number, inPlaceAttrName,
                        IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), result));
      if (Attribute strides = update->getAttr(stridesAttrName))
        kernel.setResultAttr(result, stridesAttrName, strides);
      return;
    }
  }

  /// The last operand that a library makes for this kernel alone, and that the kernel may follow:
  /// take the memory of, piece by piece.
  std::optional<unsigned> findFollowed(func::FuncOp kernel, const FusionUnit &unit) {
    std::optional<unsigned> found;
    unsigned last = 0;
    for (auto [number, input] : llvm::enumerate(unit.inputs)) {
      if (kernel.getArgAttr(number, inPlaceAttrName))
        return std::nullopt;
      auto maker = placed.find(input.getDefiningOp());
      if (maker == placed.end() || !target.runsEpilogues(maker->first) || readers[input] != 1 ||
          (found && maker->second < last) || changesStateBehind(maker->first) ||
          !getEpilogueTiles(kernel, number))
        continue;
      found = number;
      last = maker->second;
    }
    return found;
  }

  /// Whether anything behind an operation in what is in order changes a state where it lies: then
  /// the operation, which may read it, stays before that.
  bool changesStateBehind(Operation *op) {
    while ((op = op->getNextNode())) {
      if (op->hasAttr(inPlaceAttrName))
        return true;
      auto call = dyn_cast<func::CallOp>(op);
      if (!call || call->hasAttr(epilogueAttrName))
        continue;
      auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
      for (unsigned number = 0; number < kernel.getNumArguments(); ++number)
        if (kernel.getArgAttr(number, inPlaceAttrName))
          return true;
    }
    return false;
  }

  static void describeArgument(func::FuncOp kernel, unsigned number, Value input) {
    if (input.getDefiningOp<dist::OffsetOp>())
      kernel.setArgAttr(number, "exec.param", UnitAttr::get(kernel.getContext()));
    auto type = cast<RankedTensorType>(input.getType());
    std::optional<Strides> strides = getViewStrides(input);
    if (strides && !isRowMajor(type.getShape(), *strides))
      kernel.setArgAttr(number, stridesAttrName,
                        DenseI64ArrayAttr::get(kernel.getContext(), *strides));
  }

  /// Copies an operation, after the carried operations it reads, into a kernel.
  void copy(OpBuilder &builder, Operation *op, IRMapping &mapping) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        copy(builder, operand.getDefiningOp(), mapping);
    Operation *clone = builder.clone(*op, mapping);
    clone->setDiscardableAttrs(DictionaryAttr::get(op->getContext()));
  }

  /// Returns a kernel of the same structure if there is one, else names this one. Locations play no
  /// part.
  func::FuncOp merge(func::FuncOp kernel) {
    SmallVector<func::FuncOp, 1> &alike = known.alike[hashKernel(kernel)];
    for (func::FuncOp other : alike)
      if (isSame(kernel, other)) {
        kernel.erase();
        return other;
      }
    kernel.setName("kernel_" + std::to_string(known.count++));
    symbols.insert(kernel);
    alike.push_back(kernel);
    return kernel;
  }

  void eraseUnused() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa_and_nonnull<WeftDialect>(op.getDialect()) && op.use_empty() &&
          isMemoryEffectFree(&op))
        op.erase();
  }

  func::FuncOp function;
  Block &block;
  const Target &target;
  FusionGroups groups;
  SymbolTable &symbols;
  KnownKernels &known;
  DenseMap<Value, unsigned> readers;      ///< units that read a value
  DenseMap<Operation *, unsigned> placed; ///< boundaries and what they read, numbered in order
  DenseMap<Operation *, SmallVector<StringAttr, 1>> states; ///< whose next value an operation makes
  llvm::MapVector<Value, Value> replacements; ///< of a group's value by its call's result
};

struct FormKernels : weft::impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;

  void runOnOperation() override {
    const Target *chosen = findTarget(target, getOperation());
    if (!chosen)
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    KnownKernels known;
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isDeclaration() && !callsParts(function))
        functions.push_back(function);
    chooseStorages(functions, *chosen);
    for (func::FuncOp function : functions) {
      if (failed(check(function, *chosen)))
        return signalPassFailure();
      decomposeAll(function, [](Operation *op) { return isa<MapOp>(op); });
      dropBarriers(function);
      markStateUpdates(function.getBody().front());
      function.walk([&](Operation *op) {
        if (isa<DotGeneralOp>(op) && chosen->callsLibrary(op))
          chooseResultLayout(op->getResult(0), cast<DotGeneralOp>(op).getType().getRank() - 1);
        else if (isa<AttentionOp>(op))
          chooseResultLayout(op->getResult(0), /*unit=*/3);
        else if (isa<AttentionBackwardOp>(op))
          for (OpResult gradient : op->getResults())
            chooseResultLayout(gradient, /*unit=*/3);
        else if (isa<ConvOp>(op))
          chooseResultLayout(op->getResult(0), /*unit=*/1);
      });
      Outliner(function, *chosen, symbols, known).run();
    }
  }

  /// Barriers, which no pass merges across from here on, become views that keep kernels apart.
  static void dropBarriers(func::FuncOp function) {
    function.walk([](Operation *op) {
      if (isa<BarrierOp>(op)) {
        OpBuilder builder(op);
        auto view =
            ReshapeOp::create(builder, op->getLoc(), op->getResult(0).getType(), op->getOperand(0));
        view->setAttr(barrierAttrName, builder.getUnitAttr());
        if (auto part = op->getOperand(0).getDefiningOp<dist::SliceOp>())
          part->setAttr(heldAttrName, builder.getUnitAttr());
        op->replaceAllUsesWith(view);
        op->erase();
      }
    });
  }

  /// One block, of operations that a library or a kernel can do.
  static LogicalResult check(func::FuncOp function, const Target &target) {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("expected a body of one block, got: ")
             << function.getBody().getBlocks().size();
    for (Operation &op : function.getBody().front())
      if (needsLibrary(&op) && !target.callsLibrary(&op))
        return op.emitOpError("expected a target with a library for it, got: ") << target.getName();
    return success();
  }
};

} // namespace
