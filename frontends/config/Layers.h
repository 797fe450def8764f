//===- Layers.h - what transformers are built of ----------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_CONFIG_LAYERS_H
#define WEFT_FRONTENDS_CONFIG_LAYERS_H

#include "frontends/common/EntryFunction.h"
#include "frontends/common/OfferedWeights.h"
#include "frontends/common/Weights.h"
#include "frontends/config/Config.h"

namespace weft::frontend {

/// How a weight of a linear map lies in its file.
enum class WeightOrder { OutIn, InOut };

/// What a step takes.
struct StepSizes {
  int64_t batch = 1;
  int64_t sequence = 0;            ///< tokens of a sequence; of an encoder's, where there are two
  int64_t decoderSequence = 0;     ///< of an encoder–decoder
  std::optional<int64_t> capacity; ///< slots that an expert has for the tokens of one sequence
};

/// How attention looks: which keys a query sees, and what is done to its scores.
struct AttentionForm {
  double scale;
  bool isCausal = false;
  std::optional<int64_t> window =
      std::nullopt; ///< keys that a query sees at most, its own included
  std::optional<double> softcap = std::nullopt;
  mlir::Value mask = {}; ///< true where a key is seen
  mlir::Value bias = {};
};

/// Builds the parts of a model. A weight is made where it is used, under the name that checkpoints
/// have for it, and is zero where no file gives it values: the graph is there without its weights.
class Layers {
public:
  /// `offered` are the values of weights: of all of them, or of none.
  Layers(mlir::ModuleOp module, EntryFunction &entry, mlir::Type element, StepSizes sizes,
         OfferedWeights &offered)
      : emit(mlir::OpBuilder::atBlockEnd(entry.body())), element(element), sizes(sizes),
        weights(module, emit), entry(entry), offered(offered) {}

  // What comes from outside.
  mlir::Value addInput(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return entry.addArgument(tensorType(shape, element), name);
  }
  /// Of i64, [batch, length].
  mlir::Value addTokens(llvm::StringRef name, int64_t length) {
    return addInput(name, {sizes.batch, length}, emit.builder.getI64Type());
  }
  mlir::Value addWeight(const std::string &name, llvm::ArrayRef<int64_t> shape) {
    return addStored(name, tensorType(shape, element), WeightKind::Parameter);
  }
  /// A weight that no gradient changes.
  mlir::Value addConstant(const std::string &name, llvm::ArrayRef<int64_t> shape,
                          mlir::Type element) {
    return addStored(name, tensorType(shape, element), WeightKind::Constant);
  }
  /// The weight `name`.weight of a table of `rows`.
  mlir::Value addTable(const std::string &name, int64_t rows, int64_t width) {
    return addWeight(name + ".weight", {rows, width});
  }

  // Tokens and places.
  /// Rows of a table; that of the token `padding`, where it has one, is not trained. A token below
  /// 0 is an error, not counted from the end.
  mlir::Value embed(mlir::Value table, mlir::Value tokens,
                    std::optional<int64_t> padding = std::nullopt);
  /// The first `count` rows of a table.
  mlir::Value firstRows(mlir::Value table, int64_t count) {
    return emit.sliceDim(table, /*dim=*/0, 0, count);
  }
  /// A table of [1, sequence, columns] from a function of position and column, in f32.
  mlir::Value tabulate(int64_t columns, llvm::function_ref<double(int64_t, int64_t)> function);

  // Normalisation and products.
  mlir::Value layerNorm(const std::string &name, mlir::Value x, double epsilon);
  /// With `fromOne` the weight is what the scale is more than 1.
  mlir::Value rmsNorm(const std::string &name, mlir::Value x, double epsilon, bool fromOne = false);
  /// x times the weight `name`.weight, and `name`.bias where it has one.
  mlir::Value linear(const std::string &name, mlir::Value x, int64_t out, bool bias,
                     WeightOrder order = WeightOrder::OutIn);
  /// x times a transposed table: logits.
  mlir::Value project(mlir::Value x, mlir::Value table);

  // Attention.
  /// [b, s, heads·d] as [b, heads, s, d], and back.
  mlir::Value splitHeads(mlir::Value x, int64_t heads);
  mlir::Value joinHeads(mlir::Value x);
  mlir::Value attend(mlir::Value query, mlir::Value key, mlir::Value value,
                     const AttentionForm &form);

  // Elements.
  /// By its name in configurations. Throws ImportError where that is not known.
  mlir::Value activate(const std::string &function, mlir::Value x);
  mlir::Value add(mlir::Value a, mlir::Value b) { return emit.binary<AddOp>(a, b); }
  mlir::Value multiply(mlir::Value a, mlir::Value b) { return emit.binary<MulOp>(a, b); }
  mlir::Value scale(mlir::Value x, double factor) { return multiply(x, emit.like(x, factor)); }

  Emitter emit;
  mlir::Type element; ///< of weights and activations
  StepSizes sizes;

private:
  mlir::Value addStored(const std::string &name, mlir::RankedTensorType type, WeightKind kind);

  Weights weights;
  EntryFunction &entry;
  OfferedWeights &offered;
};

/// Builds a model of one type from its configuration; the value of its logits. Throws ImportError
/// where a configuration cannot be.
using BuildModel = mlir::Value (*)(const Config &config, Layers &layers);
mlir::Value buildBert(const Config &config, Layers &layers);
mlir::Value buildDeepseekV3(const Config &config, Layers &layers);
mlir::Value buildGemma(const Config &config, Layers &layers);
mlir::Value buildGpt2(const Config &config, Layers &layers);
mlir::Value buildLlama(const Config &config, Layers &layers);
mlir::Value buildMistral(const Config &config, Layers &layers);
mlir::Value buildMixtral(const Config &config, Layers &layers);
mlir::Value buildPhi3(const Config &config, Layers &layers);
mlir::Value buildQwen2(const Config &config, Layers &layers);
mlir::Value buildQwen3(const Config &config, Layers &layers);
mlir::Value buildQwen3Moe(const Config &config, Layers &layers);
mlir::Value buildT5(const Config &config, Layers &layers);
mlir::Value buildVit(const Config &config, Layers &layers);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_CONFIG_LAYERS_H
