#include "frontends/torch_export/ops/OpTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft::frontend::aten;

/// Second names that torch has for an operator, of the same overloads and parameters.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> secondNames[] = {
    {"_stack", "stack"},
    {"_unsafe_index", "index"},
    {"absolute", "abs"},
    {"arccos", "acos"},
    {"arccosh", "acosh"},
    {"arcsin", "asin"},
    {"arcsinh", "asinh"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arctanh", "atanh"},
    {"clip", "clamp"},
    {"divide", "div"},
    {"fix", "trunc"},
    {"ger", "outer"},
    {"greater", "gt"},
    {"greater_equal", "ge"},
    {"less", "lt"},
    {"less_equal", "le"},
    {"linalg_matmul", "matmul"},
    {"multiply", "mul"},
    {"native_channel_shuffle", "channel_shuffle"},
    {"negative", "neg"},
    {"not_equal", "ne"},
    {"row_stack", "vstack"},
    {"special_logsumexp", "logsumexp"},
    {"subtract", "sub"},
    {"trapz", "trapezoid"},
};

/// NAME.OVERLOAD of `aten.NAME.OVERLOAD`; empty where the operator is another library's.
static std::pair<llvm::StringRef, llvm::StringRef> splitTarget(llvm::StringRef target) {
  return target.consume_front("aten.") ? target.split('.')
                                       : std::pair<llvm::StringRef, llvm::StringRef>();
}

static std::string joinTarget(llvm::StringRef name, llvm::StringRef overload) {
  return ("aten." + name + "." + overload).str();
}

std::string weft::frontend::aten::firstName(llvm::StringRef target) {
  auto [name, overload] = splitTarget(target);
  for (const auto &[second, first] : secondNames)
    if (name == second)
      return joinTarget(first, overload);
  return target.str();
}

static void addSecondNames(OpTable &table) {
  std::vector<std::pair<std::string, OpImporter>> added;
  for (const auto &entry : table) {
    auto [name, overload] = splitTarget(entry.getKey());
    for (const auto &[second, first] : secondNames)
      if (name == first)
        added.emplace_back(joinTarget(second, overload), entry.getValue());
  }
  for (const auto &[target, importer] : added)
    table[target] = importer;
}

OpTable weft::frontend::aten::makeOpTable() {
  OpTable table;
  for (auto add :
       {addActivation,  addArithmetic, addAttention, addBackward,      addBounds,  addChannelNorm,
        addComplex,     addComputed,   addControl,   addConvert,       addCreate,  addDiagonal,
        addElementwise, addExperts,    addFunctions, addGather,        addGrid,    addIndex,
        addIndexPut,    addLinear,     addLoss,      addNormalization, addNorms,   addPadding,
        addPooling,     addProducts,   addRearrange, addRecurrent,     addReduce,  addResize,
        addScan,        addScatter,    addSearch,    addShape,         addSlicing, addSymbolic,
        addWindows})
    add(table);
  addSecondNames(table);
  return table;
}
