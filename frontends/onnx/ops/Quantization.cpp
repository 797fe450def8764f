// Integers that stand for floats: q stands for (q - zero point) · scale. What is computed of them
// is computed in floats where those are exact, so that results are the same integers.

#include "frontends/onnx/Tensors.h"
#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Products of differences of bytes, below 2^16 each, of which as many have an exact sum in f32.
static constexpr int64_t exactTerms = 256;

static Type f32(Emitter &emit) { return emit.builder.getF32Type(); }

static IntegerType byteType(Type type, StringRef what) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || (integer.getWidth() != 8 && integer.getWidth() != 16))
    throw ImportError("expected integers of 8 or 16 bits as " + what.str());
  return integer;
}

/// A scale or zero point, of the whole tensor or of each element of one dimension, in x's shape.
static Value spread(Emitter &emit, Value value, Value x, int64_t dim) {
  Shape shape(typeOf(x).getRank(), 1);
  if (typeOf(value).getNumElements() != 1) {
    if (typeOf(value).getRank() != 1 || dim >= typeOf(x).getRank() ||
        shapeOf(value)[0] != shapeOf(x)[dim])
      throw ImportError(describe(value) + " is not one number for " + describe(x) +
                        ", nor one for each element of dimension " + std::to_string(dim));
    shape[dim] = shapeOf(value)[0];
  }
  return emit.broadcast(emit.reshape(value, shape), shapeOf(x));
}

/// x - zero point, as f32; the zero point may be null.
static Value centred(Emitter &emit, Value x, Value zero, int64_t dim) {
  Value number = emit.cast(x, f32(emit));
  if (!zero)
    return number;
  return emit.binary<SubOp>(number, spread(emit, emit.cast(zero, f32(emit)), x, dim));
}

/// Whole numbers as such of this type, those out of range as the nearest in it.
static Value saturate(Emitter &emit, Value x, IntegerType type) {
  double span = double(uint64_t(1) << type.getWidth());
  double least = type.isUnsigned() ? 0 : -span / 2;
  Value low = emit.binary<MaxOp>(x, emit.like(x, least));
  return emit.cast(emit.binary<MinOp>(low, emit.like(x, least + span - 1)), type);
}

/// x / scale, to the nearest whole number (even ones of two), and zero point.
static Value quantize(Emitter &emit, Value x, Value scale, Value zero, IntegerType type,
                      int64_t dim) {
  Value whole = emit.unary<RoundOp>(emit.binary<DivOp>(x, spread(emit, scale, x, dim)));
  if (zero)
    whole = emit.binary<AddOp>(whole, spread(emit, emit.cast(zero, elementOf(x)), x, dim));
  return saturate(emit, whole, type);
}

static int64_t readAxis(Node &node, Value x) {
  if (node.getInt("block_size", 0) != 0)
    throw ImportError("scales of blocks are not supported");
  node.ignore({"precision", "saturate"}); // of types that are refused
  int64_t rank = typeOf(x).getRank(), axis = node.getInt("axis", 1);
  // The default is no dimension of a vector, which has one scale then.
  return rank <= 1 && axis == 1 ? 0 : node.dim(axis, rank);
}

static void importQuantize(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), scale = node.operand(1), zero = node.optional(2);
  expectFloat(x);
  int64_t axis = readAxis(node, x), wanted = node.getInt("output_dtype", 0);
  Type type = wanted ? elementType(emit.builder.getContext(), wanted)
              : zero ? elementOf(zero)
                     : emit.builder.getIntegerType(8, /*isSigned=*/false);
  node.result(quantize(emit, x, emit.cast(scale, elementOf(x)), zero,
                       byteType(type, "quantised numbers"), axis));
}

static void importDequantize(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0), scale = node.operand(1);
  if (!isa<IntegerType>(elementOf(x)))
    throw ImportError("expected integers, got " + describe(x));
  int64_t axis = readAxis(node, x);
  Value number = emit.cast(centred(emit, x, node.optional(2), axis), elementOf(scale));
  node.result(emit.binary<MulOp>(number, spread(emit, scale, x, axis)));
}

/// Bytes whose range is that of x's elements and 0.
static void importDynamicQuantize(Node &node) {
  Emitter &emit = node.emit;
  Value x = node.operand(0);
  expectFloat(x);
  auto extreme = [&](ReduceKind kind) {
    Shape all = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, typeOf(x).getRank()));
    return emit.reduce(kind, x, all, /*keepDims=*/false);
  };
  Value least = extreme(ReduceKind::Min), most = extreme(ReduceKind::Max);
  Value zero = emit.like(least, 0);
  least = emit.binary<MinOp>(least, zero);
  most = emit.binary<MaxOp>(most, zero);
  Value scale = emit.binary<DivOp>(emit.binary<SubOp>(most, least), emit.like(most, 255));
  Value isNone = emit.compare(CompareDirection::EQ, scale, zero);
  scale = emit.select(isNone, emit.like(scale, 1), scale);
  IntegerType type = emit.builder.getIntegerType(8, /*isSigned=*/false);
  Value zeroPoint = emit.unary<RoundOp>(emit.binary<DivOp>(emit.unary<NegOp>(least), scale));
  Value byte = saturate(emit, zeroPoint, type);
  node.result(0, quantize(emit, x, scale, byte, type, 0));
  for (auto [index, value] : {std::pair(1, scale), std::pair(2, byte)})
    if (node.wants(index)) {
      node.beginResult(index);
      node.result(index, value);
    }
}

/// The exact product of two matrices of whole numbers: sums that f32 holds, added as i32.
static Value exactProduct(Emitter &emit, Value lhs, Value rhs) {
  expectRank(lhs, 2);
  expectRank(rhs, 2);
  int64_t inner = typeOf(lhs).getRank() - 1, outer = typeOf(rhs).getRank() - 2;
  int64_t terms = shapeOf(lhs)[inner];
  if (terms == 0 || shapeOf(rhs)[outer] != terms)
    throw ImportError("cannot multiply " + describe(lhs) + " and " + describe(rhs));
  Value sum;
  for (int64_t start = 0; start < terms; start += exactTerms) {
    int64_t count = std::min(exactTerms, terms - start);
    Value part = emitMatMul(emit, emit.sliceDim(lhs, inner, start, count),
                            emit.sliceDim(rhs, outer, start, count));
    part = emit.cast(part, emit.builder.getI32Type());
    sum = sum ? emit.binary<AddOp>(sum, part) : part;
  }
  return sum;
}

static void checkFactors(Value a, Value b) {
  for (Value factor : {a, b})
    if (byteType(elementOf(factor), "factors").getWidth() != 8)
      throw ImportError("products of integers of 16 bits are not supported");
}

/// Rows of the left operand and columns of the right one may have zero points of their own.
static Value integerProduct(Node &node, size_t lhs, size_t lhsZero, size_t rhs, size_t rhsZero) {
  Value a = node.operand(lhs), b = node.operand(rhs);
  checkFactors(a, b);
  expectRank(a, 2);
  expectRank(b, 2);
  Value left = centred(node.emit, a, node.optional(lhsZero), typeOf(a).getRank() - 2);
  Value right = centred(node.emit, b, node.optional(rhsZero), typeOf(b).getRank() - 1);
  return exactProduct(node.emit, left, right);
}

/// The exact convolution of whole numbers; the input's channels in parts where all would be too
/// many terms, in f64 where groups have too many.
static Value exactConv(Emitter &emit, Value x, Value kernel, const Windows &windows,
                       int64_t groups) {
  Type sums = emit.builder.getI32Type();
  int64_t channels = shapeOf(kernel)[1], window = 1;
  for (int64_t size : shapeOf(kernel).drop_front(2))
    window *= size;
  if (channels * window <= exactTerms)
    return emit.cast(emitConv(emit, x, kernel, windows, groups), sums);
  if (groups != 1 || window > exactTerms) {
    Type f64 = emit.builder.getF64Type();
    return emit.cast(emitConv(emit, emit.cast(x, f64), emit.cast(kernel, f64), windows, groups),
                     sums);
  }
  int64_t each = exactTerms / window;
  Value sum;
  for (int64_t start = 0; start < channels; start += each) {
    int64_t count = std::min(each, channels - start);
    Value part = emitConv(emit, emit.sliceDim(x, 1, start, count),
                          emit.sliceDim(kernel, 1, start, count), windows, 1);
    part = emit.cast(part, sums);
    sum = sum ? emit.binary<AddOp>(sum, part) : part;
  }
  return sum;
}

static Value integerConv(Node &node, size_t x, size_t zero, size_t kernel, size_t kernelZero) {
  Value a = node.operand(x), b = node.operand(kernel);
  checkFactors(a, b);
  Value image = centred(node.emit, a, node.optional(zero), 1);
  Value weights = centred(node.emit, b, node.optional(kernelZero), 0);
  Windows windows = readConv(node, image, weights);
  int64_t groups = node.getInt("group", 1);
  if (groups < 1 || shapeOf(image)[1] != groups * shapeOf(weights)[1])
    throw ImportError("cannot convolve " + describe(a) + " with " + describe(b) + " in " +
                      std::to_string(groups) + " groups");
  return exactConv(node.emit, image, weights, windows, groups);
}

static void importConvInteger(Node &node) { node.result(integerConv(node, 0, 2, 1, 3)); }

/// The sums as what stands for floats: sums · scales, quantised anew.
static void giveQuantised(Node &node, Value sums, int64_t firstDim, int64_t secondDim,
                          size_t secondScale, size_t scale) {
  Emitter &emit = node.emit;
  sums = emit.cast(sums, f32(emit));
  auto spreadScale = [&](size_t index, int64_t dim) {
    return spread(emit, emit.cast(node.operand(index), f32(emit)), sums, dim);
  };
  Value factor = emit.binary<MulOp>(spreadScale(1, firstDim), spreadScale(secondScale, secondDim));
  Value zero = node.operand(scale + 1);
  node.result(quantize(emit, emit.binary<MulOp>(sums, factor),
                       emit.cast(node.operand(scale), f32(emit)), zero,
                       byteType(elementOf(zero), "quantised numbers"), firstDim));
}

static void importQLinearConv(Node &node) {
  Value sums = integerConv(node, 0, 2, 3, 5);
  if (Value bias = node.optional(8))
    sums = node.emit.binary<AddOp>(sums, node.emit.broadcastDims(bias, shapeOf(sums), {1}));
  giveQuantised(node, sums, 1, 1, 4, 6);
}

static void importMatMulInteger(Node &node) { node.result(integerProduct(node, 0, 2, 1, 3)); }

/// The product of what stands for floats, as what stands for floats.
static void importQLinearMatMul(Node &node) {
  Value sums = integerProduct(node, 0, 2, 3, 5);
  int64_t rank = typeOf(sums).getRank();
  giveQuantised(node, sums, rank - 2, rank - 1, 4, 6);
}

void weft::frontend::addQuantization(OpTable &table) {
  table["ConvInteger"] = importConvInteger;
  table["DequantizeLinear"] = importDequantize;
  table["DynamicQuantizeLinear"] = importDynamicQuantize;
  table["MatMulInteger"] = importMatMulInteger;
  table["QLinearConv"] = importQLinearConv;
  table["QLinearMatMul"] = importQLinearMatMul;
  table["QuantizeLinear"] = importQuantize;
}
