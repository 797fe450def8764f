#include "dialects/Weft/IR/SourceName.h"

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

static void collectNames(Location loc, SmallVectorImpl<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    names.push_back(name.getName().getValue());
    return;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectNames(part, names);
    return;
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    collectNames(call.getCallee(), names);
}

SmallVector<StringRef> weft::getAllSourceNames(Location loc) {
  SmallVector<StringRef> names;
  collectNames(loc, names);
  return names;
}

StringRef weft::getSourceName(Location loc) {
  SmallVector<StringRef> names = getAllSourceNames(loc);
  return names.empty() ? StringRef() : names.front();
}

std::string weft::getSourceName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (function)
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "weft.name"))
        return name.str();
    return getSourceName(argument.getLoc()).str();
  }
  auto result = cast<OpResult>(value);
  std::string name = getSourceName(result.getOwner()->getLoc()).str();
  if (result.getResultNumber() > 0 && !name.empty())
    name += "#" + std::to_string(result.getResultNumber());
  return name;
}
