#include "frontends/common/StopGradient.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

Value weft::frontend::stopGradient(Emitter &emit, Value x) {
  return isa<FloatType>(elementOf(x)) ? emit.unary<StopGradientOp>(x) : x;
}

Value weft::frontend::emitEmbedding(Emitter &emit, Value table, Value indices, int64_t padding) {
  Value rows = emit.gather(table, indices, 0);
  const Tensor *known = emit.valueOf(indices);
  if (padding < 0 || (known && !llvm::is_contained(numbersOf<int64_t>(*known), padding)))
    return rows;
  Shape shape(shapeOf(indices));
  shape.resize(typeOf(rows).getRank(), 1);
  Value isPadding = emit.compare(CompareDirection::EQ, indices, emit.like(indices, padding));
  Value chosen = emit.select(emit.reshape(isPadding, shape), stopGradient(emit, rows), rows);
  chosen.getDefiningOp()->setLoc(rows.getLoc()); // it is the rows where nothing is trained
  return chosen;
}
