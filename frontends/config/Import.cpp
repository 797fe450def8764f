#include "frontends/config/Import.h"
#include "frontends/common/ModelImporter.h"
#include "frontends/config/Layers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// The types of models that can be built.
constexpr std::pair<const char *, BuildModel> types[] = {{"gpt2", buildGpt2},
                                                         {"llama", buildLlama}};

class ConfigImporter : ModelImporter {
public:
  ConfigImporter(MLIRContext &context, StringRef path) : ModelImporter(context, path) {}
  OwningOpRef<ModuleOp> import(const ConfigImportOptions &options);

private:
  void build(ModuleOp module, const ConfigImportOptions &options);
  Type getElement(const Config &config);
};

BuildModel findType(const std::string &type) {
  std::vector<std::string> names;
  for (auto [name, build] : types) {
    if (type == name)
      return build;
    names.push_back(name);
  }
  throw ImportError("models of type '" + type +
                    "' cannot be built from a configuration; known are " + llvm::join(names, ", "));
}

Type ConfigImporter::getElement(const Config &config) {
  std::string name = config.getText("dtype", config.getText("torch_dtype", "float32"));
  if (name == "float32")
    return Float32Type::get(&context);
  if (name == "float16")
    return Float16Type::get(&context);
  if (name == "bfloat16")
    return BFloat16Type::get(&context);
  throw ImportError("dtype '" + name + "' is not known; known are float32, float16, bfloat16");
}

void ConfigImporter::build(ModuleOp module, const ConfigImportOptions &options) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    throw ImportError(buffer.getError().message());
  Config config = Config::parse((*buffer)->getBuffer());
  BuildModel buildModel = findType(config.getType());
  auto find = [&](StringRef name) -> std::optional<int64_t> {
    auto found = options.dims.find(name);
    return found == options.dims.end() ? std::nullopt : std::optional(found->second);
  };
  std::optional<int64_t> sequence = find("seq");
  if (!sequence)
    throw ImportError("the length of sequences is open: --dim seq=N (and --dim batch=N, 1 if left "
                      "out)");
  EntryFunction entry(module, path);
  Layers layers(module, entry, getElement(config), find("batch").value_or(1), *sequence);
  Value logits = buildModel(config, layers);
  layers.emit.nameResult(logits, "logits");
  entry.addResult(logits, "logits");
  finish(module, entry, layers.emit);
}

OwningOpRef<ModuleOp> ConfigImporter::import(const ConfigImportOptions &options) {
  return run([&](ModuleOp module) { build(module, options); });
}

} // namespace

bool weft::isConfig(StringRef head) {
  return head.ltrim().starts_with("{") && head.contains("\"model_type\"");
}

OwningOpRef<ModuleOp> weft::importConfig(MLIRContext &context, StringRef path,
                                         const ConfigImportOptions &options) {
  return ConfigImporter(context, path).import(options);
}

std::vector<std::string> weft::listConfigDims(StringRef) { return {"batch", "seq"}; }
