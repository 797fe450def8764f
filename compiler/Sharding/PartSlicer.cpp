#include "compiler/Sharding/PartSlicer.h"

#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/SliceTokens.h"
#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Weft/IR/Elementwise.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace weft;

namespace {
/// What an operation asks of the slice that it is built for.
class SliceShards : public LocalShards {
public:
  SliceShards(const FactorRule &rule, const SequenceFactor &factor, const TokenRange &range)
      : rule(rule), factor(factor), range(range) {}

  bool isSplit(unsigned index) const override { return index == factor.factor; }
  int64_t localSize(unsigned index) const override {
    if (index == factor.key)
      return range.end;
    return isSplit(index) ? factor.outer * (range.end - range.begin) * factor.inner
                          : rule.factors[index].size;
  }
  std::optional<int64_t> getStart(unsigned index) const override {
    if (isSplit(index) && factor.outer != 1) // SequenceDims keeps such operations whole
      llvm::report_fatal_error("a slice of joined rows was asked where it begins");
    return isSplit(index) ? range.begin * factor.inner : 0;
  }
  Value offset(OpBuilder &builder, Location loc, unsigned index) override {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, *getStart(index)));
  }

private:
  const FactorRule &rule;
  const SequenceFactor &factor;
  const TokenRange &range;
};
} // namespace

PartSlicer::PartSlicer(const Part &part, const SequenceDims &dims, ArrayRef<TokenRange> ranges,
                       llvm::BitVector slicedArguments, llvm::BitVector slicedResults)
    : function(part.function), shardings(getMeshShape(part.mesh), dims.getLength()), dims(dims),
      ranges(ranges), slicedArguments(std::move(slicedArguments)),
      slicedResults(std::move(slicedResults)), builder(function.getContext()) {}

//===----------------------------------------------------------------------===//
// Types and annotations
//===----------------------------------------------------------------------===//

/// Where a tensor of the operation has tokens of the slice, and which.
SmallVector<std::pair<SequenceDim, TokenRange>> PartSlicer::findRanges(const TensorFactors &tensor,
                                                                       const Cut &cut) const {
  SmallVector<std::pair<SequenceDim, TokenRange>> found;
  if (std::optional<SequenceDim> dim = findDim(cut.rule, tensor, cut.factor))
    found.push_back({*dim, cut.range});
  if (cut.factor.key)
    if (std::optional<SequenceDim> dim = findDim(cut.rule, tensor, {*cut.factor.key}))
      found.push_back({*dim, {0, cut.range.end}});
  return found;
}

static int64_t getSize(const SequenceDim &dim, const TokenRange &range) {
  return dim.outer * (range.end - range.begin) * dim.inner;
}

RankedTensorType PartSlicer::getType(Type type, const TensorFactors &tensor, const Cut &cut) const {
  auto whole = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(whole.getShape());
  for (auto [dim, range] : findRanges(tensor, cut))
    shape[dim.dim] = getSize(dim, range);
  return whole.clone(shape);
}

SmallVector<SequenceDim> PartSlicer::findDims(const TensorFactors &tensor, const Cut &cut) const {
  SmallVector<SequenceDim> found;
  for (auto [dim, range] : findRanges(tensor, cut))
    found.push_back(dim);
  return found;
}

void PartSlicer::annotate(Value value, Value old, ArrayRef<SequenceDim> changed) {
  if (dist::ShardingAttr attr = dist::getSharding(old))
    dist::setSharding(value, shardings.get(attr, value.getType(), changed));
}

/// A slice of an operation lies, and is split, as the whole.
void PartSlicer::adjust(Operation *made, Operation &op, const Cut &cut) {
  for (auto [index, result] : llvm::enumerate(op.getResults()))
    annotate(made->getResult(index), result, findDims(cut.rule.results[index], cut));
  if (!made->removeAttr(dist::kSplitAttr) || !keepsSplits)
    return;
  DictionaryAttr split = shardings.getSplit(
      made, op, [&](const TensorFactors &tensor) { return findDims(tensor, cut); });
  losesSplit |= !split;
  if (split)
    made->setAttr(dist::kSplitAttr, split);
}

std::optional<int64_t> PartSlicer::getLevel(Operation &op, size_t slice) const {
  auto number = static_cast<int64_t>(slice), count = static_cast<int64_t>(ranges.size());
  switch (dims.getPass(&op)) {
  case SequenceDims::Pass::Forward:
    return number;
  case SequenceDims::Pass::Again: // where it is read
    return std::nullopt;
  case SequenceDims::Pass::Gradient:
    break;
  }
  return 2 * count - 1 - number;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The shape in which the sequence is a dimension's major part: behind what is outer.
static SmallVector<int64_t> exposeSequence(ArrayRef<int64_t> shape, const SequenceDim &dim) {
  SmallVector<int64_t> exposed(shape);
  exposed[dim.dim] /= dim.outer;
  exposed.insert(exposed.begin() + dim.dim, dim.outer);
  return exposed;
}

/// Tokens of a value that has them all, or the first of them.
Value PartSlicer::cut(Value value, Value old, const SequenceDim &dim, const TokenRange &range) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getDimSize(dim.dim) == getSize(dim, range))
    return value;
  ImplicitLocOpBuilder located(old.getLoc(), builder);
  TensorBuilder tensors(located);
  SmallVector<int64_t> shape = exposeSequence(type.getShape(), dim), starts(shape.size(), 0);
  shape[dim.dim + 1] = (range.end - range.begin) * dim.inner;
  starts[dim.dim + 1] = range.begin * dim.inner;
  SmallVector<int64_t> end(type.getShape());
  end[dim.dim] = getSize(dim, range);
  SmallVector<int64_t> strides(shape.size(), 1);
  Value part;
  if (dim.outer > 1) {
    part = tensors.reshape(value, exposeSequence(type.getShape(), dim));
    part = tensors.reshape(tensors.slice(part, starts, shape, strides), end);
  } else {
    starts.erase(starts.begin() + dim.dim);
    strides.pop_back();
    part = tensors.slice(value, starts, end, strides);
  }
  annotate(part, old, dim);
  return part;
}

/// The slices of a value up to a token.
Value PartSlicer::join(Value old, const SequenceDim &dim, int64_t end) {
  ImplicitLocOpBuilder located(old.getLoc(), builder);
  TensorBuilder tensors(located);
  SmallVector<Value> parts;
  for (auto [range, slice] : llvm::zip_equal(ranges, slices.at(old)))
    if (range.end <= end)
      parts.push_back(slice);
  if (parts.size() == 1)
    return parts.front();
  SmallVector<int64_t> shape(cast<ShapedType>(old.getType()).getShape());
  shape[dim.dim] = getSize(dim, {0, end});
  if (dim.outer > 1)
    for (Value &part : parts)
      part =
          tensors.reshape(part, exposeSequence(cast<ShapedType>(part.getType()).getShape(), dim));
  int64_t axis = dim.dim + (dim.outer > 1 ? 1 : 0);
  SmallVector<int64_t> joined(dim.outer > 1 ? exposeSequence(shape, dim) : shape);
  auto type = cast<RankedTensorType>(old.getType());
  Value whole = tensors.make<ConcatOp>(type.clone(joined), parts, axis);
  if (dim.outer > 1)
    whole = tensors.reshape(whole, shape);
  annotate(whole, old, dim);
  return whole;
}

Value PartSlicer::addUp(const Sums &of) {
  ImplicitLocOpBuilder located(of.of.front().getLoc(), builder);
  TensorBuilder tensors(located);
  Value total = of.of.front();
  for (auto [number, more] : llvm::enumerate(llvm::drop_begin(of.of))) {
    total = tensors.join(of.kind, total, more);
    // A gradient is not kept until all are there.
    if (of.isOfGradients)
      total.getDefiningOp()->setAttr(kLevelAttr,
                                     builder.getI64IntegerAttr(ranges.size() + 1 + number));
  }
  return total;
}

Value PartSlicer::getWhole(Value old) {
  Value &whole = wholes[old];
  if (whole)
    return whole;
  if (slices.contains(old))
    return whole = join(old, *dims.getDim(old), dims.getLength());
  whole = addUp(sums.at(old));
  annotate(whole, old, {});
  return whole;
}

/// What is the same in all slices and larger than what it is made of, as a broadcast, is not cut.
Value PartSlicer::makeAnew(Value old, const SequenceDim &dim, const TokenRange &range) {
  auto op = dyn_cast_or_null<FactorRuleOpInterface>(old.getDefiningOp());
  // Of a weight that is loaded a part is a view.
  if (!op || op->getNumResults() != 1 || dims.varies(old) || isa<SymbolUserOpInterface>(*op))
    return {};
  int64_t elements = cast<ShapedType>(old.getType()).getNumElements();
  for (Type type : op->getOperandTypes())
    elements -= cast<ShapedType>(type).getNumElements();
  FactorRule rule = op.getFactorRule();
  std::optional<SequenceFactor> factor =
      elements > 0 ? dims.findSliced(rule, rule.results[0], dim) : std::nullopt;
  return factor ? build(*op, {rule, *factor, range}).front() : Value();
}

Value PartSlicer::get(Value old, ArrayRef<std::pair<SequenceDim, TokenRange>> wanted) {
  bool isSlice = wanted.size() == 1 && slices.contains(old) && dims.getDim(old) == wanted[0].first;
  if (isSlice)
    if (auto found = llvm::find(ranges, wanted[0].second); found != ranges.end())
      return slices.at(old)[found - ranges.begin()];
  if (isSlice) {
    Value &joined = cuts[{old.getAsOpaquePointer(), wanted[0].first.dim, wanted[0].second}];
    return joined ? joined : joined = join(old, wanted[0].first, wanted[0].second.end);
  }
  if (wanted.size() == 1) {
    Value &made = cuts[{old.getAsOpaquePointer(), wanted[0].first.dim, wanted[0].second}];
    if (made || (made = makeAnew(old, wanted[0].first, wanted[0].second)))
      return made;
  }
  Value value = getWhole(old);
  for (auto &[dim, range] : wanted) {
    Value &part = cuts[{value.getAsOpaquePointer(), dim.dim, range}];
    value = part ? part : part = cut(value, old, dim, range);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Gradients of keys and values: what queries of later slices add to a token's goes from slice to
/// slice.
void PartSlicer::addKeys(OpResult result, Value value, const Cut &of, size_t slice) {
  Value &added = ofKeys[result];
  SequenceDim dim = *findDim(of.rule, of.rule.results[result.getResultNumber()], {*of.factor.key});
  if (added) {
    ImplicitLocOpBuilder located(result.getLoc(), builder);
    Value before = cut(added, result, dim, {0, of.range.end});
    value = TensorBuilder(located).add(value, before);
    annotate(value, result, dim);
  }
  added = value;
  slices[result][slice] = cut(value, result, dim, of.range);
}

void PartSlicer::addResult(OpResult result, Value value, const Cut &of, size_t slice) {
  const TensorFactors &tensor = of.rule.results[result.getResultNumber()];
  slices[result].resize(ranges.size());
  if (findDim(of.rule, tensor, of.factor)) {
    slices[result][slice] = value;
  } else if (of.factor.key && findDim(of.rule, tensor, {*of.factor.key})) {
    addKeys(result, value, of, slice);
  } else {
    slices.erase(result);
    sums[result].isOfGradients = isOfGradients(*result.getOwner());
    sums[result].kind = of.rule.factors[of.factor.factor].reduction;
    sums[result].of.push_back(value);
  }
}

/// An operation of some tokens: what its rule builds of one shard.
SmallVector<Value> PartSlicer::build(Operation &op, const Cut &of) {
  SmallVector<Value> operands;
  for (auto [operand, tensor] : llvm::zip_equal(op.getOperands(), of.rule.operands))
    operands.push_back(get(operand, findRanges(tensor, of)));
  SmallVector<Type> types;
  for (auto [type, tensor] : llvm::zip_equal(op.getResultTypes(), of.rule.results))
    types.push_back(getType(type, tensor, of));
  SliceShards shards(of.rule, of.factor, of.range);
  SmallVector<Value> results =
      cast<FactorRuleOpInterface>(op).buildLocal(builder, operands, types, shards);
  if (Operation *made = results.front().getDefiningOp(); made->getName() == op.getName())
    adjust(made, op, of);
  return results;
}

void PartSlicer::buildSlice(Operation &op, const FactorRule &rule, const SequenceFactor &factor,
                            size_t slice) {
  Cut of{rule, factor, ranges[slice]};
  SmallVector<Value> results = build(op, of);
  if (std::optional<int64_t> level = getLevel(op, slice))
    results.front().getDefiningOp()->setAttr(kLevelAttr, builder.getI64IntegerAttr(*level));
  for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
    addResult(result, value, of, slice);
}

/// A result in slices that those who read it do not know to be so is joined.
void PartSlicer::joinResult(Value result, const FactorRule &rule, const TensorFactors &tensor,
                            const SequenceFactor &factor) {
  std::optional<SequenceDim> dim = findDim(rule, tensor, factor);
  if (!dim && factor.key)
    dim = findDim(rule, tensor, {*factor.key});
  if (!dim || dims.getDim(result) == dim)
    return;
  wholes[result] = join(result, *dim, dims.getLength());
  slices.erase(result);
}

void PartSlicer::rewriteSliced(Operation &op, const SequenceFactor &factor) {
  FactorRule rule = cast<FactorRuleOpInterface>(op).getFactorRule();
  bool addsToKeys = factor.key && llvm::any_of(rule.results, [&](const TensorFactors &tensor) {
                      return findDim(rule, tensor, {*factor.key}) && !findDim(rule, tensor, factor);
                    });
  bool isFromLast = addsToKeys || isOfGradients(op);
  for (size_t number = 0; number < ranges.size(); ++number)
    buildSlice(op, rule, factor, isFromLast ? ranges.size() - 1 - number : number);
  for (auto [result, tensor] : llvm::zip_equal(op.getResults(), rule.results))
    joinResult(result, rule, tensor, factor);
}

/// Sums over microbatches are of each slice's part, as soon as it is there: where all lie alike.
bool PartSlicer::accumulate(Operation &op) {
  auto sum = dyn_cast<dist::AccumulateOp>(op);
  auto found = sum && keepsSplits ? sums.find(sum.getInput()) : sums.end();
  if (found == sums.end() || found->second.kind != ReduceKind::Sum)
    return false;
  Value last;
  for (Value part : found->second.of) {
    auto made = dist::AccumulateOp::create(builder, sum.getLoc(), sum.getType(), part, last);
    made->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
    if (part != found->second.of.back()) // where the sum lies is decided of all
      made->removeAttr(dist::kPinnedAttr);
    auto split = made->getAttrOfType<DictionaryAttr>(dist::kSplitAttr);
    if (last && split && split.contains("carries")) {
      NamedAttrList entries(split);
      entries.set("carries", builder.getDenseI64ArrayAttr({0, 1}));
      made->setAttr(dist::kSplitAttr, entries.getDictionary(builder.getContext()));
    }
    last = made;
  }
  wholes[sum.getResult()] = last;
  return true;
}

/// An operation that is linear makes of the parts of a sum parts of one.
bool PartSlicer::rewriteSums(Operation &op) {
  auto interface = dyn_cast<FactorRuleOpInterface>(op);
  // Without microbatches nothing is gained by it.
  if (!interface || op.getNumResults() != 1 || isa<dist::AccumulateOp>(op) ||
      !function->hasAttr(dist::kMicrobatchesAttr) || !keepsSplits)
    return false;
  SmallVector<bool> areSums;
  int64_t elements = cast<ShapedType>(op.getResult(0).getType()).getNumElements();
  for (Value operand : op.getOperands()) {
    auto found = sums.find(operand);
    areSums.push_back(found != sums.end() && found->second.kind == ReduceKind::Sum);
    if (areSums.back() && cast<ShapedType>(operand.getType()).getNumElements() < elements)
      return false;
  }
  SumLinearity linearity = interface.getFactorRule().linearity;
  bool isJoint =
      linearity == SumLinearity::Joint && llvm::all_of(areSums, [](bool is) { return is; });
  bool isOfOne = linearity == SumLinearity::Each && isa<ElementwiseOpInterface>(op) &&
                 llvm::count(areSums, true) == 1;
  if (areSums.empty() || (!isJoint && !isOfOne))
    return false;
  Sums made;
  made.isOfGradients = isOfGradients(op);
  for (size_t slice = 0; slice < ranges.size(); ++slice) {
    IRMapping parts;
    for (auto [operand, isSum] : llvm::zip_equal(op.getOperands(), areSums))
      parts.map(operand, isSum ? sums[operand].of[slice] : getWhole(operand));
    made.of.push_back(builder.clone(op, parts)->getResult(0));
  }
  sums[op.getResult(0)] = std::move(made);
  return true;
}

void PartSlicer::rewrite(Operation &op) {
  if (std::optional<SequenceFactor> factor = dims.getFactor(&op))
    return rewriteSliced(op, *factor);
  if (accumulate(op) || rewriteSums(op))
    return;
  IRMapping operands;
  for (Value operand : op.getOperands())
    operands.map(operand, getWhole(operand));
  Operation *made = builder.clone(op, operands);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), made->getResults()))
    wholes[result] = value;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

SmallVector<DictionaryAttr> PartSlicer::addArguments(Block &block) {
  SmallVector<DictionaryAttr> attributes;
  for (BlockArgument argument : function.getArguments()) {
    DictionaryAttr described = function.getArgAttrDict(argument.getArgNumber());
    auto type = cast<RankedTensorType>(argument.getType());
    if (!slicedArguments.test(argument.getArgNumber())) {
      wholes[argument] = block.addArgument(type, argument.getLoc());
      attributes.push_back(described);
      continue;
    }
    SequenceDim dim = *dims.getDim(argument);
    for (const TokenRange &range : ranges) {
      SmallVector<int64_t> shape(type.getShape());
      shape[dim.dim] = getSize(dim, range);
      slices[argument].push_back(block.addArgument(type.clone(shape), argument.getLoc()));
      attributes.push_back(shardings.get(described, type.clone(shape), dim));
    }
  }
  return attributes;
}

/// What the part returns, and what is said of it.
SmallVector<DictionaryAttr> PartSlicer::addResults(SmallVectorImpl<Value> &results) {
  SmallVector<DictionaryAttr> attributes;
  Operation *end = function.getBody().front().getTerminator();
  for (auto [index, old] : llvm::enumerate(end->getOperands())) {
    DictionaryAttr described = function.getResultAttrDict(index);
    if (!slicedResults.test(index)) {
      results.push_back(getWhole(old));
      attributes.push_back(described);
      continue;
    }
    SequenceDim dim = *dims.getDim(old);
    for (const TokenRange &range : ranges) {
      results.push_back(get(old, std::pair(dim, range)));
      attributes.push_back(shardings.get(described, results.back().getType(), dim));
    }
  }
  return attributes;
}

/// The body in slices.
Block *PartSlicer::build() {
  auto *block = new Block();
  arguments = addArguments(*block);
  // Annotations of what the operations make are looked for in the function.
  function.getBody().push_back(block);
  builder.setInsertionPointToEnd(block);
  for (Operation &op : function.getBody().front().without_terminator())
    rewrite(op);
  SmallVector<Value> values;
  results = addResults(values);
  func::ReturnOp::create(builder, function.getLoc(), values);
  return block;
}

void PartSlicer::run() {
  Block *block = build();
  if (losesSplit) { // splits fit each other: without one of them all follow from how values lie
    function.emitRemark() << "@" << function.getSymName()
                          << ": not all slices can be split as the plan splits whole sequences: "
                             "how operations are split follows from how values lie";
    block->erase();
    for (auto *values : {&wholes, &ofKeys})
      values->clear();
    slices.clear();
    sums.clear();
    cuts.clear();
    keepsSplits = false;
    block = build();
  }
  function.getBody().front().erase();
  function.setType(builder.getFunctionType(block->getArgumentTypes(),
                                           block->getTerminator()->getOperandTypes()));
  function.setAllArgAttrs(arguments);
  function.setAllResultAttrs(results);
  if (!keepsSplits)
    for (Operation &op : *block)
      op.removeAttr(dist::kSplitAttr);
}
