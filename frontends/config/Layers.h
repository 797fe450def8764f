//===- Layers.h - what transformers are built of ----------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_CONFIG_LAYERS_H
#define WEFT_FRONTENDS_CONFIG_LAYERS_H

#include "frontends/common/EntryFunction.h"
#include "frontends/common/Weights.h"
#include "frontends/config/Config.h"

namespace weft::frontend {

/// How a weight of a linear map lies in its file.
enum class WeightOrder { OutIn, InOut };

/// Builds the parts of a model. A weight is made where it is used, under the name that checkpoints
/// have for it, of zeros: the graph is there without its weights.
class Layers {
public:
  Layers(mlir::ModuleOp module, EntryFunction &entry, mlir::Type element, int64_t batch,
         int64_t sequence)
      : emit(mlir::OpBuilder::atBlockEnd(entry.body())), weights(module, emit), batch(batch),
        sequence(sequence), entry(entry), element(element) {}

  mlir::Value addTokens(llvm::StringRef name);
  mlir::Value addWeight(const std::string &name, llvm::ArrayRef<int64_t> shape);
  mlir::Value embed(mlir::Value table, mlir::Value tokens) { return emit.gather(table, tokens, 0); }

  mlir::Value layerNorm(const std::string &name, mlir::Value x, double epsilon);
  mlir::Value rmsNorm(const std::string &name, mlir::Value x, double epsilon);
  /// x times the weight `name`.weight, and `name`.bias where it has one.
  mlir::Value linear(const std::string &name, mlir::Value x, int64_t out, WeightOrder order,
                     bool bias);
  /// x times a transposed table: logits.
  mlir::Value project(mlir::Value x, mlir::Value table);
  /// [b, s, heads·d] as [b, heads, s, d], and back.
  mlir::Value splitHeads(mlir::Value x, int64_t heads);
  mlir::Value joinHeads(mlir::Value x);
  mlir::Value attend(mlir::Value query, mlir::Value key, mlir::Value value, double scale);
  /// By its name in configurations. Throws ImportError where that is not known.
  mlir::Value activate(const std::string &function, mlir::Value x);
  mlir::Value add(mlir::Value a, mlir::Value b) { return emit.binary<AddOp>(a, b); }
  mlir::Value multiply(mlir::Value a, mlir::Value b) { return emit.binary<MulOp>(a, b); }
  /// A table of [1, sequence, columns] from a function of position and column, in f32.
  mlir::Value tabulate(int64_t columns, llvm::function_ref<double(int64_t, int64_t)> function);

  Emitter emit;
  Weights weights;
  int64_t batch, sequence;

private:
  EntryFunction &entry;
  mlir::Type element;
};

/// Builds a model of one type from its configuration; the value of its logits.
using BuildModel = mlir::Value (*)(const Config &config, Layers &layers);
mlir::Value buildGpt2(const Config &config, Layers &layers);
mlir::Value buildLlama(const Config &config, Layers &layers);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_CONFIG_LAYERS_H
