//===- TestData.h - a test as ONNX's backend suite has it -------*- C++ -*-===//
//
// NAME/model.onnx with NAME/test_data_set_N/{input,output}_M.pb, a TensorProto each, in the order
// of the graph's inputs and outputs.
//
// These models take everything as inputs, shapes and axes too. Where the importer wants a constant,
// inputs are bound to it: made initializers with the recorded values.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_ONNX_TESTDATA_H
#define WEFT_FRONTENDS_ONNX_TESTDATA_H

#include "compiler/Interpret/Tensor.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::frontend {

/// Which inputs are bound, besides empty ones: from what tests most to what tests least.
enum class Binding { None, SmallIntegers, All };
inline constexpr Binding bindings[] = {Binding::None, Binding::SmallIntegers, Binding::All};

/// Whether a model may be imported with more inputs bound, which was refused with `message`.
bool wantsBinding(const std::string &message);

/// One model with one set of data.
class TestData {
public:
  using NamedTensor = std::pair<std::string, Tensor>;

  /// Throws ImportError where a file cannot be read or parsed.
  TestData(const std::string &model, const std::string &dataSet);

  /// The model as a file holds it. Dimensions of inputs have their recorded sizes.
  std::string bind(Binding binding) const;

  /// The tensors that are inputs then, and the outputs, by their names in the graph. Throw
  /// ImportError where a tensor's type, shape and data do not fit together, or Weft does not have
  /// its type.
  std::vector<NamedTensor> getInputs(mlir::MLIRContext *context, Binding binding) const;
  std::vector<NamedTensor> getOutputs(mlir::MLIRContext *context) const;

  /// The operators of the graph: `Add`, `domain::Name`, ….
  std::vector<std::string> listOperators() const;

private:
  struct Protos;

  std::shared_ptr<const Protos> protos;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_TESTDATA_H
