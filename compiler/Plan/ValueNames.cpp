#include "compiler/Plan/ValueNames.h"

#include "compiler/Sharding/Parts.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

/// The name that a value brings: given to it when its function was cut from a larger one, else its
/// source's.
static std::string givenName(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    if (auto names = result.getOwner()->getAttrOfType<ArrayAttr>(kValueNamesAttr))
      return cast<StringAttr>(names[result.getResultNumber()]).str();
  return getSourceName(value);
}

/// Whether a value is a view of the weight whose name it brings, or that in another type: who says
/// that name means the weight.
static bool isNamedAfterWeight(Value value, StringRef name) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<LoadOp>(op))
    return false;
  while (op && op->getNumOperands() == 1)
    op = op->getOperand(0).getDefiningOp();
  auto load = dyn_cast_or_null<LoadOp>(op);
  return load && load.getWeight() == name;
}

ValueNames::ValueNames(func::FuncOp function) {
  Block &body = function.getBody().front();
  std::vector<Value> all(body.args_begin(), body.args_end());
  for (Operation &op : body)
    all.insert(all.end(), op.result_begin(), op.result_end());

  std::vector<std::string> bases;
  llvm::StringSet<> weights; // few values bring the name of one: no others look for what they show
  for (auto load : body.getOps<LoadOp>())
    weights.insert(load.getWeight());
  llvm::StringMap<size_t> last;
  for (auto [index, value] : llvm::enumerate(all)) {
    bases.push_back(givenName(value));
    bool isOfWeight = weights.contains(bases.back()) && isNamedAfterWeight(value, bases.back());
    if (!bases.back().empty() && !isOfWeight)
      last[bases.back()] = index;
  }
  // Names that a source value owns come first, so that none made up takes one of them.
  for (auto [value, base] : llvm::zip_equal(all, bases))
    if (auto owner = last.find(base); owner != last.end() && all[owner->second] == value)
      values[base] = value;
  for (auto [value, base] : llvm::zip_equal(all, bases))
    assign(value, base, !base.empty() && values.lookup(base) == value);
  for (BlockArgument argument : body.getArguments()) // by its other names
    for (StringRef name : getAllSourceNames(argument.getLoc()))
      values.try_emplace(name, argument);
  for (Operation &op : body) {
    SmallVector<StringRef> sourceNames = getAllSourceNames(op.getLoc());
    for (size_t index = 1; index < sourceNames.size() && op.getNumResults() > 0; ++index)
      if (!values.contains(sourceNames[index]))
        fused.try_emplace(sourceNames[index], op.getResult(0));
  }
}

void ValueNames::assign(Value value, const std::string &base, bool last) {
  std::string name = base;
  if (!last) {
    Operation *op = value.getDefiningOp();
    std::string kind = op ? op->getName().stripDialect().str() : "argument";
    std::string stem = base.empty() ? kind : base + "/" + kind;
    name = stem;
    // The count goes on from the last number tried, so that many equal stems stay linear.
    for (unsigned &number = counts[stem]; values.contains(name);)
      name = stem + "~" + std::to_string(++number + 1);
    values[name] = value;
  }
  names[value] = name;
  ordered.push_back(std::move(name));
}
