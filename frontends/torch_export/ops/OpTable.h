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

void addArithmetic(OpTable &table);
void addAttention(OpTable &table);
void addControl(OpTable &table);
void addConvert(OpTable &table);
void addElementwise(OpTable &table);
void addIndex(OpTable &table);
void addLinear(OpTable &table);
void addNormalization(OpTable &table);
void addReduce(OpTable &table);
void addShape(OpTable &table);
void addSlicing(OpTable &table);
void addSymbolic(OpTable &table);

/// All operators, by name.
OpTable makeOpTable();

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_OPS_OPTABLE_H
