//===- OpTable.h - which operators can be imported --------------*- C++ -*-===//
//
// One function an operator, alphabetical within its family; operators of the default domain by
// their name, others as `domain::name`. The table is the list of what is supported.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_ONNX_OPS_OPTABLE_H
#define WEFT_FRONTENDS_ONNX_OPS_OPTABLE_H

#include "frontends/common/Composites.h"
#include "frontends/onnx/Node.h"

namespace weft::frontend {

void addActivation(OpTable &table);
void addAttention(OpTable &table);
void addControl(OpTable &table);
void addElementwise(OpTable &table);
void addGrid(OpTable &table);
void addIndex(OpTable &table);
void addLinear(OpTable &table);
void addNormalization(OpTable &table);
void addPooling(OpTable &table);
void addQuantization(OpTable &table);
void addRecurrent(OpTable &table);
void addReduce(OpTable &table);
void addResize(OpTable &table);
void addSearch(OpTable &table);
void addShape(OpTable &table);
void addSlicing(OpTable &table);
void addTraining(OpTable &table);

inline OpTable makeOpTable() {
  OpTable table;
  for (auto add : {addActivation, addAttention, addControl, addElementwise, addGrid, addIndex,
                   addLinear, addNormalization, addPooling, addQuantization, addRecurrent,
                   addReduce, addResize, addSearch, addShape, addSlicing, addTraining})
    add(table);
  return table;
}

/// An attribute of `count` entries of 1 or more, all 1 where it is absent.
Shape readPerSpatial(Node &node, llvm::StringRef name, size_t count);
/// The attributes strides, dilations, and auto_pad or pads.
Windows readWindows(Node &node, llvm::ArrayRef<int64_t> spatial, llvm::ArrayRef<int64_t> window);
/// The windows of a convolution's operands, which are checked.
Windows readConv(Node &node, mlir::Value x, mlir::Value kernel);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_ONNX_OPS_OPTABLE_H
