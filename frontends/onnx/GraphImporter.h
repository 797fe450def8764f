//===- GraphImporter.h - walks graphs, functions and branches ---*- C++ -*-===//
//
// One walk over the nodes in an order where values are made before they are used. A node that fails
// is reported and its results are marked as failed, so that the walk goes on and finds everything
// else that is wrong; nodes that use failed values are passed over in silence. Calls of model-local
// functions are walked in place of the call, and so is the chosen branch of an `If`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_ONNX_GRAPHIMPORTER_H
#define WEFT_FRONTENDS_ONNX_GRAPHIMPORTER_H

#include "frontends/common/Problems.h"
#include "frontends/onnx/Node.h"
#include "frontends/onnx/Order.h"
#include "frontends/onnx/Tensors.h"
#include "mlir/IR/BuiltinOps.h"
#include <list>

namespace weft::frontend {

/// The names visible to the nodes of a graph or function.
struct Scope {
  Scope *parent = nullptr;             ///< the graph around a branch; a function has none
  std::string prefix;                  ///< source names of inlined values start with it
  llvm::StringMap<mlir::Value> values; ///< null: failed
  llvm::StringMap<const onnx::TensorProto *> initializers;  ///< become values when first used
  llvm::StringMap<int64_t> opsets;                          ///< version by domain
  llvm::StringMap<const onnx::AttributeProto *> attributes; ///< of the function call
  int depth = 0;
};

class GraphImporter {
public:
  /// Weights are added to `module`, operations where `emit` builds.
  GraphImporter(const onnx::ModelProto &model, mlir::ModuleOp module, TensorReader &reader,
                Emitter &emit, Problems &problems);
  GraphImporter(const GraphImporter &) = delete;

  Emitter &emitter() { return emit; }
  TensorReader &tensors() { return reader; }

  /// Walks the nodes; `wanted` are the values needed of them.
  void walk(Scope &scope, const Nodes &nodes, llvm::ArrayRef<llvm::StringRef> wanted);
  /// Makes the initializers of a graph visible. Call before walking it.
  void addInitializers(Scope &scope, const onnx::GraphProto &graph);
  /// A branch of an If in place of the node.
  void inlineBranch(Node &node, const onnx::GraphProto &branch);

  /// The value of a name. Throws FailedValue where what makes it has failed, ImportError where
  /// nothing makes it.
  mlir::Value lookup(Scope &scope, llvm::StringRef name);
  void bind(Scope &scope, llvm::StringRef name, mlir::Value value);
  /// The value of an initializer of floats that decides shapes (the scales of Resize); such are
  /// weights otherwise, with values left in the file. Null where the name is no such thing.
  const Tensor *floatInitializer(const Scope &scope, llvm::StringRef name);
  std::string sourceName(const Scope &scope, llvm::StringRef name) const {
    return scope.prefix + name.str();
  }
  /// An attribute, or the caller's one that it stands for (null where the caller gave none).
  const onnx::AttributeProto *resolve(const Scope &scope,
                                      const onnx::AttributeProto &attribute) const;

  /// The value of a tensor in the file, as a weight or a constant named `name`.
  mlir::Value addTensor(const onnx::TensorProto &tensor, llvm::StringRef name, bool isParameter);

  static llvm::StringMap<int64_t>
  readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports);

private:
  void importNode(Scope &scope, const onnx::NodeProto &proto);
  void dispatch(Scope &scope, const onnx::NodeProto &proto);
  /// The node that makes each value; values made twice are reported.
  llvm::StringMap<int> findProducers(Scope &scope, const Nodes &nodes);
  void fail(Scope &scope, const onnx::NodeProto &proto);
  void inlineFunction(Node &node, const onnx::FunctionProto &function);

  llvm::StringMap<const onnx::FunctionProto *> functions; ///< by domain::name
  llvm::StringMap<std::list<onnx::AttributeProto>> functionDefaults;
  OpTable operators;
  TensorReader &reader;
  Emitter &emit;
  Problems &problems;
  Weights weights;
  std::list<Tensor> shapeFloats; ///< that floatInitializer has read
  int64_t walked = 0;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_GRAPHIMPORTER_H
