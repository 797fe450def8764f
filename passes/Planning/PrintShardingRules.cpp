#include "dialects/Weft/IR/FactorRule.h"
#include "passes/Planning/Passes.h"

namespace weft {
#define GEN_PASS_DEF_PRINTSHARDINGRULES
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static StringRef linearityText(SumLinearity linearity) {
  switch (linearity) {
  case SumLinearity::None:
    return "";
  case SumLinearity::Joint:
    return " linear=joint";
  case SumLinearity::Each:
    return " linear=each";
  case SumLinearity::First:
    return " linear=first";
  }
  return "";
}

namespace {
struct PrintShardingRules : weft::impl::PrintShardingRulesBase<PrintShardingRules> {
  void runOnOperation() override {
    getOperation().walk([&](FactorRuleOpInterface op) {
      FactorRule rule = op.getFactorRule();
      std::string why = rule.check(op->getOperandTypes(), op->getResultTypes());
      if (why.empty()) {
        op->emitRemark(rule.str() + linearityText(rule.linearity).str());
        return;
      }
      op->emitError("factor rule does not fit: ") << why << ": " << rule.str();
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
