#include "frontends/common/OfferedWeights.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "frontends/common/ImportError.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include <filesystem>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
namespace fs = std::filesystem;

/// How a module at `path` names another file: relative to its folder, or absolute.
static std::string referenceTo(const std::string &file, const std::string &path) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(fs::absolute(path, error), error).parent_path();
  fs::path target = fs::absolute(file, error).lexically_normal();
  fs::path relative = target.lexically_relative(folder);
  return error || relative.empty() ? target.string() : relative.string();
}

OfferedWeights::OfferedWeights(MLIRContext *context, StringRef modelPath,
                               ArrayRef<std::string> files)
    : context(context), modelPath(modelPath) {
  for (const std::string &file : files)
    for (auto &[name, tensor] : readSafeTensors(context, file)) {
      auto [other, isNew] = offered.insert({name, {tensor, file}});
      if (!isNew)
        throw ImportError("weight '" + name + "' is in '" + other->second.file + "' and in '" +
                          file + "'");
    }
}

Attribute OfferedWeights::take(StringRef name, RankedTensorType type) {
  Weight &weight = offered.at(name.str());
  if (!weight.tensor.type)
    throw ImportError("weight '" + name.str() + "' in '" + weight.file + "' is of type " +
                      weight.tensor.dtype + ", which is not supported");
  if (weight.tensor.type != type)
    throw ImportError("it is " + describe(type) + ", but weight '" + name.str() + "' in '" +
                      weight.file + "' is " + describe(weight.tensor.type));
  if (weight.used)
    throw ImportError("weight '" + name.str() + "' in '" + weight.file +
                      "' is another argument's already");
  weight.used = true;
  return ExternalAttr::get(context, referenceTo(weight.file, modelPath), weight.tensor.offset,
                           weight.tensor.length);
}

void OfferedWeights::warnOfUnused(Location location, StringRef are) const {
  constexpr size_t most = 10;
  SmallVector<StringRef> unused;
  for (const auto &[name, weight] : offered)
    if (!weight.used)
      unused.push_back(name);
  if (unused.empty())
    return;
  emitWarning(location) << unused.size() << " of " << offered.size() << " weights are no " << are
                        << " of the model: '"
                        << llvm::join(ArrayRef(unused).take_front(most), "', '") << "'"
                        << (unused.size() > most ? " …" : "");
}
