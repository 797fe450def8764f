#include "compiler/Sharding/BackwardPass.h"

#include "compiler/Sharding/WeightView.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

BackwardPass::BackwardPass(func::FuncOp main) {
  for (auto [index, value] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands()))
    if (auto role = main.getResultAttrOfType<StringAttr>(index, "weft.role");
        role && role.getValue() == "loss") {
      auto sum = value.getDefiningOp<dist::AccumulateOp>(); // stands behind the last microbatch
      loss = (sum ? sum.getInput() : value).getDefiningOp();
    }
  Operation *first = nullptr; // that reads what later parts hand over
  for (BlockArgument argument : main.getArguments())
    for (Operation *user : argument.getUsers())
      if (main.getArgAttr(argument.getArgNumber(), kOfLaterPartAttr) &&
          (!first || user->isBeforeInBlock(first)))
        first = user;
  if (!loss && first)
    loss = first->getPrevNode();
}

bool BackwardPass::reads(Operation *load) const {
  return loss && llvm::any_of(load->getUsers(), [&](Operation *user) {
           return isView(user)
                      ? reads(user)
                      : user->getBlock() == loss->getBlock() && loss->isBeforeInBlock(user);
         });
}
