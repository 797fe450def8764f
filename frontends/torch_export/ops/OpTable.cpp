#include "frontends/torch_export/ops/OpTable.h"

using namespace weft::frontend::aten;

OpTable weft::frontend::aten::makeOpTable() {
  OpTable table;
  for (auto add :
       {addActivation,  addArithmetic, addAttention, addBackward,      addBounds,  addChannelNorm,
        addComplex,     addComputed,   addControl,   addConvert,       addCreate,  addDiagonal,
        addElementwise, addExperts,    addFunctions, addGather,        addGrid,    addIndex,
        addIndexPut,    addLinear,     addLoss,      addNormalization, addNorms,   addPadding,
        addPooling,     addProducts,   addRearrange, addRecurrent,     addReduce,  addResize,
        addScan,        addScatter,    addSearch,    addShape,         addSlicing, addSymbolic,
        addWindows})
    add(table);
  return table;
}
