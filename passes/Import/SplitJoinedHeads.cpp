// Exporters that compute attention by products of one batch join batch and heads before it. Heads
// that are minor in a dimension cannot be split over devices, so both become dimensions again:
// joins vanish where they were made, upwards of all operands.
//
//   %q = reshape %x : 4x8x16x64 to 32x1x16x64        %x : 4x8x16x64
//   attention %q, … : 32x1x16x64                     attention %x, …

#include "dialects/Weft/IR/Splat.h"
#include "dialects/Weft/IR/Verify.h"
#include "passes/Import/Patterns.h"
#include "passes/Import/ViewMap.h"

using namespace mlir;
using namespace weft;

namespace {
/// Computes values of which one dimension is taken apart again.
class DimSplitter {
public:
  DimSplitter(PatternRewriter &rewriter, int64_t major, int64_t minor)
      : rewriter(rewriter), major(major), minor(minor) {}

  /// Whether the dimension was joined of these two, or is made of such.
  bool canSplit(Value value, int64_t dim, unsigned depth = 0) const;
  Value split(Value value, int64_t dim);

private:
  /// The dimensions of an operation's operands, none or one each, that are one of its result.
  using Sources = SmallVector<std::optional<int64_t>, 2>;

  static std::optional<Sources> sourcesOf(Operation *op, int64_t dim);
  bool isJoin(Operation *op, int64_t dim) const;
  SmallVector<int64_t> splitShape(ArrayRef<int64_t> shape, int64_t dim) const;
  Value rebuild(Operation *op, ArrayRef<Value> operands, const Sources &sources, int64_t dim);

  PatternRewriter &rewriter;
  int64_t major, minor;
};
} // namespace

/// The dimensions of a product's operands that are dimension `dim` of its result.
static std::pair<std::optional<int64_t>, std::optional<int64_t>> productDims(DotGeneralOp op,
                                                                             int64_t dim) {
  int64_t batches = op.getLhsBatch().size();
  if (dim < batches)
    return {op.getLhsBatch()[dim], op.getRhsBatch()[dim]};
  auto freeDim = [](Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract,
                    int64_t &number) -> std::optional<int64_t> {
    for (int64_t dim = 0; dim < rankOf(operand); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim) && number-- == 0)
        return dim;
    return std::nullopt;
  };
  int64_t number = dim - batches;
  if (auto left = freeDim(op.getLhs(), op.getLhsBatch(), op.getLhsContract(), number))
    return {left, std::nullopt};
  return {std::nullopt, freeDim(op.getRhs(), op.getRhsBatch(), op.getRhsContract(), number)};
}

/// None of operations that are not passed.
std::optional<DimSplitter::Sources> DimSplitter::sourcesOf(Operation *op, int64_t dim) {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return Sources{transpose.getPermutation()[dim]};
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    const int64_t *at = llvm::find(broadcast.getDims(), dim);
    bool isOwn = at != broadcast.getDims().end();
    return Sources{isOwn ? std::optional(at - broadcast.getDims().begin()) : std::nullopt};
  }
  if (isa<ReshapeOp>(op)) {
    std::optional<ViewMap> map = ViewMap::of(op);
    std::optional<int64_t> source = map ? map->sourceOf(dim) : std::nullopt;
    return source ? std::optional(Sources{source}) : std::nullopt;
  }
  if (auto product = dyn_cast<DotGeneralOp>(op)) {
    auto [left, right] = productDims(product, dim);
    return Sources{left, right};
  }
  if (op->hasTrait<OpTrait::Elementwise>() && isa<WeftDialect>(op->getDialect()))
    return Sources(op->getNumOperands(), dim);
  return std::nullopt;
}

bool DimSplitter::isJoin(Operation *op, int64_t dim) const {
  auto reshape = dyn_cast<ReshapeOp>(op);
  std::optional<ViewMap> map = reshape ? ViewMap::of(reshape) : std::nullopt;
  std::optional<Dims> sources = map ? map->sourcesOf(dim) : std::nullopt;
  return sources && sources->size() > 1 && shapeOf(reshape.getInput())[sources->back()] == minor;
}

bool DimSplitter::canSplit(Value value, int64_t dim, unsigned depth) const {
  constexpr unsigned deepest = 12; // operations between a join and attention
  Operation *op = value.getDefiningOp();
  if (splatNumber(value))
    return true;
  if (!op || depth == deepest || isJoin(op, dim))
    return op && isJoin(op, dim);
  std::optional<Sources> sources = sourcesOf(op, dim);
  return sources && llvm::all_of(llvm::zip_equal(op->getOperands(), *sources), [&](auto pair) {
           auto [operand, source] = pair;
           return !source || canSplit(operand, *source, depth + 1);
         });
}

SmallVector<int64_t> DimSplitter::splitShape(ArrayRef<int64_t> shape, int64_t dim) const {
  SmallVector<int64_t> result(shape);
  result[dim] = major;
  result.insert(result.begin() + dim + 1, minor);
  return result;
}

/// Dimension numbers where `dim` became two: of these both, or, of a number beside, as it is now.
static SmallVector<int64_t> renumber(ArrayRef<int64_t> dims, std::optional<int64_t> dim) {
  SmallVector<int64_t> result;
  for (int64_t old : dims) {
    result.push_back(dim && old > *dim ? old + 1 : old);
    if (dim && old == *dim)
      result.push_back(old + 1);
  }
  return result;
}

Value DimSplitter::rebuild(Operation *op, ArrayRef<Value> operands, const Sources &sources,
                           int64_t dim) {
  Location loc = op->getLoc();
  auto type = RankedTensorType::get(splitShape(shapeOf(op->getResult(0)), dim),
                                    elementOf(op->getResult(0)));
  if (isa<ReshapeOp>(op))
    return ReshapeOp::create(rewriter, loc, type, operands[0]);
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return TransposeOp::create(rewriter, loc, type, operands[0],
                               renumber(transpose.getPermutation(), sources[0]));
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return BroadcastOp::create(
        rewriter, loc, type, operands[0],
        sources[0] ? renumber(broadcast.getDims(), dim)
                   : SmallVector<int64_t>(llvm::map_range(broadcast.getDims(), [&](int64_t old) {
                       return old > dim ? old + 1 : old;
                     })));
  if (auto product = dyn_cast<DotGeneralOp>(op))
    return DotGeneralOp::create(
        rewriter, loc, operands[0], operands[1], renumber(product.getLhsBatch(), sources[0]),
        renumber(product.getRhsBatch(), sources[1]), renumber(product.getLhsContract(), sources[0]),
        renumber(product.getRhsContract(), sources[1]));
  return cloneWithTypes(rewriter, op, operands, type).front();
}

Value DimSplitter::split(Value value, int64_t dim) {
  auto type = RankedTensorType::get(splitShape(shapeOf(value), dim), elementOf(value));
  Operation *op = value.getDefiningOp();
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return resizeSplat(rewriter, constant, type);
  std::optional<Sources> sources = isJoin(op, dim) ? std::nullopt : sourcesOf(op, dim);
  if (!sources) // a join
    return ReshapeOp::create(rewriter, value.getLoc(), type, value);
  SmallVector<Value> operands;
  for (auto [operand, source] : llvm::zip_equal(op->getOperands(), *sources))
    operands.push_back(source ? split(operand, *source) : operand);
  return rebuild(op, operands, *sources, dim);
}

/// How many heads were joined behind the batch; 0 where none were.
static int64_t joinedHeads(Value query) {
  auto reshape = query.getDefiningOp<ReshapeOp>();
  std::optional<ViewMap> map = reshape ? ViewMap::of(reshape) : std::nullopt;
  std::optional<Dims> sources = map ? map->sourcesOf(0) : std::nullopt;
  return sources && sources->size() > 1 ? shapeOf(reshape.getInput())[sources->back()] : 0;
}

LogicalResult weft::splitJoinedHeads(AttentionOp op, PatternRewriter &rewriter) {
  int64_t heads = joinedHeads(op.getQuery()), joined = shapeOf(op.getQuery())[0];
  bool isSingle = shapeOf(op.getQuery())[1] == 1 && shapeOf(op.getKey())[1] == 1;
  if (!isSingle || heads == 0 || op.getLse())
    return rewriter.notifyMatchFailure(op, "no heads that were joined with the batch");
  DimSplitter splitter(rewriter, joined / heads, heads);
  auto isRepeated = [](Value operand) { return shapeOf(operand)[0] == 1; };
  if (!llvm::all_of(op->getOperands(), [&](Value operand) {
        return isRepeated(operand) || splitter.canSplit(operand, 0);
      }))
    return rewriter.notifyMatchFailure(op, "operands were not joined alike");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    SmallVector<int64_t> shape(shapeOf(operand));
    if (isRepeated(operand)) {
      operands.push_back(operand);
      continue;
    }
    shape[0] = joined / heads, shape[1] = heads;
    auto type = RankedTensorType::get(shape, elementOf(operand));
    operands.push_back(
        ReshapeOp::create(rewriter, operand.getLoc(), type, splitter.split(operand, 0)));
  }
  SmallVector<int64_t> shape(shapeOf(op.getResult()));
  shape[0] = joined / heads, shape[1] = heads;
  Type type = RankedTensorType::get(shape, elementOf(op.getResult()));
  Value result = cloneWithTypes(rewriter, op, operands, type).front();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getResult().getType(), result);
  return success();
}
