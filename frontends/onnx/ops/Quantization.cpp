// Integers that stand for floats: q stands for (q - zero point) · scale. What is computed of them
// is computed in floats where those are exact, so that results are the same integers.

#include "frontends/onnx/Tensors.h"
#include "frontends/onnx/ops/OpTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

/// Products of differences of bytes, below 2^16 each, of which as many have an exact sum in f32.
static constexpr int64_t exactTerms = 256;
/// Such sums of one result: each costs several operations.
static constexpr int64_t mostSums = 1 << 12;

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
  whole = emit.cast(whole, f32(emit));
  if (zero)
    whole = emit.binary<AddOp>(whole, spread(emit, emit.cast(zero, f32(emit)), x, dim));
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

/// Throws ImportError where `elements` of a window, of `terms` each, take too many sums.
static void checkSums(int64_t elements, int64_t terms) {
  if (llvm::SaturatingMultiply<uint64_t>(elements, llvm::divideCeil(terms, exactTerms)) > mostSums)
    throw ImportError("products of " + std::to_string(elements) + " x " + std::to_string(terms) +
                      " terms of integers are more than are added up");
}

/// The exact product of differences of bytes over these dimensions: sums that f32 holds, added as
/// i32.
static Value exactProduct(Emitter &emit, Value lhs, int64_t left, Value rhs, int64_t right,
                          llvm::function_ref<Value(Value lhs, Value rhs)> multiply) {
  int64_t terms = shapeOf(lhs)[left];
  if (terms == 0 || shapeOf(rhs)[right] != terms)
    throw ImportError("cannot multiply " + describe(lhs) + " and " + describe(rhs));
  checkSums(1, terms);
  Value sum;
  for (int64_t start = 0; start < terms; start += exactTerms) {
    int64_t count = std::min(exactTerms, terms - start);
    Value part =
        multiply(emit.sliceDim(lhs, left, start, count), emit.sliceDim(rhs, right, start, count));
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
  return exactProduct(node.emit, left, typeOf(a).getRank() - 1, right, typeOf(b).getRank() - 2,
                      [&](Value lhs, Value rhs) { return emitMatMul(node.emit, lhs, rhs); });
}

/// How many results windows have along the dimensions of an image.
static Shape countResults(ArrayRef<int64_t> image, ArrayRef<int64_t> window,
                          const Windows &windows) {
  Shape counts;
  for (size_t i = 0; i < image.size(); ++i) {
    int64_t reach = windows.dilations[i] * (window[i] - 1) + 1;
    int64_t room = image[i] + windows.low[i] + windows.high[i] - reach;
    if (room < 0)
      throw ImportError("a kernel " + describe(window) + " is larger than " + describe(image) +
                        " with its borders");
    counts.push_back(room / windows.strides[i] + 1);
  }
  return counts;
}

namespace {
/// A convolution of whole numbers: a product for each element of the kernel's window, as faster
/// ways to convolve round.
class ExactConv {
public:
  ExactConv(Emitter &emit, Value x, Value kernel, const Windows &windows, int64_t groups);
  /// [n, channels, …]
  Value sum();

private:
  /// What an element of the window makes: [groups, n, …, channels of a group].
  Value productAt(ArrayRef<int64_t> offset);

  Emitter &emit;
  Value x;      ///< [n, groups, channels, …], with its borders
  Value kernel; ///< [groups, channels of the result, channels, …]
  const Windows &windows;
  Shape counts;
};
} // namespace

ExactConv::ExactConv(Emitter &emit, Value image, Value weights, const Windows &windows,
                     int64_t groups)
    : emit(emit), windows(windows) {
  ArrayRef<int64_t> s = shapeOf(image), k = shapeOf(weights);
  counts = countResults(s.drop_front(2), k.drop_front(2), windows);
  Shape low{0, 0}, high{0, 0}, grouped{groups, k[0] / groups, k[1]};
  llvm::append_range(low, windows.low);
  llvm::append_range(high, windows.high);
  Value padded = emit.pad(image, emit.splat(tensorType({}, elementOf(image)), 0), low, high);
  Shape apart{s[0], groups, k[1]};
  llvm::append_range(apart, shapeOf(padded).drop_front(2));
  x = emit.reshape(padded, apart);
  llvm::append_range(grouped, k.drop_front(2));
  kernel = emit.reshape(weights, grouped);
}

Value ExactConv::productAt(ArrayRef<int64_t> offset) {
  Shape starts(3, 0), sizes(shapeOf(x).take_front(3)), strides(3, 1);
  Shape weightSizes(shapeOf(kernel).take_front(3)), weightStarts(3, 0);
  for (size_t i = 0; i < offset.size(); ++i) {
    starts.push_back(offset[i] * windows.dilations[i]);
    sizes.push_back(counts[i]);
    strides.push_back(windows.strides[i]);
    weightStarts.push_back(offset[i]);
    weightSizes.push_back(1);
  }
  Value seen = emit.slice(x, starts, sizes, strides);
  Value weights = emit.slice(kernel, weightStarts, weightSizes, Shape(weightSizes.size(), 1));
  weights = emit.reshape(weights, shapeOf(weights).take_front(3));
  return exactProduct(emit, seen, 2, weights, 2, [&](Value lhs, Value rhs) {
    return emit.dot(lhs, rhs, {{1}, {0}, {2}, {2}});
  });
}

Value ExactConv::sum() {
  ArrayRef<int64_t> window = shapeOf(kernel).drop_front(3);
  int64_t elements = 1;
  for (int64_t size : window)
    if ((elements *= size) > mostSums || size == 0)
      throw ImportError("a kernel " + describe(window) + " has no elements, or too many");
  checkSums(elements, shapeOf(kernel)[2]);
  Value sum;
  Shape offset(window.size(), 0);
  for (int64_t left = elements; left > 0; --left) {
    Value part = productAt(offset);
    sum = sum ? emit.binary<AddOp>(sum, part) : part;
    for (int64_t dim = offset.size() - 1; dim >= 0 && ++offset[dim] == window[dim]; --dim)
      offset[dim] = 0;
  }
  // [groups, n, …, channels] to [n, groups, channels, …]
  int64_t rank = typeOf(sum).getRank();
  Shape order{1, 0, rank - 1}, result{shapeOf(sum)[1], shapeOf(sum)[0] * shapeOf(sum)[rank - 1]};
  for (int64_t dim = 2; dim < rank - 1; ++dim)
    order.push_back(dim);
  llvm::append_range(result, counts);
  return emit.reshape(emit.transpose(sum, order), result);
}

static Value integerConv(Node &node, size_t x, size_t zero, size_t kernel, size_t kernelZero) {
  Value a = node.operand(x), b = node.operand(kernel);
  checkFactors(a, b);
  Value image = centred(node.emit, a, node.optional(zero), 1);
  Value weights = centred(node.emit, b, node.optional(kernelZero), 0);
  Windows windows = readConv(node, image, weights);
  int64_t groups = node.getInt("group", 1);
  if (groups < 1 || shapeOf(weights)[0] % groups != 0 ||
      shapeOf(image)[1] != groups * shapeOf(weights)[1])
    throw ImportError("cannot convolve " + describe(a) + " with " + describe(b) + " in " +
                      std::to_string(groups) + " groups");
  return ExactConv(node.emit, image, weights, windows, groups).sum();
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
