#include "passes/Import/RotaryTables.h"

#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/FactorRule.h"
#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Rows of pairs
//===----------------------------------------------------------------------===//

namespace {
/// Rows of `width` elements, the last dimensions of values, and how they hold pairs.
struct Rows {
  int64_t width;
  Pairing pairing;
  Constants &constants;
  StringRef name; ///< of tables that become constants

  /// The first of the dimensions that make up rows; none where no dimensions do.
  std::optional<int64_t> firstDim(ArrayRef<int64_t> shape) const {
    int64_t product = 1, dim = shape.size();
    while (dim > 0 && product < width)
      product *= shape[--dim];
    return product == width ? std::optional(dim) : std::nullopt;
  }
  /// A dimension that tells the elements of a pair apart, and nothing else; -1 if there is none.
  int64_t pairDim(ArrayRef<int64_t> shape) const {
    int64_t dim = pairing == Pairing::Halves ? *firstDim(shape) : int64_t(shape.size()) - 1;
    return shape[dim] == 2 ? dim : -1;
  }
  SmallVector<int64_t> halvedShape(Value value) const {
    SmallVector<int64_t> shape(shapeOf(value).take_front(*firstDim(shapeOf(value))));
    shape.push_back(width / 2);
    return shape;
  }

  bool areEqual(const Tensor &table) const;
  bool areEqual(Value table, int depth = 8) const;
  Value half(OpBuilder &builder, Value table) const;

private:
  Tensor half(const Tensor &table) const;
};
} // namespace

/// Whether the elements of each pair are one number.
bool Rows::areEqual(const Tensor &table) const {
  if (table.isSplat())
    return true;
  std::vector<double> numbers = numbersOf<double>(table);
  int64_t apart = pairing == Pairing::Halves ? width / 2 : 1;
  int64_t step = pairing == Pairing::Halves ? 1 : 2;
  for (int64_t row = 0; row < static_cast<int64_t>(numbers.size()); row += width)
    for (int64_t pair = 0; pair < width / 2; ++pair)
      if (numbers[row + pair * step] != numbers[row + pair * step + apart])
        return false;
  return true;
}

Tensor Rows::half(const Tensor &table) const {
  SmallVector<int64_t> shape(table.shape().take_front(*firstDim(table.shape())));
  shape.push_back(width / 2);
  auto type = RankedTensorType::get(shape, table.type().getElementType());
  if (table.isSplat())
    return table.withType(type);
  std::vector<double> numbers = numbersOf<double>(table), first;
  for (int64_t row = 0; row < static_cast<int64_t>(numbers.size()); row += width)
    for (int64_t pair = 0; pair < width / 2; ++pair)
      first.push_back(numbers[row + (pairing == Pairing::Halves ? pair : 2 * pair)]);
  return tensorOf(type, first);
}

/// Two times the same, joined along a dimension.
static bool isDoubled(ConcatOp concat, int64_t axis) {
  return concat && concat.getInputs().size() == 2 &&
         concat.getInputs()[0] == concat.getInputs()[1] &&
         static_cast<int64_t>(concat.getAxis()) == axis;
}

/// The dimension along which a concatenation of a table with itself makes pairs.
static int64_t doubledDim(const Rows &rows, ConcatOp concat) {
  ArrayRef<int64_t> shape = shapeOf(concat.getResult());
  return rows.pairing == Pairing::Halves ? *rows.firstDim(shape) : rows.pairDim(shape);
}

/// Whether a broadcast repeats whole rows of its operand.
static bool repeatsRows(const Rows &rows, BroadcastOp broadcast) {
  int64_t first = *rows.firstDim(shapeOf(broadcast.getResult()));
  int64_t count = rankOf(broadcast.getResult()) - first;
  ArrayRef<int64_t> dims = broadcast.getDims();
  return static_cast<int64_t>(dims.size()) >= count && dims.take_back(count).front() == first &&
         shapeOf(broadcast.getInput()).take_back(count) ==
             shapeOf(broadcast.getResult()).take_back(count);
}

/// Whether a broadcast repeats along the dimension that tells the elements of a pair apart, or
/// along rows.
static bool repeatsPairs(const Rows &rows, BroadcastOp broadcast) {
  ArrayRef<int64_t> dims = broadcast.getDims(), shape = shapeOf(broadcast.getResult());
  int64_t first = *rows.firstDim(shape), pair = rows.pairDim(shape);
  bool alongRows = dims.empty() || dims.back() < first;
  bool hasHalf = shape[rows.pairing == Pairing::Halves ? first : shape.size() - 1] % 2 == 0;
  return (alongRows && hasHalf) || (pair >= 0 && !llvm::is_contained(dims, pair));
}

bool Rows::areEqual(Value table, int depth) const {
  if (depth == 0 || width % 2 != 0 || !firstDim(shapeOf(table)))
    return false;
  if (splatNumber(table))
    return true;
  if (FailureOr<Tensor> known = constants.valueOf(table); succeeded(known))
    return areEqual(*known);
  Operation *op = table.getDefiningOp();
  if (auto concat = dyn_cast_or_null<ConcatOp>(op))
    return isDoubled(concat, doubledDim(*this, concat));
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    return repeatsPairs(*this, broadcast) ||
           (repeatsRows(*this, broadcast) && areEqual(broadcast.getInput(), depth - 1));
  if (!isa_and_nonnull<ReshapeOp>(op) && !(op && op->hasTrait<OpTrait::Elementwise>()))
    return false;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return areEqual(operand, depth - 1); });
}

/// One element of each pair of a table whose pairs are equal: the leading dimensions, and pairs.
Value Rows::half(OpBuilder &builder, Value table) const {
  Location loc = table.getLoc();
  auto type = RankedTensorType::get(halvedShape(table), elementOf(table));
  if (FailureOr<Tensor> known = constants.valueOf(table); succeeded(known))
    return constants.create(builder, loc, half(*known), name);
  Operation *op = table.getDefiningOp();
  if (auto concat = dyn_cast<ConcatOp>(op))
    return builder.createOrFold<ReshapeOp>(loc, type, concat.getInputs()[0]);
  if (isa<ReshapeOp>(op))
    return builder.createOrFold<ReshapeOp>(loc, type, half(builder, op->getOperand(0)));
  if (auto broadcast = dyn_cast<BroadcastOp>(op); broadcast && !repeatsPairs(*this, broadcast)) {
    Value input = half(builder, broadcast.getInput());
    SmallVector<int64_t> dims(broadcast.getDims().take_front(rankOf(input)));
    return BroadcastOp::create(builder, loc, type, input, dims);
  }
  if (isa<BroadcastOp>(op)) {
    ArrayRef<int64_t> shape = shapeOf(table);
    int64_t dim = pairing == Pairing::Halves ? *firstDim(shape) : rankOf(table) - 1;
    SmallVector<int64_t> starts(shape.size(), 0), strides(shape.size(), 1), sizes(shape);
    sizes[dim] /= 2;
    auto taken = RankedTensorType::get(sizes, elementOf(table));
    Value slice = SliceOp::create(builder, loc, taken, table, starts, strides);
    return builder.createOrFold<ReshapeOp>(loc, type, slice);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(half(builder, operand));
  return cloneWithTypes(builder, op, operands, type).front();
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// How rows are repeated that a view joins of `dims`, of which one tells the elements of pairs
/// apart and is not the table's; none where others are not either.
static std::optional<Pairing> repetition(ArrayRef<int64_t> dims, ArrayRef<int64_t> shape,
                                         ArrayRef<Dims> placed) {
  auto isRepeated = [&](int64_t dim) { return placed[dim].empty(); };
  if (llvm::count_if(dims, isRepeated) != 1)
    return std::nullopt;
  if (isRepeated(dims.back()) && shape[dims.back()] == 2)
    return Pairing::Interleaved;
  if (isRepeated(dims.front()) && shape[dims.front()] == 2)
    return Pairing::Halves;
  return std::nullopt;
}

/// Follows a table through a view; fails where that splits, or joins repeated dimensions with
/// others, but for rows of pairs.
LogicalResult AngleTable::move(Operation *view) {
  std::optional<ViewMap> map = ViewMap::of(view);
  if (!map || repeated)
    return failure();
  SmallVector<Dims> result(rankOf(view->getResult(0)));
  for (const ViewMap::Group &group : map->groups()) {
    auto isRepeated = [&](int64_t from) { return placed[from].empty(); };
    if (llvm::all_of(group.from, isRepeated))
      continue;
    if (group.to.size() != 1)
      return failure();
    if (llvm::any_of(group.from, isRepeated)) {
      repeated = repetition(group.from, map->fromShape(), placed);
      if (!repeated || group.to.front() + 1 != static_cast<int64_t>(result.size()))
        return failure();
    }
    for (int64_t from : group.from)
      llvm::append_range(result[group.to.front()], placed[from]);
  }
  placed = result;
  return success();
}

AngleTable::AngleTable(Value factor) : root(factor), placed(rankOf(factor)) {
  auto broadcast = factor.getDefiningOp<BroadcastOp>();
  if (broadcast)
    root = broadcast.getInput();
  for (auto [index, size] : llvm::enumerate(shapeOf(root)))
    if (size != 1)
      placed[broadcast ? broadcast.getDims()[index] : index].push_back(index);
}

std::optional<AngleTable> AngleTable::ifInOrder() const {
  Dims all;
  for (const Dims &dims : placed)
    llvm::append_range(all, dims);
  return llvm::is_sorted(all) ? std::optional(*this) : std::nullopt;
}

std::optional<AngleTable> AngleTable::ofPairs(Value factor, ArrayRef<int64_t> order,
                                              Pairing pairing) {
  AngleTable table(factor);
  SmallVector<Dims> own = table.placed;
  table.placed.clear();
  for (int64_t from : order)
    table.placed.push_back(std::exchange(own[from], {}));
  if (llvm::any_of(own, [](const Dims &left) { return !left.empty(); }))
    return std::nullopt;
  if (!table.placed.back().empty())
    table.repeated = pairing;
  return table.ifInOrder();
}

std::optional<AngleTable> AngleTable::of(Value factor, ArrayRef<Operation *> views) {
  AngleTable table(factor);
  for (Operation *view : views)
    if (failed(table.move(view)))
      return std::nullopt;
  return table.ifInOrder();
}

Dims AngleTable::dims() const {
  Dims dims;
  for (auto [dim, sources] : llvm::enumerate(ArrayRef(placed).drop_back()))
    if (!sources.empty())
      dims.push_back(dim);
  return dims;
}

bool AngleTable::sharesAngles(int64_t width, Pairing pairing, Constants &constants) const {
  if (repeated || placed.back().empty())
    return !repeated || *repeated == pairing;
  return Rows{width, pairing, constants, ""}.areEqual(root);
}

Value AngleTable::build(OpBuilder &builder, ArrayRef<int64_t> shape, int64_t positions,
                        Pairing pairing, Constants &constants, StringRef name) const {
  Location loc = root.getLoc();
  int64_t batch = placed.front().empty() ? 1 : shape.front(), pairs = shape.back() / 2;
  auto type = RankedTensorType::get({batch, shape[positions], pairs}, elementOf(root));
  if (repeated) {
    if (FailureOr<Tensor> known = constants.valueOf(root); succeeded(known))
      return constants.create(builder, loc, known->withType(type), name);
    return builder.createOrFold<ReshapeOp>(loc, type, root);
  }
  if (!placed.back().empty())
    return builder.createOrFold<ReshapeOp>(
        loc, type, Rows{shape.back(), pairing, constants, name}.half(builder, root));
  auto column = RankedTensorType::get({batch, shape[positions]}, elementOf(root));
  Value angles = builder.createOrFold<ReshapeOp>(loc, column, root);
  return BroadcastOp::create(builder, loc, type, angles, ArrayRef<int64_t>{0, 1});
}
