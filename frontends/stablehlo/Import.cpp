#include "frontends/stablehlo/Import.h"

#include "dialects/Weft/IR/SourceName.h"
#include "frontends/common/ModelImporter.h"
#include "frontends/common/OfferedWeights.h"
#include "frontends/stablehlo/ExpandComplex.h"
#include "frontends/stablehlo/Walker.h"
#include "frontends/stablehlo/ops/OpTable.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

namespace {

class StableHloImporter : ModelImporter {
public:
  StableHloImporter(MLIRContext &context, StringRef path, const StableHloImportOptions &options)
      : ModelImporter(context, path), options(options) {}

  OwningOpRef<ModuleOp> run();

private:
  /// Arguments are called as their locations say where those are unlike, else `arg0` ….
  void nameArguments(func::FuncOp main);
  /// What the weights files call an argument; none where they have it not.
  std::optional<std::string> findWeight(StringRef argument);
  Value addArgument(EntryFunction &entry, Weights &weights, Walker &walker, BlockArgument argument);
  void nameWeight(LoadOp load, StringRef argument);
  void build(ModuleOp module, SourceModule &source);

  const StableHloImportOptions &options;
  std::vector<std::string> names, shortNames; ///< of arguments; short ones where there are, or ""
  std::optional<OfferedWeights> offered;
};

void StableHloImporter::nameArguments(func::FuncOp main) {
  llvm::StringMap<int> counts;
  for (BlockArgument argument : main.getArguments()) {
    names.push_back(getSourceName(argument.getLoc()).str());
    ++counts[names.back()];
  }
  for (auto [index, name] : llvm::enumerate(names)) {
    if (name.empty() || counts[name] > 1)
      name = "arg" + std::to_string(index);
    std::vector<std::string> aliases = argumentAliases(name);
    shortNames.push_back(aliases.empty() ? "" : aliases.front());
    ++counts[shortNames.back()];
  }
  for (std::string &name : shortNames)
    if (counts[name] > 1)
      name.clear(); // of several
}

std::optional<std::string> StableHloImporter::findWeight(StringRef argument) {
  std::vector<std::string> names = argumentAliases(argument);
  names.insert(names.begin(), argument.str());
  for (const std::string &candidate : names)
    if (offered->has(candidate))
      return candidate;
  return std::nullopt;
}

Value StableHloImporter::addArgument(EntryFunction &entry, Weights &weights, Walker &walker,
                                     BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  StringRef name = names[index];
  RankedTensorType type = walker.translate(argument.getType());
  std::optional<std::string> weight = findWeight(name);
  if (!weight) {
    Value added = entry.addArgument(type, name);
    if (!shortNames[index].empty())
      added.setLoc(FusedLoc::get(
          &context, {added.getLoc(), NameLoc::get(StringAttr::get(&context, shortNames[index]))}));
    return added;
  }
  Value value =
      weights.addWeight({type, offered->take(*weight, type), {}}, *weight, WeightKind::Parameter);
  nameWeight(value.getDefiningOp<LoadOp>(), name);
  return value;
}

/// A weight is still known by the argument that it stands for.
void StableHloImporter::nameWeight(LoadOp load, StringRef argument) {
  auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(load, load.getWeightAttr());
  if (weight.getSymName() != argument)
    weight->setLoc(FusedLoc::get(
        &context, {weight.getLoc(), NameLoc::get(StringAttr::get(&context, argument))}));
}

void StableHloImporter::build(ModuleOp module, SourceModule &source) {
  func::FuncOp main = source.entry();
  EntryFunction entry(module, path);
  Emitter emit(OpBuilder::atBlockEnd(entry.body()));
  Weights weights(module, emit);
  Walker walker(source, emit, weights, problems);
  nameArguments(main);
  SmallVector<Value> arguments;
  for (BlockArgument argument : main.getArguments())
    try {
      arguments.push_back(addArgument(entry, weights, walker, argument));
    } catch (const ImportError &error) {
      problems.add("argument '" + names[argument.getArgNumber()] + "': " + error.what());
      arguments.push_back({});
    }
  offered->warnOfUnused(location, "arguments");
  SmallVector<Value> results = walker.call(main.getName(), arguments);
  if (results.empty())
    problems.add("function @" + main.getName() + " has no results");
  for (auto [index, result] : llvm::enumerate(results)) {
    std::string name = resultName(index, results.size());
    auto place = main.getResultAttrOfType<StringAttr>(index, "jax.result_info");
    try {
      if (result)
        entry.addResult(result, name, place ? place.getValue() : StringRef());
    } catch (const ImportError &error) {
      problems.add("result '" + name + "': " + error.what());
    }
  }
  finish(module, entry, emit);
}

OwningOpRef<ModuleOp> StableHloImporter::run() {
  return ModelImporter::run([&](ModuleOp module) {
    SourceModule source(path);
    source.expandComplex(problems);
    if (problems.any())
      return;
    offered.emplace(&context, path, options.weights);
    build(module, source);
  });
}

} // namespace

OwningOpRef<ModuleOp> weft::importStableHlo(MLIRContext &context, StringRef path,
                                            const StableHloImportOptions &options) {
  return StableHloImporter(context, path, options).run();
}

std::vector<std::string> weft::listStableHloOperations() {
  OpTable table = makeOpTable();
  for (const std::string &name : listComplexOperations())
    table.try_emplace(name);
  return sortedKeys(table);
}
