#include "frontends/stablehlo/Import.h"

#include "dialects/Weft/IR/SourceName.h"
#include "frontends/common/ModelImporter.h"
#include "frontends/common/SafeTensors.h"
#include "frontends/stablehlo/Walker.h"
#include "frontends/stablehlo/ops/OpTable.h"
#include "llvm/ADT/StringExtras.h"
#include <filesystem>
#include <map>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;
namespace fs = std::filesystem;

namespace {

/// A tensor of a weights file, and whether an argument has taken it.
struct OfferedWeight {
  FileTensor tensor;
  std::string file;
  bool used = false;
};

class StableHloImporter : ModelImporter {
public:
  StableHloImporter(MLIRContext &context, StringRef path, const StableHloImportOptions &options)
      : ModelImporter(context, path), options(options) {}

  OwningOpRef<ModuleOp> run();

private:
  void readWeights();
  /// Arguments are called as their locations say where those are unlike, else `arg0` ….
  void nameArguments(func::FuncOp main);
  OfferedWeight *findWeight(StringRef argument, std::string &name);
  Value addArgument(EntryFunction &entry, Weights &weights, Walker &walker, BlockArgument argument);
  void nameWeight(LoadOp load, StringRef argument);
  void checkFits(RankedTensorType type, const OfferedWeight &weight, StringRef name);
  void warnOfUnused();
  void build(ModuleOp module, SourceModule &source);

  const StableHloImportOptions &options;
  std::vector<std::string> names, shortNames;   ///< of arguments; short ones where there are, or ""
  std::map<std::string, OfferedWeight> offered; ///< by name
};

/// How a module at `path` names another file: relative to its folder, or absolute.
std::string referenceTo(const std::string &file, StringRef path) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(fs::absolute(path.str(), error), error).parent_path();
  fs::path target = fs::absolute(file, error).lexically_normal();
  fs::path relative = target.lexically_relative(folder);
  return error || relative.empty() ? target.string() : relative.string();
}

void StableHloImporter::readWeights() {
  for (const std::string &file : options.weights)
    for (auto &[name, tensor] : readSafeTensors(&context, file)) {
      auto [other, isNew] = offered.insert({name, {tensor, file}});
      if (!isNew)
        throw ImportError("weight '" + name + "' is in '" + other->second.file + "' and in '" +
                          file + "'");
    }
}

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

OfferedWeight *StableHloImporter::findWeight(StringRef argument, std::string &name) {
  std::vector<std::string> names = argumentAliases(argument);
  names.insert(names.begin(), argument.str());
  for (const std::string &candidate : names)
    if (auto found = offered.find(candidate); found != offered.end()) {
      name = candidate;
      return &found->second;
    }
  return nullptr;
}

void StableHloImporter::checkFits(RankedTensorType type, const OfferedWeight &weight,
                                  StringRef name) {
  if (!weight.tensor.type)
    throw ImportError("weight '" + name.str() + "' in '" + weight.file + "' is of type " +
                      weight.tensor.dtype + ", which is not supported");
  if (weight.tensor.type != type)
    throw ImportError("it is " + describe(type) + ", but weight '" + name.str() + "' in '" +
                      weight.file + "' is " + describe(weight.tensor.type));
  if (weight.used)
    throw ImportError("weight '" + name.str() + "' in '" + weight.file +
                      "' is another argument's already");
}

Value StableHloImporter::addArgument(EntryFunction &entry, Weights &weights, Walker &walker,
                                     BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  StringRef name = names[index];
  RankedTensorType type = walker.translate(argument.getType());
  std::string weightName;
  OfferedWeight *weight = findWeight(name, weightName);
  if (!weight) {
    Value added = entry.addArgument(type, name);
    if (!shortNames[index].empty())
      added.setLoc(FusedLoc::get(
          &context, {added.getLoc(), NameLoc::get(StringAttr::get(&context, shortNames[index]))}));
    return added;
  }
  checkFits(type, *weight, weightName);
  weight->used = true;
  auto external = ExternalAttr::get(&context, referenceTo(weight->file, path),
                                    weight->tensor.offset, weight->tensor.length);
  Value value = weights.addWeight({type, external, {}}, weightName, WeightKind::Parameter);
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

void StableHloImporter::warnOfUnused() {
  constexpr size_t most = 10;
  SmallVector<StringRef> unused;
  for (const auto &[name, weight] : offered)
    if (!weight.used)
      unused.push_back(name);
  if (unused.empty())
    return;
  emitWarning(location) << unused.size() << " of " << offered.size()
                        << " weights are no arguments of the model: '"
                        << llvm::join(ArrayRef(unused).take_front(most), "', '") << "'"
                        << (unused.size() > most ? " …" : "");
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
  warnOfUnused();
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
    readWeights();
    build(module, source);
  });
}

} // namespace

OwningOpRef<ModuleOp> weft::importStableHlo(MLIRContext &context, StringRef path,
                                            const StableHloImportOptions &options) {
  return StableHloImporter(context, path, options).run();
}

std::vector<std::string> weft::listStableHloOperations() { return sortedKeys(makeOpTable()); }
