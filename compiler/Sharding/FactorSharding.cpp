#include "compiler/Sharding/FactorSharding.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Moves to `factor` the axes at the front of `remaining` that split it, and returns whether they
/// split it wholly.
static bool takeAxes(int64_t size, AxisList &remaining, AxisList &taken) {
  while (!remaining.empty() && size > 1) {
    AxisRef &front = remaining.front();
    if (size % front.size == 0) {
      append(taken, front);
      size /= front.size;
      remaining.erase(remaining.begin());
    } else if (front.size % size == 0) {
      append(taken, {front.axis, front.pre, size});
      front = {front.axis, front.pre * size, front.size / size};
      size = 1;
    } else {
      break;
    }
  }
  return size == 1;
}

std::optional<LeadingFactor> weft::leadingFactorOf(const FactorRule &rule, const DimFactors &dim) {
  for (auto [index, factor] : llvm::enumerate(dim)) {
    if (rule.factors[factor].size == 1)
      continue;
    int64_t unit = 1;
    for (unsigned minor : llvm::drop_begin(dim, index + 1))
      unit *= rule.factors[minor].size;
    return LeadingFactor{factor, unit};
  }
  return std::nullopt;
}

static int64_t sizeOf(const FactorRule &rule, const DimFactors &dim) {
  int64_t size = 1;
  for (unsigned factor : dim)
    size *= rule.factors[factor].size;
  return size;
}

ToFactors weft::projectToFactors(const FactorRule &rule, const TensorFactors &tensor,
                                 const TensorSharding &sharding) {
  ToFactors result{FactorAxes(rule.factors.size()), true};
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    AxisList remaining = sharding.dims[dim];
    if (isPadded(sizeOf(rule, factors), remaining)) {
      std::optional<LeadingFactor> lead = leadingFactorOf(rule, factors);
      bool fits = lead && remaining.unit % lead->unit == 0;
      if (fits)
        result.axes[lead->factor] =
            inUnits(remaining, rule.factors[lead->factor].size, remaining.unit / lead->unit);
      result.exact &= fits;
      continue;
    }
    for (unsigned factor : factors)
      if (!takeAxes(rule.factors[factor].size, remaining, result.axes[factor]))
        break;
    result.exact &= remaining.empty();
  }
  return result;
}

ToTensor weft::factorsToSharding(const FactorRule &rule, const TensorFactors &tensor,
                                 const FactorAxes &axes) {
  ToTensor result{TensorSharding::replicated(tensor.size()), true};
  for (auto [index, factors] : llvm::enumerate(tensor)) {
    AxisList &dim = result.sharding.dims[index];
    std::optional<LeadingFactor> lead = leadingFactorOf(rule, factors);
    bool majorsWhole = true;
    for (unsigned factor : factors) {
      int64_t size = rule.factors[factor].size;
      bool padded = isPadded(size, axes[factor]), leads = lead && lead->factor == factor;
      if (!majorsWhole || (padded && !leads)) {
        result.exact &= axes[factor].empty();
        majorsWhole = false;
        continue;
      }
      if (padded)
        dim.unit = lead->unit * axes[factor].unit;
      append(dim, axes[factor]);
      majorsWhole = blocks(axes[factor]) == size;
    }
  }
  return result;
}

AxisList weft::partialAxes(const FactorRule &rule, const FactorAxes &axes, unsigned index,
                           ReduceKind &reduction) {
  AxisList result;
  for (auto [factor, list] : llvm::enumerate(axes)) {
    if (list.empty() || rule.factors[factor].kind != FactorKind::Reduction ||
        rule.inResult(factor, index))
      continue;
    append(result, list);
    reduction = rule.factors[factor].reduction;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Resolving
//===----------------------------------------------------------------------===//

namespace {
/// Bytes moved, those of weights first.
using Cost = std::pair<int64_t, int64_t>;

class Resolver {
public:
  Resolver(const FactorRule &rule, ArrayRef<TensorState> tensors) : rule(rule), tensors(tensors) {
    for (const TensorState &tensor : tensors)
      projections.push_back(projectToFactors(rule, *tensor.factors, *tensor.sharding).axes);
    chosen.resize(rule.factors.size());
  }

  FactorAxes run();

private:
  bool carries(unsigned tensor, unsigned factor) const {
    return llvm::any_of(*tensors[tensor].factors,
                        [&](const DimFactors &dim) { return llvm::is_contained(dim, factor); });
  }
  bool isResult(unsigned tensor) const { return tensor >= rule.operands.size(); }
  bool leavesPartial(unsigned tensor, unsigned factor) const;
  bool takesFromResult(unsigned factor, const AxisList &axes) const;
  Cost cost(unsigned factor, const AxisList &axes) const;
  int64_t reductionCost(unsigned factor, const AxisList &axes) const;
  AxisList best(unsigned factor) const;

  const FactorRule &rule;
  ArrayRef<TensorState> tensors;
  SmallVector<FactorAxes, 4> projections;
  FactorAxes chosen;
};
} // namespace

/// Whether the tensor is a result that is to stay partial, and a split of the factor would make it
/// so.
bool Resolver::leavesPartial(unsigned tensor, unsigned factor) const {
  const Factor &reduced = rule.factors[factor];
  const TensorSharding &sharding = *tensors[tensor].sharding;
  return isResult(tensor) && !sharding.partial.empty() && reduced.kind == FactorKind::Reduction &&
         reduced.reduction == sharding.reduction && !carries(tensor, factor) && reduced.size > 1;
}

static bool isSplitBy(const TensorSharding &sharding, const AxisList &axes) {
  return llvm::any_of(sharding.dims, [&](const AxisList &dim) { return overlaps(dim, axes); });
}

/// Whether a result was decided to be split by these axes, but not where the factor is.
bool Resolver::takesFromResult(unsigned factor, const AxisList &axes) const {
  return llvm::any_of(llvm::enumerate(tensors), [&](const auto &entry) {
    const TensorState &tensor = entry.value();
    return tensor.decided && isResult(entry.index()) && isSplitBy(*tensor.sharding, axes) &&
           !overlaps(projections[entry.index()][factor], axes);
  });
}

/// Bytes that joining partial results moves; none where the split is of a weight, which is worth
/// it.
int64_t Resolver::reductionCost(unsigned factor, const AxisList &axes) const {
  if (axes.empty() || rule.factors[factor].kind != FactorKind::Reduction)
    return 0;
  int64_t bytes = 0;
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    if (!isResult(index) && tensor.weight && carries(index, factor))
      return 0;
    if (isResult(index) && !tensor.open && !carries(index, factor) &&
        !overlaps(tensor.sharding->partial, axes))
      bytes += (isSplitBy(*tensor.sharding, axes) ? 1 : 2) * tensor.bytes;
  }
  return bytes;
}

Cost Resolver::cost(unsigned factor, const AxisList &axes) const {
  Cost cost{0, reductionCost(factor, axes)};
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    if (leavesPartial(index, factor) && !rest(axes, tensor.sharding->partial))
      cost.second += 2 * tensor.bytes;
    if (!carries(index, factor))
      continue;
    const AxisList &held = projections[index][factor];
    bool moved = isResult(index) ? !rest(held, axes) && !(tensor.open && rest(axes, held))
                                 : !rest(axes, held);
    bool joinsBatch = !isResult(index) && overlaps(held, tensor.batch);
    if (moved)
      (tensor.weight || joinsBatch ? cost.first : cost.second) += tensor.bytes;
  }
  return cost;
}

AxisList Resolver::best(unsigned factor) const {
  AxisList best;
  Cost least = cost(factor, best);
  for (auto [index, projection] : llvm::enumerate(projections)) {
    const AxisList &candidate =
        leavesPartial(index, factor) ? tensors[index].sharding->partial : projection[factor];
    if (candidate.empty() || candidate == best)
      continue;
    Cost price = cost(factor, candidate);
    auto rank = [&](const AxisList &axes) {
      return std::pair(!takesFromResult(factor, axes), blocks(axes));
    };
    if (price < least || (price == least && rank(candidate) > rank(best))) {
      best = candidate;
      least = price;
    }
  }
  return best;
}

/// The part of `axes`, which split a factor of this size, before the first that `used` overlaps.
static AxisList unusedHead(const AxisList &axes, const AxisList &used, int64_t size) {
  AxisList result;
  for (AxisRef axis : axes) {
    if (overlaps(used, axis))
      break;
    append(result, axis);
  }
  return inUnits(result, size, axes.unit);
}

FactorAxes Resolver::run() {
  struct AxisClaim {
    unsigned factor;
    AxisList axes;
    Cost regret;
  };
  SmallVector<AxisClaim, 6> claims;
  for (auto [factor, description] : llvm::enumerate(rule.factors)) {
    if (description.kind != FactorKind::Parallel && description.kind != FactorKind::Reduction)
      continue;
    AxisList axes = best(factor);
    if (axes.empty())
      continue;
    Cost with = cost(factor, axes), without = cost(factor, {});
    claims.push_back({static_cast<unsigned>(factor),
                      axes,
                      {without.first - with.first, without.second - with.second}});
  }
  llvm::sort(claims, [](const AxisClaim &a, const AxisClaim &b) {
    return a.regret != b.regret ? a.regret > b.regret : a.factor < b.factor;
  });
  AxisList used;
  for (const AxisClaim &claim : claims) {
    chosen[claim.factor] = unusedHead(claim.axes, used, rule.factors[claim.factor].size);
    used.append(chosen[claim.factor]);
  }
  return chosen;
}

FactorAxes weft::resolveFactors(const FactorRule &rule, ArrayRef<TensorState> tensors) {
  return Resolver(rule, tensors).run();
}
