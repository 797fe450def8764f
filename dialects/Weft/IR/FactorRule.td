//===- FactorRule.td - the factor-rule interface --------------------------===//

#ifndef WEFT_FACTOR_RULE_TD
#define WEFT_FACTOR_RULE_TD

include "mlir/IR/OpBase.td"

def FactorRuleOpInterface : OpInterface<"FactorRuleOpInterface"> {
  let cppNamespace = "::weft";
  let description = [{
    An operation that states how its dimensions relate: each dimension of each operand and result is an ordered list
    of named factors (see FactorRule.h). The rule is the only per-operation knowledge that sharding needs.
  }];
  let methods = [
    InterfaceMethod<
      "The factor rule for the operation's present shapes.",
      "::weft::FactorRule", "getFactorRule", (ins)>,
    InterfaceMethod<[{
        Builds the operation on one shard: `operands` are the local operands, `resultTypes` the local result types,
        `shards` tells for each factor whether it is split and where the shard starts. The default clones the
        operation with the new operands and types, which is right for every operation whose attributes do not
        depend on a split dimension's extent or position.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildLocal",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "::mlir::TypeRange":$resultTypes,
           "::weft::LocalShards &":$shards), [{}], [{
        return ::weft::cloneWithTypes(builder, $_op.getOperation(), operands, resultTypes);
      }]>
  ];
}

#endif // WEFT_FACTOR_RULE_TD
