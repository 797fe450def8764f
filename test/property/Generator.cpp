#include "test/property/Generator.h"

#include "compiler/Interpret/Evaluate.h"
#include "compiler/Interpret/Numbers.h"

#include "mlir/IR/Verifier.h"
#include <cmath>
#include <stdexcept>

using namespace mlir;
using namespace weft;
using namespace weft::property;

Generator::Generator(MLIRContext &context, uint64_t seed, StringRef weightsPath)
    : context(context), random(seed), weightsPath(weightsPath), builder(&context), turn(seed) {
  Location unknown = builder.getUnknownLoc();
  module = ModuleOp::create(unknown);
  builder.setInsertionPointToStart(module->getBody());
  main = func::FuncOp::create(builder, unknown, "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(main.addEntryBlock());
}

//===----------------------------------------------------------------------===//
// Types and leaves
//===----------------------------------------------------------------------===//

Location Generator::location() {
  return NameLoc::get(builder.getStringAttr("v" + std::to_string(names++)));
}

RankedTensorType Generator::f32(ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, builder.getF32Type());
}
RankedTensorType Generator::i64(ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, builder.getI64Type());
}
RankedTensorType Generator::i1(ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, builder.getI1Type());
}

int64_t Generator::extent() { return random.pick<int64_t>({1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 12}); }

SmallVector<int64_t> Generator::randomShape(int64_t rank) {
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.push_back(extent());
  return shape;
}

Tensor Generator::randomTensor(RankedTensorType type, double low, double high) {
  std::vector<double> numbers(type.getNumElements());
  for (double &number : numbers)
    number = type.getElementType().isF32() ? random.real(low, high) : random.between(low, high);
  return tensorOf(type, numbers);
}

Node Generator::addInput(const Tensor &tensor) {
  Value argument = main.front().addArgument(tensor.type(), builder.getUnknownLoc());
  Node node{argument, tensor, true};
  inputs.push_back(tensor);
  known[argument] = node;
  pool.push_back(node);
  return node;
}

Node Generator::addWeight(const Tensor &tensor, bool computed) {
  std::string name = "w" + std::to_string(names++);
  OpBuilder::InsertionGuard guard(builder);
  Attribute storage;
  if (computed) {
    storage = tensor.toResource(name);
  } else {
    int64_t offset = model.file.size();
    model.file.insert(model.file.end(), tensor.raw().begin(), tensor.raw().end());
    model.file.resize((model.file.size() + 7) / 8 * 8);
    storage = ExternalAttr::get(&context, weightsPath, offset, tensor.raw().size());
    model.weights[name] = tensor;
  }
  builder.setInsertionPoint(main);
  WeightOp::create(
      builder, builder.getUnknownLoc(), builder.getStringAttr(name), TypeAttr::get(tensor.type()),
      storage,
      WeightKindAttr::get(&context, computed ? WeightKind::Constant : WeightKind::Parameter));
  builder.setInsertionPointToEnd(&main.front());
  auto load = LoadOp::create(builder, location(), tensor.type(), name);
  ++model.operations["load"];
  Node node{load, tensor, true};
  known[load] = node;
  pool.push_back(node);
  return node;
}

Node Generator::addConstant(Tensor tensor) {
  return take(ConstantOp::create(builder, location(), tensor.type(), tensor.toElements()), true);
}

Node Generator::splat(RankedTensorType type, double number) {
  Tensor tensor = Tensor::allocate(type, /*splat=*/true);
  writeNumbers(tensor.kind(), &number, tensor.mutableData(), 1);
  return addConstant(tensor);
}

Node Generator::leafOf(const Tensor &tensor) {
  switch (random.below(5)) {
  case 0:
    return addInput(tensor);
  case 1:
    if (tensor.size() <= ConstantOp::maxElements)
      return addConstant(tensor);
    return addWeight(tensor, /*computed=*/true);
  case 2:
    return addWeight(tensor, /*computed=*/true);
  default:
    return addWeight(tensor);
  }
}

//===----------------------------------------------------------------------===//
// Taking up operations
//===----------------------------------------------------------------------===//

namespace {
/// Ends a step whose value is of no use.
struct NotFinite {};
} // namespace

static bool allFinite(const std::vector<double> &numbers) {
  return llvm::all_of(numbers, [](double number) { return std::isfinite(number); });
}

Node Generator::take(Operation *op, bool exact) {
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands())
    operands.push_back(known.lookup(operand).tensor);
  if (failed(verify(op)))
    throw std::runtime_error("the generator made an operation that is not legal");
  auto results = evaluate(op, operands);
  if (!results)
    throw std::runtime_error(op->getName().getStringRef().str() + ": " +
                             llvm::toString(results.takeError()));
  Node first;
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), *results)) {
    if (isFloat(tensor.kind()) && !isa<ConstantOp>(op) && !allFinite(numbersOf<double>(tensor))) {
      op->erase();
      throw NotFinite();
    }
    Node node{result, tensor, exact};
    known[result] = node;
    if (!first)
      first = node;
  }
  ++model.operations[op->getName().stripDialect().str()];
  first = scaledDown(first);
  pool.push_back(first);
  return first;
}

Node Generator::scaledDown(Node node) {
  if (node.tensor.kind() != DType::F32 || isa<ConstantOp>(node.value.getDefiningOp()))
    return node;
  double largest = 0;
  for (double number : numbersOf<double>(node.tensor))
    largest = std::max(largest, std::fabs(number));
  if (largest < 20)
    return node;
  Node factor = splat(node.type(), std::ldexp(1.0, -int(std::log2(largest))));
  return take(MulOp::create(builder, location(), node.value, factor.value), node.exact);
}

Node Generator::apply(StringRef name, ArrayRef<Node> operands, bool keepsExact) {
  OperationState state(location(), ("weft." + name).str());
  bool exact = keepsExact;
  for (const Node &operand : operands) {
    state.addOperands(operand.value);
    exact &= operand.exact;
  }
  state.addTypes(operands.front().type());
  return take(builder.create(state), exact);
}

Node Generator::broadcastTo(const Node &node, RankedTensorType type, ArrayRef<int64_t> dims) {
  return take(BroadcastOp::create(builder, location(), type, node.value, dims), node.exact);
}

Node Generator::reshape(const Node &node, ArrayRef<int64_t> shape) {
  return take(ReshapeOp::create(builder, location(), node.type().clone(shape), node.value),
              node.exact);
}

Node Generator::transpose(const Node &node, ArrayRef<int64_t> order) {
  return take(TransposeOp::create(builder, location(), node.value, order), node.exact);
}

Node Generator::slice(const Node &node, ArrayRef<int64_t> starts, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(starts.size(), 1);
  return take(
      SliceOp::create(builder, location(), node.type().clone(shape), node.value, starts, strides),
      node.exact);
}

Node Generator::dot(const Node &lhs, const Node &rhs, ArrayRef<int64_t> lhsBatch,
                    ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract,
                    ArrayRef<int64_t> rhsContract) {
  return take(DotGeneralOp::create(builder, location(), lhs.value, rhs.value, lhsBatch, rhsBatch,
                                   lhsContract, rhsContract),
              false);
}

//===----------------------------------------------------------------------===//
// Choosing values
//===----------------------------------------------------------------------===//

Node Generator::pick(int64_t leastRank, bool exact) {
  SmallVector<Node> fitting;
  for (const Node &node : pool)
    if (node.tensor.kind() == DType::F32 && node.rank() >= leastRank &&
        node.tensor.size() <= 4096 && (node.exact || !exact) &&
        !isa_and_present<ConstantOp>(node.value.getDefiningOp()))
      fitting.push_back(node);
  if (fitting.empty() || random.oneIn(8))
    return addInput(
        randomTensor(f32(randomShape(std::max<int64_t>(leastRank, random.between(1, 3)))), -2, 2));
  // Prefer late values: chains grow long.
  int64_t late = std::max<int64_t>(fitting.size() - 4, 0);
  return random.oneIn(3) ? fitting[random.below(fitting.size())]
                         : fitting[random.between(late, fitting.size() - 1)];
}

Node Generator::pickRank(int64_t rank) {
  Node node = pick();
  if (node.rank() == rank)
    return node;
  SmallVector<int64_t> shape(node.shape());
  while (int64_t(shape.size()) > rank && shape.size() > 1) { // join neighbours
    int64_t at = random.below(shape.size() - 1);
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + at + 1);
  }
  while (int64_t(shape.size()) < rank) { // split an even extent, or add a unit
    int64_t at = shape.empty() ? 0 : random.below(shape.size());
    bool even = !shape.empty() && shape[at] % 2 == 0;
    if (even)
      shape[at] /= 2;
    shape.insert(shape.begin() + at, even ? 2 : 1);
  }
  return int64_t(shape.size()) == rank ? reshape(node, shape)
                                       : addInput(randomTensor(f32({}), -2, 2));
}

Node Generator::pickInteger() {
  SmallVector<Node> fitting;
  for (const Node &node : pool)
    if (node.tensor.kind() == DType::I64 && node.tensor.size() <= 4096)
      fitting.push_back(node);
  if (fitting.empty() || random.oneIn(3))
    return leaf(i64(randomShape(random.between(1, 3))), -20, 20);
  return fitting[random.below(fitting.size())];
}

Node Generator::partner(const Node &node) {
  SmallVector<Node> fitting;
  for (const Node &other : pool)
    if (other.type() == node.type())
      fitting.push_back(other);
  if (!fitting.empty() && !random.oneIn(3))
    return fitting[random.below(fitting.size())];
  SmallVector<int64_t> dims, shape;
  for (int64_t dim = 0; dim < node.rank(); ++dim)
    if (random.oneIn(2)) {
      dims.push_back(dim);
      shape.push_back(random.oneIn(6) ? 1 : node.shape()[dim]);
    }
  Node small = leaf(node.type().clone(shape), -2, 2);
  return dims.size() == size_t(node.rank()) && small.shape() == node.shape()
             ? small
             : broadcastTo(small, node.type(), dims);
}

Node Generator::indices(ArrayRef<int64_t> shape, int64_t extent) {
  return leaf(i64(shape), random.oneIn(2) ? 0 : -extent, extent - 1);
}

Node Generator::condition(ArrayRef<int64_t> shape) { return leaf(i1(shape), 0, 1); }

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

Model Generator::generate(int count) {
  SmallVector<int64_t> shape{random.pick<int64_t>({2, 4, 4, 8}), random.pick<int64_t>({4, 6, 8}),
                             random.pick<int64_t>({8, 12, 16})};
  addInput(randomTensor(f32(shape), -2, 2));
  SmallVector<Step> drawn;
  for (const WeightedStep &each : steps())
    drawn.append(each.weight, each.step);
  for (int made = 0, tries = 0; made < count && tries < 8 * count; ++tries)
    try {
      made += (this->*drawn[random.below(drawn.size())])();
    } catch (const NotFinite &) {
      continue; // what the step made before stays
    }
  finish(model);
  return std::move(model);
}

/// Gives @main its type, names and results: every value that nothing uses.
void Generator::finish(Model &result) {
  SmallVector<Value> results;
  for (Operation &op : main.front())
    for (Value value : op.getResults())
      if (value.use_empty() && !isa<ConstantOp, LoadOp>(op))
        results.push_back(value);
  func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  main.setFunctionType(
      builder.getFunctionType(main.front().getArgumentTypes(), ValueRange(results).getTypes()));
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.setArgAttr(i, "weft.name", builder.getStringAttr("x" + std::to_string(i)));
  for (auto [i, value] : llvm::enumerate(results)) {
    main.setResultAttr(i, "weft.name", builder.getStringAttr("y" + std::to_string(i)));
    result.outputs.push_back(known.lookup(value).tensor);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.front())))
    if (op.use_empty() && isa<ConstantOp, LoadOp>(op))
      op.erase();
  llvm::append_range(result.values, main.getArguments());
  for (Operation &op : main.front())
    llvm::append_range(result.values, op.getResults());
  result.inputs = inputs;
  result.module = std::move(module);
  if (failed(verify(*result.module)))
    throw std::runtime_error("the generator made a module that is not legal");
}
