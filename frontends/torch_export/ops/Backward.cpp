// Gradients that torch writes out as operators of their own.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/ops/Compute.h"
#include "frontends/torch_export/ops/Indexing.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// Rows of zeros to which each gradient is added at its index.
static void importEmbeddingBackward(Node &node) {
  Emitter &emit = node.emit;
  Value gradient = node.tensor("grad_output"), indices = node.tensor("indices");
  int64_t rows = node.integer("num_weights"), padding = node.integer("padding_idx", -1);
  if (node.flag("scale_grad_by_freq", false))
    throw ImportError("'scale_grad_by_freq' is not supported");
  expectRank(gradient, 1);
  int64_t width = shapeOf(gradient).back(), count = typeOf(indices).getNumElements();
  if (padding >= 0) {
    Shape spread(shapeOf(indices));
    Value kept = emit.compare(CompareDirection::NE, indices, emit.like(indices, double(padding)));
    spread.push_back(1);
    gradient = emit.select(emit.reshape(kept, spread), gradient, emit.like(gradient, 0));
  }
  auto type = tensorType({rows, width}, elementOf(gradient));
  node.result(emit.create<ScatterNdOp>(type, ScatterKind::Add, emit.splat(type, 0),
                                       emit.reshape(countedFromStart(emit, indices), {count, 1}),
                                       emit.reshape(gradient, {count, width})));
}

/// With ŷ the normalised input and s the scaled gradient:
/// (s - mean(s) - ŷ · mean(s · ŷ)) / deviation, the means over the normalised dimensions.
static Value normGradient(Emitter &emit, Value scaled, Value normal, Value inverse,
                          ArrayRef<int64_t> dims) {
  Value mean = emit.mean(scaled, dims, true);
  Value product = emit.mean(emit.binary<MulOp>(scaled, normal), dims, true);
  Value centred = emit.binary<SubOp>(scaled, mean);
  Value rest = emit.binary<SubOp>(centred, emit.binary<MulOp>(normal, product));
  return emit.binary<MulOp>(rest, inverse);
}

static void importLayerNormBackward(Node &node) {
  Emitter &emit = node.emit;
  Value gradient = node.tensor("grad_out"), x = node.tensor("input"), mean = node.tensor("mean"),
        inverse = node.tensor("rstd");
  node.ignore({"bias", "output_mask"});
  int64_t rank = typeOf(x).getRank(),
          axis = rank - int64_t(node.integers("normalized_shape").size());
  if (axis < 0)
    throw ImportError("expected at most as many normalised dimensions as " + describe(x) + " has");
  Shape inner = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(axis, rank)),
        outer = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, axis));
  Value normal = emit.binary<MulOp>(emit.binary<SubOp>(x, mean), inverse);
  Value weight = node.optionalTensor("weight");
  Value scaled = weight ? emit.binary<MulOp>(gradient, weight) : gradient;
  if (node.wants(0))
    node.result(0, normGradient(emit, scaled, normal, inverse, inner));
  if (node.wants(1))
    node.result(1,
                emit.reduce(ReduceKind::Sum, emit.binary<MulOp>(gradient, normal), outer, false));
  if (node.wants(2))
    node.result(2, emit.reduce(ReduceKind::Sum, gradient, outer, false));
}

static void importGroupNormBackward(Node &node) {
  Emitter &emit = node.emit;
  Value gradient = node.tensor("grad_out"), x = node.tensor("input"), mean = node.tensor("mean"),
        inverse = node.tensor("rstd"), weight = node.optionalTensor("weight");
  node.ignore({"N", "C", "HxW", "output_mask"});
  expectRank(x, 2);
  int64_t groups = node.integer("group"), batch = shapeOf(x)[0];
  if (groups < 1 || batch < 1 || shapeOf(x)[1] % groups != 0)
    throw ImportError(std::to_string(groups) + " groups do not divide the channels of " +
                      describe(x));
  Shape parts{batch, groups, typeOf(x).getNumElements() / (batch * groups)}, unit{batch, groups, 1};
  Value wide = emit.reshape(inverse, unit);
  Value centred = emit.binary<SubOp>(emit.reshape(x, parts), emit.reshape(mean, unit));
  Value normal = emit.binary<MulOp>(centred, wide);
  Value scaled = weight ? emit.binary<MulOp>(gradient, emitPerChannel(emit, weight, x)) : gradient;
  Shape others = allDimsBut(x, 1);
  if (node.wants(0)) {
    Value result = normGradient(emit, emit.reshape(scaled, parts), normal, wide, {2});
    node.result(0, emit.reshape(result, shapeOf(x)));
  }
  Value product = emit.binary<MulOp>(gradient, emit.reshape(normal, shapeOf(x)));
  if (node.wants(1))
    node.result(1, emit.reduce(ReduceKind::Sum, product, others, false));
  if (node.wants(2))
    node.result(2, emit.reduce(ReduceKind::Sum, gradient, others, false));
}

void weft::frontend::aten::addBackward(OpTable &table) {
  table["aten.embedding_dense_backward.default"] = importEmbeddingBackward;
  table["aten.native_group_norm_backward.default"] = importGroupNormBackward;
  table["aten.native_layer_norm_backward.default"] = importLayerNormBackward;
}
