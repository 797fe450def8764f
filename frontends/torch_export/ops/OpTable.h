//===- OpTable.h - which operators can be imported --------------*- C++ -*-===//
//
// One function an operator, alphabetical within its family; the key is the serialised target less
// `torch.ops.`, overload included. The table is the list of what is supported.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_OPS_OPTABLE_H
#define WEFT_FRONTENDS_TORCH_EXPORT_OPS_OPTABLE_H

#include "frontends/torch_export/Node.h"

namespace weft::frontend::aten {

void addActivation(OpTable &table);
void addArithmetic(OpTable &table);
void addAttention(OpTable &table);
void addBackward(OpTable &table);
void addBounds(OpTable &table);
void addChannelNorm(OpTable &table);
void addComplex(OpTable &table);
void addComputed(OpTable &table);
void addControl(OpTable &table);
void addConvert(OpTable &table);
void addCreate(OpTable &table);
void addDiagonal(OpTable &table);
void addElementwise(OpTable &table);
void addExperts(OpTable &table);
void addFunctions(OpTable &table);
void addGather(OpTable &table);
void addGrid(OpTable &table);
void addIndex(OpTable &table);
void addIndexPut(OpTable &table);
void addLinear(OpTable &table);
void addLoss(OpTable &table);
void addNormalization(OpTable &table);
void addNorms(OpTable &table);
void addPadding(OpTable &table);
void addPooling(OpTable &table);
void addProducts(OpTable &table);
void addRearrange(OpTable &table);
void addRecurrent(OpTable &table);
void addReduce(OpTable &table);
void addResize(OpTable &table);
void addScan(OpTable &table);
void addScatter(OpTable &table);
void addSearch(OpTable &table);
void addShape(OpTable &table);
void addSlicing(OpTable &table);
void addSymbolic(OpTable &table);
void addWindows(OpTable &table);

/// All operators, by name.
OpTable makeOpTable();

/// The name that is meant by an operator's second one: `aten.mul.Tensor` by `aten.multiply.Tensor`;
/// others as they are.
std::string firstName(llvm::StringRef target);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_OPTABLE_H
