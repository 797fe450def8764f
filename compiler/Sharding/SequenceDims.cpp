#include "compiler/Sharding/SequenceDims.h"

#include "compiler/Sharding/BackwardPass.h"
#include "compiler/Sharding/RecomputedOps.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Factors and dimensions
//===----------------------------------------------------------------------===//

/// The factor that holds the whole sequence of a dimension; none where factors cut it.
static std::optional<SequenceFactor> findFactor(const FactorRule &rule, const TensorFactors &tensor,
                                                const SequenceDim &at, int64_t length) {
  int64_t below = 1;
  for (unsigned factor : llvm::reverse(tensor[at.dim])) {
    int64_t size = rule.factors[factor].size;
    int64_t inner = at.inner / below;
    if (at.inner % below == 0 && inner * length <= size && size % (inner * length) == 0 && size > 1)
      return SequenceFactor{factor, size / (inner * length), inner};
    below *= size;
  }
  return std::nullopt;
}

std::optional<SequenceDim> weft::findDim(const FactorRule &rule, const TensorFactors &tensor,
                                         const SequenceFactor &sequence) {
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    auto found = llvm::find(factors, sequence.factor);
    if (found == factors.end())
      continue;
    SequenceDim at{static_cast<unsigned>(dim), sequence.outer, sequence.inner};
    for (unsigned factor : llvm::make_range(factors.begin(), found))
      at.outer *= rule.factors[factor].size;
    for (unsigned factor : llvm::make_range(std::next(found), factors.end()))
      at.inner *= rule.factors[factor].size;
    return at;
  }
  return std::nullopt;
}

static bool maySlice(const FactorRule &rule, unsigned factor) {
  FactorKind kind = rule.factors[factor].kind;
  return kind == FactorKind::Parallel || kind == FactorKind::Reduction ||
         (rule.causal && rule.causal->query == factor);
}

/// Whether an operation may be built of slices that are several runs of positions: one that asks
/// where its positions begin can have one run alone.
static bool mayScatter(const FactorRule &rule, unsigned factor) {
  bool isOfIndices = rule.indices && !rule.inOperand(factor, *rule.indices);
  return !rule.operands.empty() && !rule.causal && !isOfIndices;
}

/// Whether slices of the factor give slices of the results, or parts of a sum.
static bool givesSlices(const FactorRule &rule, unsigned factor) {
  bool isSum = rule.factors[factor].kind == FactorKind::Reduction;
  bool isQuery = rule.causal && rule.causal->query == factor;
  return llvm::all_of(llvm::seq(rule.results.size()), [&](size_t index) {
    return isSum || rule.inResult(factor, index) ||
           (isQuery && rule.inResult(rule.causal->key, index));
  });
}

static std::optional<FactorRule> getRule(Operation &op) {
  auto interface = dyn_cast<FactorRuleOpInterface>(op);
  return interface && op.getNumResults() > 0 ? std::optional(interface.getFactorRule())
                                             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is sliced
//===----------------------------------------------------------------------===//

SequenceDims::SequenceDims(const Parts &parts) : parts(&parts) {}

std::optional<SequenceDim> SequenceDims::getDim(Value value) const {
  auto found = dims.find(value);
  return found == dims.end() ? std::nullopt : std::optional(found->second);
}

std::optional<SequenceFactor> SequenceDims::getFactor(Operation *op) const {
  auto found = factors.find(op);
  return found == factors.end() ? std::nullopt : std::optional(found->second);
}

std::optional<SequenceFactor> SequenceDims::findSliced(const FactorRule &rule,
                                                       const TensorFactors &tensor,
                                                       const SequenceDim &dim) const {
  std::optional<SequenceFactor> found = findFactor(rule, tensor, dim, length);
  bool may = found && rule.factors[found->factor].kind == FactorKind::Parallel &&
             (found->outer == 1 || mayScatter(rule, found->factor));
  return may ? found : std::nullopt;
}

SequenceDims::Pass SequenceDims::getPass(Operation *op) const {
  auto found = passes.find(op);
  return found == passes.end() ? Pass::Forward : found->second;
}

Value SequenceDims::getGiven(const Channel &channel) const {
  func::FuncOp from = parts->parts[channel.from].function;
  return from.getBody().front().getTerminator()->getOperand(channel.result);
}

Value SequenceDims::getTaken(const Channel &channel) const {
  return func::FuncOp(parts->parts[channel.to].function).getArgument(channel.argument);
}

bool SequenceDims::isSliced(const Channel &channel) const {
  std::optional<SequenceDim> dim = getDim(getGiven(channel));
  return dim && dim == getDim(getTaken(channel));
}

void SequenceDims::findPasses() {
  for (const Part &part : parts->parts) {
    func::FuncOp function = part.function;
    Operation *loss = BackwardPass(function).getLoss();
    if (!loss)
      continue;
    Block &body = function.getBody().front();
    RecomputedOps recomputed(body, loss);
    for (Operation &op : llvm::make_range(std::next(loss->getIterator()), body.end()))
      passes[&op] = recomputed.contains(&op) ? Pass::Again : Pass::Gradient;
  }
}

/// Whether there was anything new.
bool SequenceDims::addVarying(const Part &part) {
  size_t before = varying.size();
  for (Operation &op : func::FuncOp(part.function).getBody().front()) {
    bool varies = isa<dist::MicrobatchOp>(op) || llvm::any_of(op.getOperands(), [&](Value value) {
                    return varying.contains(value);
                  });
    if (varies && !isa<dist::AccumulateOp>(op))
      varying.insert(op.result_begin(), op.result_end());
  }
  return varying.size() > before;
}

void SequenceDims::findVarying() {
  bool inMicrobatches = func::FuncOp(parts->main)->hasAttr(dist::kMicrobatchesAttr);
  for (const Part &part : parts->parts) {
    func::FuncOp function = part.function;
    for (auto [argument, operand] :
         llvm::zip_equal(function.getArguments(), func::CallOp(part.call).getOperands()))
      if (isa<BlockArgument>(operand) &&
          (!inMicrobatches ||
           function.getArgAttr(argument.getArgNumber(), dist::kMicrobatchDimAttr)))
        varying.insert(argument);
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (const Part &part : parts->parts)
      changes |= addVarying(part);
    for (const Channel &channel : parts->channels)
      changes |= varying.contains(getGiven(channel)) && varying.insert(getTaken(channel)).second;
  }
}

bool SequenceDims::mark(Value value, std::optional<SequenceDim> dim) {
  return dim && varying.contains(value) && dims.try_emplace(value, *dim).second;
}

/// The queries of causal attention in the forward pass, all of one length.
bool SequenceDims::findSeeds() {
  for (const Part &part : parts->parts)
    for (Operation &op : func::FuncOp(part.function).getBody().front()) {
      std::optional<FactorRule> rule = getRule(op);
      if (!rule || !rule->causal || passes.contains(&op))
        continue;
      int64_t size = rule->factors[rule->causal->query].size;
      length = length == 0 ? size : length;
      for (auto [value, factors] : llvm::zip_equal(op.getOperands(), rule->operands))
        if (size == length)
          mark(value, findDim(*rule, factors, {rule->causal->query}));
    }
  return length > 1 && !dims.empty();
}

/// The one factor that operands and results have the sequence in.
std::optional<SequenceFactor> SequenceDims::choose(Operation &op, const FactorRule &rule) const {
  std::optional<SequenceFactor> chosen;
  bool isOne = true;
  auto add = [&](Value value, const TensorFactors &tensor) {
    auto at = dims.find(value);
    if (at == dims.end())
      return;
    std::optional<SequenceFactor> found = findFactor(rule, tensor, at->second, length);
    if (found && rule.causal && found->factor == rule.causal->key)
      found->factor = rule.causal->query;
    isOne &= found && maySlice(rule, found->factor) && (!chosen || chosen == found);
    chosen = found;
  };
  for (auto [value, tensor] : llvm::zip_equal(op.getOperands(), rule.operands))
    add(value, tensor);
  for (auto [value, tensor] : llvm::zip_equal(op.getResults(), rule.results))
    add(value, tensor);
  if (!chosen || !isOne || !givesSlices(rule, chosen->factor) ||
      (chosen->outer != 1 && !mayScatter(rule, chosen->factor)))
    return std::nullopt;
  if (rule.causal && rule.causal->query == chosen->factor)
    chosen->key = rule.causal->key;
  return chosen;
}

/// Whether anything new follows from the operation.
bool SequenceDims::visit(Operation &op) {
  std::optional<FactorRule> rule = getRule(op);
  std::optional<SequenceFactor> factor = rule ? choose(op, *rule) : std::nullopt;
  if (!factor) {
    factors.erase(&op);
    return false;
  }
  factors[&op] = *factor;
  bool changes = false;
  SmallVector<SequenceFactor, 2> all{*factor};
  if (factor->key)
    all.push_back({*factor->key, factor->outer, factor->inner});
  for (const SequenceFactor &each : all) {
    for (auto [value, tensor] : llvm::zip_equal(op.getOperands(), rule->operands))
      changes |= mark(value, findDim(*rule, tensor, each));
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), rule->results))
      changes |= mark(value, findDim(*rule, tensor, each));
  }
  return changes;
}

void SequenceDims::propagate() {
  for (bool changes = true; changes;) {
    changes = false;
    for (const Part &part : parts->parts) {
      Block &body = func::FuncOp(part.function).getBody().front();
      for (Operation &op : body)
        changes |= visit(op);
      for (Operation &op : llvm::reverse(body))
        changes |= visit(op);
    }
    for (const Channel &channel : parts->channels) {
      changes |= mark(getTaken(channel), getDim(getGiven(channel)));
      changes |= mark(getGiven(channel), getDim(getTaken(channel)));
    }
  }
}

/// What the forward pass computes is computed slice by slice.
LogicalResult SequenceDims::check() const {
  for (const Part &part : parts->parts)
    for (Operation &op : func::FuncOp(part.function).getBody().front()) {
      bool reads =
          llvm::any_of(op.getOperands(), [&](Value value) { return dims.contains(value); });
      if (!reads || factors.contains(&op) || passes.contains(&op) || isa<dist::AccumulateOp>(op) ||
          op.hasTrait<OpTrait::IsTerminator>())
        continue;
      return op.emitError() << op.getName()
                            << " reads tokens behind its own, so that sequences cannot go through "
                               "stages in slices: expected attention that is causal, and all else "
                               "token by token, or slices=1";
    }
  return success();
}

FailureOr<SequenceDims> SequenceDims::find(const Parts &parts) {
  SequenceDims result(parts);
  result.findPasses();
  result.findVarying();
  if (!result.findSeeds())
    return func::FuncOp(parts.main)
        .emitError("expected causal attention, to go through sequences in slices: give slices=1");
  result.propagate();
  if (failed(result.check()))
    return failure();
  return result;
}
