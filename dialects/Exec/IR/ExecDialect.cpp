#include "dialects/Exec/IR/ExecDialect.h"

#include "dialects/Support/DType.h"
#include "dialects/Support/KeywordEnum.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::exec;

namespace weft::exec {
/// A list of operands, each replaced by what `map` makes of it.
static ArrayAttr mapArray(ArrayAttr operands, llvm::function_ref<OperandAttr(OperandAttr)> map) {
  SmallVector<Attribute> mapped;
  for (auto operand : operands.getAsRange<OperandAttr>())
    mapped.push_back(map(operand));
  return ArrayAttr::get(operands.getContext(), mapped);
}

template <typename Op> static SmallVector<OperandAttr> getOperandsOfScores(Op op) {
  SmallVector<OperandAttr> reads{op.getQuery(), op.getKey(), op.getValue()};
  for (OperandAttr optional : {op.getMaskAttr(), op.getBiasAttr()})
    if (optional)
      reads.push_back(optional);
  return reads;
}

static SmallVector<OperandAttr> getAttentionReads(AttentionOp op) {
  return getOperandsOfScores(op);
}

static SmallVector<OperandAttr> getAttentionReads(AttentionBackwardOp op) {
  SmallVector<OperandAttr> reads = getOperandsOfScores(op);
  llvm::append_range(reads, ArrayRef{op.getOutput(), op.getLse(), op.getGradient()});
  return reads;
}

static SmallVector<OperandAttr> getAttentionWrites(AttentionOp op) {
  SmallVector<OperandAttr> writes{op.getOutput()};
  if (OperandAttr lse = op.getLseAttr())
    writes.push_back(lse);
  return writes;
}

template <typename Op>
static void mapAttentionOperands(Op op, llvm::function_ref<OperandAttr(OperandAttr)> map) {
  op.setQueryAttr(map(op.getQuery()));
  op.setKeyAttr(map(op.getKey()));
  op.setValueAttr(map(op.getValue()));
  if (OperandAttr mask = op.getMaskAttr())
    op.setMaskAttr(map(mask));
  if (OperandAttr bias = op.getBiasAttr())
    op.setBiasAttr(map(bias));
  op.setOutputAttr(map(op.getOutput()));
  if (OperandAttr lse = op.getLseAttr())
    op.setLseAttr(map(lse));
  if constexpr (std::is_same_v<Op, AttentionBackwardOp>) {
    op.setGradientAttr(map(op.getGradient()));
    op.setQueryGradientAttr(map(op.getQueryGradient()));
    op.setKeyGradientAttr(map(op.getKeyGradient()));
    op.setValueGradientAttr(map(op.getValueGradient()));
  }
}

/// What a convolution and its epilogue read that is there before.
static SmallVector<OperandAttr> getConvReads(ConvOp op) {
  SmallVector<OperandAttr> reads{op.getInput(), op.getKernel()};
  if (EpilogueAttr epilogue = op.getEpilogueAttr())
    for (auto input : epilogue.getInputs().getAsRange<OperandAttr>())
      if (input != op.getOutput())
        reads.push_back(input);
  return reads;
}

static void mapConvOperands(ConvOp op, llvm::function_ref<OperandAttr(OperandAttr)> map) {
  op.setInputAttr(map(op.getInput()));
  op.setKernelAttr(map(op.getKernel()));
  op.setOutputAttr(map(op.getOutput()));
  if (EpilogueAttr old = op.getEpilogueAttr())
    op.setEpilogueAttr(EpilogueAttr::get(op.getContext(), old.getKernel(),
                                         mapArray(old.getInputs(), map), old.getParams(),
                                         old.getTiles(), old.getTile(), old.getRow()));
}
} // namespace weft::exec

#include "dialects/Exec/IR/ExecDialect.cpp.inc"
#include "dialects/Exec/IR/ExecEnums.cpp.inc"
#include "dialects/Exec/IR/ExecInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Exec/IR/ExecAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Exec/IR/ExecOps.cpp.inc"

void ExecDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Exec/IR/ExecAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Exec/IR/ExecOps.cpp.inc"
      >();
}

int64_t weft::exec::getElementBytes(Type type) {
  std::optional<weft::DType> dtype = weft::getDType(type);
  return dtype ? elementBytes(*dtype) : 0;
}

SmallVector<int64_t> weft::exec::getRowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}
