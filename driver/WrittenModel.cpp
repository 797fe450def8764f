#include "driver/WrittenModel.h"

#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

static bool checkSignature(func::FuncOp function) {
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (!isStaticTensor(type)) {
      function.emitError() << "expected tensors of static shape in @" << function.getSymName()
                           << ", got: " << type;
      return false;
    }
  return true;
}

static bool checkBody(func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isa<WeftDialect>(op.getDialect()) || !llvm::all_of(op.getResultTypes(), isStaticTensor)) {
      op.emitError() << "expected operations of weft on tensors of static shape in @"
                     << function.getSymName() << ", got: " << op.getName();
      return false;
    }
  return true;
}

/// What a part hands over is between the calls; nothing was sent yet.
static bool checkParts(ModuleOp module, const Parts &parts) {
  for (auto transfer : func::FuncOp(parts.main).getBody().front().getOps<dist::TransferOp>()) {
    transfer.emitOpError("expected parts of whole tensors, between which nothing is sent yet");
    return false;
  }
  for (auto function : module.getOps<func::FuncOp>()) {
    bool isKnown = function == parts.main || llvm::any_of(parts.parts, [&](const Part &part) {
                     return part.function == function;
                   });
    if (!isKnown) {
      function.emitOpError("expected @main to call every function, got none that calls this");
      return false;
    }
    if (!checkSignature(function) || (function != parts.main && !checkBody(function)))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// Gives values of parts the names that they would have if they had been cut from one function.
class PartNames {
public:
  explicit PartNames(Parts &parts) : parts(parts), builder(parts.main.getContext()) {}

  void assign() {
    for (Part &part : parts.parts) {
      nameArguments(part);
      nameValues(part);
      nameResults(part);
    }
  }

private:
  void nameArguments(Part &part) {
    for (auto [number, operand] : llvm::enumerate(part.call.getOperands())) {
      std::string name;
      if (auto input = dyn_cast<BlockArgument>(operand))
        name = getSourceName(input);
      else if (auto call = operand.getDefiningOp<func::CallOp>())
        name = made.lookup({call.getCallee(), cast<OpResult>(operand).getResultNumber()});
      else if (operand.getDefiningOp())
        name = getSourceName(operand.getDefiningOp()->getLoc()).str();
      if (!name.empty())
        part.function.setArgAttr(number, "weft.name", builder.getStringAttr(name));
    }
  }

  /// A name that another part's value has gets the part's in front.
  void nameValues(Part &part) {
    ValueNames names(part.function);
    for (Operation &op : part.function.getBody().front().without_terminator()) {
      SmallVector<Attribute> given;
      bool isNew = false;
      for (Value result : op.getResults()) {
        std::string name = names.get(result);
        if (!taken.insert(name).second) {
          name = (part.function.getSymName() + "/" + name).str();
          isNew = true;
        }
        taken.insert(name);
        given.push_back(builder.getStringAttr(name));
      }
      if (isNew)
        op.setAttr(kValueNamesAttr, builder.getArrayAttr(given));
    }
  }

  void nameResults(Part &part) {
    ValueNames names(part.function);
    auto ofMain = parts.main.getBody().front().getTerminator()->getOperands();
    for (OpOperand &operand : part.function.getBody().front().getTerminator()->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      made[{part.function.getSymName(), number}] = names.get(operand.get());
      std::string name = (part.function.getSymName() + "/" + Twine(number)).str();
      if (auto found = llvm::find(ofMain, part.call.getResult(number)); found != ofMain.end()) {
        unsigned index = found - ofMain.begin();
        auto attr = parts.main.getResultAttrOfType<StringAttr>(index, "weft.name");
        name = attr ? attr.str() : std::to_string(index);
      }
      part.function.setResultAttr(number, "weft.name", builder.getStringAttr(name));
    }
  }

  Parts &parts;
  Builder builder;
  llvm::StringSet<> taken;
  llvm::DenseMap<std::pair<StringRef, unsigned>, std::string> made; ///< by part and its result
};
} // namespace

bool weft::isInParts(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  return main && main.getBody().hasOneBlock() && callsParts(main);
}

bool weft::checkWrittenModel(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock()) {
    module.emitError() << "expected a function @main with a body of one block";
    return false;
  }
  if (!callsParts(main))
    return checkSignature(main) && checkBody(main);
  std::optional<Parts> parts = getParts(module);
  if (!parts || !checkParts(module, *parts))
    return false;
  for (Part &part : parts->parts)
    part.function.setPublic();
  PartNames(*parts).assign();
  return true;
}
