// Products of tensors.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/stablehlo/AttributeText.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// Operands are multiplied in the result's type: bf16 with an f32 result loses nothing.
static void multiply(Instruction &op, const Emitter::DotDims &dims) {
  Type element = op.resultType().getElementType();
  Value lhs = op.operand(0), rhs = op.operand(1);
  checkDims(llvm::to_vector(llvm::concat<const int64_t>(dims.lhsBatch, dims.lhsContract)),
            typeOf(lhs).getRank(), "lhs dimensions");
  checkDims(llvm::to_vector(llvm::concat<const int64_t>(dims.rhsBatch, dims.rhsContract)),
            typeOf(rhs).getRank(), "rhs dimensions");
  if (dims.lhsBatch.size() != dims.rhsBatch.size() ||
      dims.lhsContract.size() != dims.rhsContract.size())
    throw ImportError("expected as many dimensions of the left operand as of the right one");
  op.result(op.emit.dot(op.emit.cast(lhs, element), op.emit.cast(rhs, element), dims));
}

static void importDotGeneral(Instruction &op) {
  op.expectOperands(2);
  AttributeFields fields(op.attribute("dot_dimension_numbers"), "dot");
  multiply(op,
           {fields.dims("lhs_batching_dimensions"), fields.dims("rhs_batching_dimensions"),
            fields.dims("lhs_contracting_dimensions"), fields.dims("rhs_contracting_dimensions")});
}

static void importDot(Instruction &op) {
  op.expectOperands(2);
  expectRank(op.operand(0), 1);
  multiply(op, {{}, {}, {typeOf(op.operand(0)).getRank() - 1}, {0}});
}

void stablehlo::addProducts(OpTable &table) {
  table["stablehlo.dot"] = importDot;
  table["stablehlo.dot_general"] = importDotGeneral;
}
