#include "frontends/torch_export/ops/OpTable.h"

using namespace weft::frontend::aten;

OpTable weft::frontend::aten::makeOpTable() {
  OpTable table;
  for (auto add : {addArithmetic, addAttention, addControl, addConvert, addElementwise, addIndex,
                   addLinear, addNormalization, addReduce, addShape, addSlicing, addSymbolic})
    add(table);
  return table;
}
