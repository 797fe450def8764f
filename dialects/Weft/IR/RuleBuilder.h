//===- RuleBuilder.h - writes a factor rule factor by factor ----*- C++ -*-===//
//
// A factor is opened by parallel, reduction or replicated and then placed; factors of one dimension
// are placed major first. The rule of a matrix product:
//
//   RuleBuilder rule(op);
//   rule.parallel("m", 8).in(0, 0).out(0);
//   rule.reduction("k", 16).in(0, 1).in(1, 0);
//   rule.parallel("n", 4).in(1, 1).out(1);
//   return rule.take(SumLinearity::Each);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_IR_RULEBUILDER_H
#define WEFT_DIALECTS_WEFT_IR_RULEBUILDER_H

#include "dialects/Weft/IR/FactorRule.h"
#include "dialects/Weft/IR/Verify.h"

namespace weft {

class RuleBuilder {
public:
  explicit RuleBuilder(mlir::Operation *op) : op(op) {
    for (mlir::Value operand : op->getOperands())
      rule.operands.push_back(TensorFactors(rankOf(operand)));
    for (mlir::Value result : op->getResults())
      rule.results.push_back(TensorFactors(rankOf(result)));
  }

  RuleBuilder &parallel(llvm::StringRef name, int64_t size) {
    return open(name, size, FactorKind::Parallel);
  }
  RuleBuilder &replicated(llvm::StringRef name, int64_t size) {
    return open(name, size, FactorKind::Replicated);
  }
  RuleBuilder &reduction(llvm::StringRef name, int64_t size,
                         ReduceKind reduction = ReduceKind::Sum) {
    return open(name, size, FactorKind::Reduction, reduction);
  }
  /// Parallel where `splittable`, else replicated.
  RuleBuilder &parallelIf(bool splittable, llvm::StringRef name, int64_t size) {
    return splittable ? parallel(name, size) : replicated(name, size);
  }

  /// Places the open factor in a dimension of an operand. A dimension of size 1 that only
  /// broadcasts stays without.
  RuleBuilder &in(unsigned operand, unsigned dim) {
    if (shapeOf(op->getOperand(operand))[dim] != 1 || rule.factors[current].size == 1)
      rule.operands[operand][dim].push_back(current);
    return *this;
  }
  /// Places the open factor in a dimension of a result.
  RuleBuilder &out(unsigned dim, unsigned result = 0) {
    rule.results[result][dim].push_back(current);
    return *this;
  }

  /// Says which operand holds indices.
  RuleBuilder &indexedBy(unsigned operand) {
    rule.indices = operand;
    return *this;
  }

  /// The open factor's index in the rule.
  unsigned getFactor() const { return current; }
  /// Says which factors are positions of one sequence, if any are.
  RuleBuilder &causal(std::optional<CausalFactors> factors) {
    rule.causal = factors;
    return *this;
  }

  FactorRule take(SumLinearity linearity = SumLinearity::None) {
    rule.linearity = linearity;
    return std::move(rule);
  }

private:
  RuleBuilder &open(llvm::StringRef name, int64_t size, FactorKind kind,
                    ReduceKind reduction = ReduceKind::Sum) {
    current = rule.add(name, size, kind, reduction);
    return *this;
  }

  mlir::Operation *op;
  FactorRule rule;
  unsigned current = 0;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_RULEBUILDER_H
