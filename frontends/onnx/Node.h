//===- Node.h - one node while it is imported -------------------*- C++ -*-===//
//
// What an operator's importer sees: operands as values of the module, attributes with their
// defaults, the version of the operator set, and the Emitter. Everything here throws ImportError
// where the node is not what ONNX says it must be; the walk catches it and adds the node's name.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_ONNX_NODE_H
#define WEFT_FRONTENDS_ONNX_NODE_H

#include "frontends/common/Emitter.h"
#include "frontends/onnx/Proto.h"
#include "llvm/ADT/StringMap.h"

namespace weft::frontend {

class GraphImporter;
struct Scope;

class Node {
public:
  Node(const onnx::NodeProto &proto, GraphImporter &graph, Scope &scope, int64_t opset);

  const onnx::NodeProto &proto;
  GraphImporter &graph;
  Scope &scope;
  Emitter &emit;
  int64_t opset;

  // Operands. An optional one may be absent, or present with an empty name.
  size_t operands() const { return proto.input_size(); }
  bool has(size_t index) const;
  mlir::Value operand(size_t index) const;
  mlir::Value optional(size_t index) const { return has(index) ? operand(index) : mlir::Value(); }
  mlir::SmallVector<mlir::Value> allOperands() const;

  // Operands whose values the graph's shapes depend on: constants. `what` names the operand in
  // messages.
  const Tensor &constant(size_t index, llvm::StringRef what) const;
  Shape integers(size_t index, llvm::StringRef what) const;
  int64_t integer(size_t index, llvm::StringRef what) const;

  // Attributes.
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  /// Throws ImportError if the node has an attribute that its importer has not looked at: the
  /// attribute changes what the operator computes, in a way that is not known here.
  void checkAttributes() const;
  /// Of attributes that do not change the result.
  void ignore(std::initializer_list<llvm::StringRef> names) const {
    known.append(names.begin(), names.end());
  }
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise) const;
  Shape getInts(llvm::StringRef name, Shape otherwise = {}) const;
  int64_t requiredInt(llvm::StringRef name) const;

  /// A dimension given from the front or, below 0, from the end; in [0, rank), or [0, rank] with
  /// `inclusive`.
  int64_t dim(int64_t given, int64_t rank, bool inclusive = false) const;
  /// Several, sorted; each at most once.
  Shape dims(llvm::ArrayRef<int64_t> given, int64_t rank) const;

  // Results.
  bool wants(size_t index) const;
  /// What is built from here on belongs to result `index`; at first, it belongs to result 0.
  void beginResult(size_t index);
  void result(size_t index, mlir::Value value);
  void result(mlir::Value value) { result(0, value); }

private:
  mutable llvm::SmallVector<llvm::StringRef, 4> known; ///< attributes asked for
};

using OpImporter = void (*)(Node &node);
using OpTable = llvm::StringMap<OpImporter>;

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_NODE_H
