#include "frontends/config/Import.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Training/ModelLoss.h"
#include "frontends/common/ModelImporter.h"
#include "frontends/config/Layers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// A type of model.
struct ModelType {
  const char *name;
  BuildModel build;
  std::vector<std::string> dims;
  int64_t labelShift; ///< the logits of a place are for the label so many places on
};

class ConfigImporter : ModelImporter {
public:
  ConfigImporter(MLIRContext &context, StringRef path, const ConfigImportOptions &options)
      : ModelImporter(context, path), options(options) {}
  OwningOpRef<ModuleOp> import();

private:
  void build(ModuleOp module);
  Type getElement(const Config &config);
  StepSizes getSizes(const ModelType &type);

  const ConfigImportOptions &options;
};

} // namespace

/// The types of models that can be built, by name.
static const std::vector<ModelType> &getTypes() {
  static const std::vector<std::string> image{"batch"}, tokens{"batch", "seq"},
      pairs{"batch", "seq", "decoder_seq"}, routed{"batch", "seq", "capacity"};
  static const std::vector<ModelType> types{{"bert", buildBert, tokens, 0},
                                            {"deepseek_v3", buildDeepseekV3, routed, 1},
                                            {"gemma", buildGemma, tokens, 1},
                                            {"gpt2", buildGpt2, tokens, 1},
                                            {"llama", buildLlama, tokens, 1},
                                            {"mistral", buildMistral, tokens, 1},
                                            {"mixtral", buildMixtral, routed, 1},
                                            {"phi3", buildPhi3, tokens, 1},
                                            {"qwen2", buildQwen2, tokens, 1},
                                            {"qwen3", buildQwen3, tokens, 1},
                                            {"qwen3_moe", buildQwen3Moe, routed, 1},
                                            {"t5", buildT5, pairs, 0},
                                            {"vit", buildVit, image, 0}};
  return types;
}

static const ModelType &findType(const std::string &name) {
  std::vector<std::string> names;
  for (const ModelType &type : getTypes()) {
    if (name == type.name)
      return type;
    names.push_back(type.name);
  }
  throw ImportError("models of type '" + name +
                    "' cannot be built from a configuration; known are " + llvm::join(names, ", ") +
                    didYouMean(name, names));
}

static Config readConfig(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    throw ImportError(buffer.getError().message());
  return Config::parse((*buffer)->getBuffer());
}

Type ConfigImporter::getElement(const Config &config) {
  std::string name = options.dtype;
  if (name.empty())
    name = config.getText("dtype", config.getText("torch_dtype", "float32"));
  if (name == "float32" || name == "f32")
    return Float32Type::get(&context);
  if (name == "float16" || name == "f16")
    return Float16Type::get(&context);
  if (name == "bfloat16" || name == "bf16")
    return BFloat16Type::get(&context);
  throw ImportError("dtype '" + name + "' is not known; known are float32, float16, bfloat16");
}

StepSizes ConfigImporter::getSizes(const ModelType &type) {
  auto find = [&](StringRef name) -> std::optional<int64_t> {
    auto found = options.dims.find(name);
    return found == options.dims.end() ? std::nullopt : std::optional(found->second);
  };
  std::optional<int64_t> sequence = find("seq");
  if (!sequence && llvm::is_contained(type.dims, "seq"))
    throw ImportError("the length of sequences is open: --seq N or --dim seq=N (and --global-batch "
                      "N or --dim batch=N, 1 if left out)");
  StepSizes sizes;
  sizes.batch = find("batch").value_or(1);
  sizes.sequence = sequence.value_or(0);
  sizes.decoderSequence = find("decoder_seq").value_or(sizes.sequence);
  sizes.capacity = find("capacity");
  // Tables of positions are made for each; a batch costs nothing.
  constexpr int64_t longest = int64_t(1) << 22, largest = int64_t(1) << 31;
  for (int64_t length : {sizes.sequence, sizes.decoderSequence})
    expectAtMost({"the sequence", length}, {"what is supported", longest});
  expectAtMost({"the batch", sizes.batch}, {"what is supported", largest});
  return sizes;
}

void ConfigImporter::build(ModuleOp module) {
  Config config = readConfig(path);
  const ModelType &type = findType(config.getType());
  OfferedWeights offered(&context, path, options.weights);
  EntryFunction entry(module, path);
  Layers layers(module, entry, getElement(config), getSizes(type), offered);
  Value logits = type.build(config, layers);
  layers.emit.nameResult(logits, "logits");
  entry.addResult(logits, "logits");
  offered.warnOfUnused(location, "weights");
  setModelLoss(module, {"logits", "labels", type.labelShift});
  finish(module, entry, layers.emit);
}

OwningOpRef<ModuleOp> ConfigImporter::import() {
  return run([&](ModuleOp module) { build(module); });
}

bool weft::isConfig(StringRef head) {
  return head.ltrim().starts_with("{") && head.contains("\"model_type\"");
}

OwningOpRef<ModuleOp> weft::importConfig(MLIRContext &context, StringRef path,
                                         const ConfigImportOptions &options) {
  return ConfigImporter(context, path, options).import();
}

std::vector<std::string> weft::listConfigDims(StringRef path) {
  try {
    return findType(readConfig(path).getType()).dims;
  } catch (const ImportError &) { // importConfig reports it
    return {"batch", "seq", "decoder_seq", "capacity"};
  }
}
