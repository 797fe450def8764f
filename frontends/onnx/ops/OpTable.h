//===- OpTable.h - which operators can be imported --------------*- C++ -*-===//
//
// One function an operator, alphabetical within its family; operators of the default domain by
// their name, others as `domain::name`. The table is the list of what is supported.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_ONNX_OPS_OPTABLE_H
#define WEFT_FRONTENDS_ONNX_OPS_OPTABLE_H

#include "frontends/onnx/Node.h"

namespace weft::frontend {

void addActivation(OpTable &table);
void addAttention(OpTable &table);
void addControl(OpTable &table);
void addElementwise(OpTable &table);
void addIndex(OpTable &table);
void addLinear(OpTable &table);
void addNormalization(OpTable &table);
void addReduce(OpTable &table);
void addResize(OpTable &table);
void addSearch(OpTable &table);
void addShape(OpTable &table);
void addSlicing(OpTable &table);

inline OpTable makeOpTable() {
  OpTable table;
  for (auto add : {addActivation, addAttention, addControl, addElementwise, addIndex, addLinear,
                   addNormalization, addReduce, addResize, addSearch, addShape, addSlicing})
    add(table);
  return table;
}

/// Throws ImportError unless the value is of a float type.
inline void expectFloat(mlir::Value value) {
  if (!mlir::isa<mlir::FloatType>(elementOf(value)))
    throw ImportError("expected floats, got " + describe(value));
}

/// Throws ImportError unless the value has at least (exactly) this rank.
inline void expectRank(mlir::Value value, int64_t least) {
  if (typeOf(value).getRank() < least)
    throw ImportError("expected rank " + std::to_string(least) + " or more, got " +
                      describe(value));
}
inline void expectExactRank(mlir::Value value, int64_t rank) {
  if (typeOf(value).getRank() != rank)
    throw ImportError("expected rank " + std::to_string(rank) + ", got " + describe(value));
}

/// Parts shared by operators of several families.
mlir::Value emitSoftplus(Emitter &emit, mlir::Value x);
mlir::Value emitMatMul(Emitter &emit, mlir::Value lhs, mlir::Value rhs);
/// The elements of a one-dimensional einsum-like sum, see Einsum.cpp.
void importEinsum(Node &node);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_OPS_OPTABLE_H
