#include "compiler/Training/Differentiate.h"

#include "compiler/Training/JoinParts.h"
#include "dialects/Weft/IR/Decomposition.h"
#include "dialects/Weft/IR/GradientBuilder.h"
#include "dialects/Weft/IR/SourceName.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace weft;

static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

namespace {
/// One differentiation: gradients as they are found, in reverse.
class Reverse {
public:
  explicit Reverse(OpBuilder &builder) : builder(builder) {}

  void addVariable(Value value) {
    variables.insert(value);
    active.insert(value);
  }
  void addSeed(const Seed &seed) { accumulate(seed.value, seed.gradient); }
  /// Visits the operations of the block before the insertion point.
  LogicalResult run(Block &block);
  /// What is found of a value's gradient so far.
  Value getGradient(Value value);
  void nameGradient(Value value, Value gradient);

private:
  void findActive(ArrayRef<Operation *> operations);
  LogicalResult visitAll(ArrayRef<Operation *> operations);
  LogicalResult visit(Operation *op);
  LogicalResult visitWritten(Operation *op, ArrayRef<Value> results);
  void drop(Operation *op);
  void accumulate(Value value, Value gradient);
  void add(Value value, Value gradient);

  OpBuilder &builder;
  llvm::DenseSet<Value> variables;
  llvm::DenseSet<Value> active; ///< what depends on a variable
  llvm::DenseMap<Value, Value> gradients;
  /// Of values that are read in slices: gradients of these, among zeros. They are joined when the
  /// whole is looked at (JoinParts.h).
  llvm::DenseMap<Value, SmallVector<Value>> parts;
  llvm::DenseSet<Operation *> made; ///< by this differentiation
};
} // namespace

/// The location of what is built for something called `name`.
static Location gradientLoc(MLIRContext *context, StringRef name, Location from) {
  if (name.empty())
    return from;
  return NameLoc::get(StringAttr::get(context, gradientPrefix + name));
}

void Reverse::findActive(ArrayRef<Operation *> operations) {
  for (Operation *op : operations)
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return active.contains(operand); }))
      for (Value result : op->getResults())
        if (isFloat(result))
          active.insert(result);
}

LogicalResult Reverse::run(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : llvm::make_range(block.begin(), builder.getInsertionPoint()))
    operations.push_back(&op);
  findActive(operations);
  return visitAll(operations);
}

LogicalResult Reverse::visitAll(ArrayRef<Operation *> operations) {
  for (Operation *op : llvm::reverse(operations))
    if (failed(visit(op)))
      return failure();
  return success();
}

LogicalResult Reverse::visit(Operation *op) {
  SmallVector<Value> results;
  for (Value result : op->getResults())
    results.push_back(getGradient(result));
  SmallVector<bool> wanted;
  for (Value operand : op->getOperands())
    wanted.push_back(isFloat(operand) && active.contains(operand));
  if (llvm::none_of(results, [](Value gradient) { return gradient != nullptr; }) ||
      !llvm::is_contained(wanted, true))
    return success();
  for (auto [result, gradient] : llvm::zip_equal(op->getResults(), results))
    if (gradient)
      nameGradient(result, gradient);
  Location loc = gradientLoc(op->getContext(), getSourceName(op->getResult(0)), op->getLoc());
  ImplicitLocOpBuilder located(loc, builder);
  Operation *before = &*std::prev(builder.getInsertionPoint());
  GradientBuilder gradientsOf(located, op, results, wanted);
  auto interface = dyn_cast<DifferentiableOpInterface>(op);
  if (!interface || failed(interface.buildGradients(gradientsOf)))
    return visitWritten(op, results);
  for (Operation &built :
       llvm::make_range(std::next(before->getIterator()), builder.getInsertionPoint()))
    made.insert(&built);
  for (auto [operand, gradient] : llvm::zip_equal(op->getOperands(), gradientsOf.take()))
    if (gradient)
      accumulate(operand, gradient);
  if (gradientsOf.isReplaced())
    drop(op);
  return success();
}

/// Differentiates what an operation consists of, which takes its place.
LogicalResult Reverse::visitWritten(Operation *op, ArrayRef<Value> results) {
  auto interface = dyn_cast<DecomposableOpInterface>(op);
  if (!interface)
    return op->emitError() << "'" << op->getName()
                           << "' has no gradient, but the loss depends by it on what is trained";
  ImplicitLocOpBuilder inPlace(op->getLoc(), op);
  Operation *before = op->getPrevNode();
  SmallVector<Value> written = interface.decompose(inPlace);
  Block::iterator first = before ? std::next(before->getIterator()) : op->getBlock()->begin();
  SmallVector<Operation *> operations;
  for (Operation &each : llvm::make_range(first, op->getIterator()))
    operations.push_back(&each);
  for (auto [own, other, gradient] : llvm::zip_equal(op->getResults(), written, results)) {
    own.replaceAllUsesWith(other);
    if (gradient)
      accumulate(other, gradient);
  }
  drop(op);
  findActive(operations);
  return visitAll(operations);
}

/// Erases what has been replaced; a variable stays as it is.
void Reverse::drop(Operation *op) {
  if (op->use_empty() &&
      llvm::none_of(op->getResults(), [&](Value result) { return variables.contains(result); })) {
    for (Value result : op->getResults()) {
      gradients.erase(result);
      parts.erase(result);
      active.erase(result);
    }
    op->erase();
  }
}

void Reverse::accumulate(Value value, Value gradient) {
  if (isPartAmongZeros(gradient) && made.contains(gradient.getDefiningOp()))
    parts[value].push_back(gradient);
  else
    add(value, gradient);
}

void Reverse::add(Value value, Value gradient) {
  auto [entry, isNew] = gradients.try_emplace(value, gradient);
  if (isNew)
    return;
  Location loc = gradientLoc(value.getContext(), getSourceName(value), value.getLoc());
  ImplicitLocOpBuilder located(loc, builder);
  entry->second = TensorBuilder(located).add(entry->second, gradient);
  made.insert(entry->second.getDefiningOp());
}

Value Reverse::getGradient(Value value) {
  auto waiting = parts.find(value);
  if (waiting == parts.end())
    return gradients.lookup(value);
  SmallVector<Value> read = std::move(waiting->second);
  parts.erase(waiting);
  Location loc = gradientLoc(value.getContext(), getSourceName(value), value.getLoc());
  ImplicitLocOpBuilder located(loc, builder);
  Operation *before = &*std::prev(builder.getInsertionPoint());
  SmallVector<Value> joined = joinParts(located, read);
  for (Operation &built :
       llvm::make_range(std::next(before->getIterator()), builder.getInsertionPoint()))
    made.insert(&built);
  for (Value gradient : joined)
    add(value, gradient);
  return gradients.lookup(value);
}

/// The whole gradient of a value is called after it; one that is that of several values has all
/// their names.
void Reverse::nameGradient(Value value, Value gradient) {
  Operation *op = gradient.getDefiningOp();
  std::string name = getSourceName(value);
  if (!op || name.empty() || !made.contains(op) || op->getNumResults() != 1)
    return;
  Location own = gradientLoc(op->getContext(), name, op->getLoc());
  if (own != op->getLoc())
    op->setLoc(FusedLoc::get(op->getContext(), {own, op->getLoc()}));
}

FailureOr<SmallVector<Value>> weft::buildGradients(OpBuilder &builder, ArrayRef<Seed> seeds,
                                                   ArrayRef<Value> variables) {
  Reverse reverse(builder);
  for (Value variable : variables)
    reverse.addVariable(variable);
  for (const Seed &seed : seeds)
    reverse.addSeed(seed);
  if (failed(reverse.run(*builder.getBlock())))
    return failure();
  SmallVector<Value> gradients;
  for (Value variable : variables) {
    gradients.push_back(reverse.getGradient(variable));
    if (gradients.back())
      reverse.nameGradient(variable, gradients.back());
  }
  return gradients;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Value weft::sumGradients(OpBuilder &builder, ArrayRef<Value> gradients) {
  Value sum;
  for (Value gradient : gradients)
    if (gradient) {
      ImplicitLocOpBuilder located(gradient.getLoc(), builder);
      sum = sum ? TensorBuilder(located).add(sum, gradient) : gradient;
    }
  return sum;
}

/// The values of a function that a variable is: an argument, or all loads of a weight.
static FailureOr<SmallVector<Value>> findValues(func::FuncOp function, const Variable &variable) {
  SmallVector<Value> values;
  std::string name;
  if (const unsigned *number = std::get_if<unsigned>(&variable)) {
    name = "argument " + std::to_string(*number);
    if (*number < function.getNumArguments())
      values.push_back(function.getArgument(*number));
  } else {
    StringRef weight = std::get<StringRef>(variable);
    name = ("weight '" + weight + "'").str();
    for (auto load : function.getBody().front().getOps<LoadOp>())
      if (load.getWeight() == weight)
        values.push_back(load);
  }
  if (!values.empty() && llvm::all_of(values, isFloat))
    return values;
  return function.emitError() << "cannot be differentiated by " << name << ": "
                              << (values.empty() ? "it has none" : "its elements are no floats");
}

/// The gradients of variables, a list of values each, behind what a function computes.
static FailureOr<SmallVector<Value>> gradientsOf(OpBuilder &builder, ArrayRef<Seed> seeds,
                                                 ArrayRef<SmallVector<Value>> variables) {
  SmallVector<Value> all;
  for (const SmallVector<Value> &values : variables)
    llvm::append_range(all, values);
  FailureOr<SmallVector<Value>> gradients = buildGradients(builder, seeds, all);
  if (failed(gradients))
    return failure();
  ArrayRef<Value> rest = *gradients;
  SmallVector<Value> sums;
  for (const SmallVector<Value> &values : variables) {
    Value sum = sumGradients(builder, rest.take_front(values.size()));
    rest = rest.drop_front(values.size());
    auto type = cast<ShapedType>(values.front().getType());
    if (!sum)
      sum = ConstantOp::create(
          builder, values.front().getLoc(),
          DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
    sums.push_back(sum);
  }
  return sums;
}

FailureOr<func::FuncOp> weft::differentiate(func::FuncOp function, ArrayRef<Variable> variables,
                                            StringRef name) {
  for (const Variable &variable : variables)
    if (failed(findValues(function, variable)))
      return failure();
  OpBuilder builder(function);
  builder.setInsertionPointAfter(function);
  auto result = cast<func::FuncOp>(builder.clone(*function));
  result.setName(name);
  Block &body = result.getBody().front();
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  SmallVector<SmallVector<Value>> values;
  for (const Variable &variable : variables)
    values.push_back(*findValues(result, variable));
  SmallVector<Seed> seeds;
  for (Value value : end->getOperands())
    if (isFloat(value))
      seeds.push_back({value, body.addArgument(value.getType(), value.getLoc())});
  FailureOr<SmallVector<Value>> gradients = gradientsOf(builder, seeds, values);
  if (failed(gradients)) {
    result.erase();
    return failure();
  }
  end->insertOperands(end->getNumOperands(), *gradients);
  result.setType(builder.getFunctionType(body.getArgumentTypes(), end->getOperandTypes()));
  if (auto attrs = result.getArgAttrsAttr())
    result.removeArgAttrsAttr();
  result.removeResAttrsAttr();
  return result;
}
