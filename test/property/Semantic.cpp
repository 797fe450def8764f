// Products, attention and normalisations of random models, alone and in the blocks that
// transformers are made of.
#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/Windows.h"
#include "test/property/Generator.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;
using namespace weft::property;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Node Generator::linear(const Node &node, int64_t width) {
  int64_t depth = node.shape().back();
  double bound = 1 / std::sqrt(double(depth));
  Node weight = addWeight(f32({depth, width}), -bound, bound);
  Node product = dot(node, weight, {}, {}, {node.rank() - 1}, {0});
  if (random.oneIn(2))
    return product;
  Node bias = addWeight(f32({width}), -1, 1);
  return apply("add", {product, broadcastTo(bias, product.type(), {product.rank() - 1})});
}

bool Generator::dotGeneral() {
  Node lhs = pick(1);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, lhs.rank()));
  random.shuffle(order);
  int64_t batch = lhs.rank() > 1 ? random.below(2) : 0;
  int64_t contract = random.between(0, std::min<int64_t>(lhs.rank() - batch, 2));
  SmallVector<int64_t> lhsBatch(order.begin(), order.begin() + batch);
  SmallVector<int64_t> lhsContract(order.begin() + batch, order.begin() + batch + contract);
  // The right operand's dimensions: those shared with the left, and some of its own, in any order.
  SmallVector<int64_t> shared(lhsBatch);
  llvm::append_range(shared, lhsContract);
  int64_t rank = shared.size() + random.between(0, 2);
  SmallVector<int64_t> places = llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                       shape = randomShape(rank);
  random.shuffle(places);
  for (auto [i, dim] : llvm::enumerate(shared))
    shape[places[i]] = lhs.shape()[dim];
  SmallVector<int64_t> rhsBatch(places.begin(), places.begin() + batch);
  SmallVector<int64_t> rhsContract(places.begin() + batch, places.begin() + batch + contract);
  Node rhs = leaf(f32(shape), -1, 1);
  if (rhs.tensor.size() * lhs.tensor.size() > (1 << 20))
    return false;
  return bool(dot(lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract));
}

bool Generator::conv() {
  int64_t groups = random.pick<int64_t>({1, 1, 1, 2}), spatial = random.between(1, 2);
  int64_t channels = groups * random.pick<int64_t>({1, 2, 3}),
          outputs = groups * random.pick<int64_t>({2, 4, 6});
  SmallVector<int64_t> in{random.pick<int64_t>({1, 2, 4}), channels},
      kernel{outputs, channels / groups};
  SmallVector<int64_t> out{in[0], outputs}, strides, low, high, dilations, spread;
  bool isTransposed = random.oneIn(3);
  for (int64_t dim = 0; dim < spatial; ++dim) {
    in.push_back(random.pick<int64_t>({4, 6, 8}));
    kernel.push_back(random.between(1, 3));
    dilations.push_back(kernel.back() > 1 && in.back() > 4 ? random.between(1, 2) : 1);
    strides.push_back(random.between(1, 2));
    low.push_back(isTransposed ? random.between(-1, 2) : random.below(2));
    high.push_back(isTransposed ? random.between(-1, 2) : random.below(2));
    spread.push_back(isTransposed ? random.between(1, 3) : 1);
    WindowDim windows{in.back(),  kernel.back(), strides.back(), dilations.back(),
                      low.back(), high.back(),   spread.back()};
    if (windows.positions() == 0)
      return false;
    out.push_back(windows.positions());
  }
  Node input = leaf(f32(in), -2, 2), window = addWeight(f32(kernel), -1, 1);
  return bool(take(
      ConvOp::create(builder, location(), f32(out), input.value, window.value, strides, low, high,
                     dilations, groups,
                     isTransposed ? builder.getDenseI64ArrayAttr(spread) : DenseI64ArrayAttr()),
      false));
}

bool Generator::feedForward() {
  Node node = pickRank(random.between(2, 3));
  if (node.shape().back() < 2)
    return false;
  Node up = linear(node, random.pick<int64_t>({8, 12, 16, 24}));
  Node active =
      take(GeluOp::create(builder, location(), up.type(), up.value, GeluForm::Tanh), false);
  if (random.oneIn(3)) { // gated
    Node gate = apply("sigmoid", {linear(node, up.shape().back())});
    active = apply("mul", {active, gate});
  }
  Node down = linear(active, node.shape().back());
  return bool(apply("add", {down, node}));
}

bool Generator::embedding() {
  int64_t vocabulary = random.pick<int64_t>({8, 12, 16, 24}), width = random.pick<int64_t>({4, 8});
  Node table = addWeight(f32({vocabulary, width}), -1, 1);
  Node ids =
      leafOf(randomTensor(i64({random.pick<int64_t>({2, 4}), random.pick<int64_t>({3, 4, 8})}),
                          -vocabulary, vocabulary - 1));
  Node rows = take(GatherOp::create(builder, location(), table.value, ids.value, 0), true);
  if (random.oneIn(2)) // the tied head
    return bool(dot(rows, table, {}, {}, {2}, {1}));
  return bool(linear(rows, random.pick<int64_t>({8, 12})));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Some biases hide keys.
Tensor Generator::randomBias(RankedTensorType type) {
  std::vector<double> numbers = numbersOf<double>(randomTensor(type, -2, 2));
  if (random.oneIn(3))
    for (double &number : numbers)
      if (random.oneIn(4))
        number = -std::numeric_limits<double>::infinity();
  return tensorOf(type, numbers);
}

Node Generator::attend(const Heads &heads) {
  int64_t b = heads.query.shape()[0], h = heads.query.shape()[1], s = heads.query.shape()[2];
  int64_t t = heads.key.shape()[2];
  SmallVector<int64_t> shape(heads.query.shape());
  shape[3] = heads.value.shape()[3];
  auto some = [&](int64_t size) { return random.oneIn(2) ? size : 1; };
  Value mask, bias;
  if (random.oneIn(3))
    mask = leafOf(randomTensor(i1({some(b), some(h), some(s), t}), 0, 1)).value;
  if (random.oneIn(3))
    bias = leafOf(randomBias(f32({some(b), some(h), some(s), some(t)}))).value;
  auto causal = random.oneIn(2) ? builder.getUnitAttr() : UnitAttr();
  auto offset = builder.getI64IntegerAttr(random.oneIn(4) ? random.between(-1, 3) : 0);
  auto window = random.oneIn(4) ? builder.getI64IntegerAttr(random.between(1, t)) : IntegerAttr();
  auto softcap = random.oneIn(4) ? builder.getF64FloatAttr(1.5) : FloatAttr();
  // Where a row that sees nothing gives NaN, which would hide what follows, `take` refuses.
  auto masked = MaskedRowsAttr::get(&context, MaskedRows(random.below(3)));
  Type lse = random.oneIn(4) ? f32(ArrayRef(shape).drop_back()) : RankedTensorType();
  auto attention = AttentionOp::create(
      builder, location(), f32(shape), lse, heads.query.value, heads.key.value, heads.value.value,
      mask, bias, builder.getF64FloatAttr(0.5), causal, offset, window, softcap, masked);
  return take(attention, false);
}

bool Generator::attention() {
  int64_t b = random.pick<int64_t>({1, 2, 4}), g = random.pick<int64_t>({1, 2, 4}),
          r = random.pick<int64_t>({1, 1, 2});
  int64_t s = random.pick<int64_t>({2, 4, 6}), t = random.pick<int64_t>({3, 4, 8}),
          d = random.pick<int64_t>({2, 4});
  Heads heads{leaf(f32({b, g * r, s, d}), -2, 2), leaf(f32({b, g, t, d}), -2, 2),
              leaf(f32({b, g, t, random.pick<int64_t>({2, 4, 6})}), -2, 2)};
  return bool(attend(heads));
}

Generator::Heads Generator::splitFused(const Node &input, int64_t heads, int64_t depth) {
  int64_t b = input.shape()[0], s = input.shape()[1];
  bool threeFirst = random.oneIn(2); // (3, h, d) or (h, 3, d)
  Node fused = linear(input, 3 * heads * depth);
  Heads result;
  Node *parts[] = {&result.query, &result.key, &result.value};
  if (threeFirst && random.oneIn(2)) { // a Split of the last dimension
    for (int64_t i = 0; i < 3; ++i) {
      Node part = slice(fused, {0, 0, i * heads * depth}, {b, s, heads * depth});
      *parts[i] = transpose(reshape(part, {b, s, heads, depth}), {0, 2, 1, 3});
    }
    return result;
  }
  SmallVector<int64_t> shape{b, s, threeFirst ? 3 : heads, threeFirst ? heads : 3, depth};
  Node split = reshape(fused, shape);
  int64_t three = threeFirst ? 2 : 3;
  shape[three] = 1;
  for (int64_t i = 0; i < 3; ++i) {
    SmallVector<int64_t> starts(5, 0);
    starts[three] = i;
    Node part = reshape(slice(split, starts, shape), {b, s, heads, depth});
    *parts[i] = transpose(part, {0, 2, 1, 3});
  }
  return result;
}

Generator::Heads Generator::separate(const Node &input, int64_t heads, int64_t groups,
                                     int64_t depth) {
  int64_t b = input.shape()[0], s = input.shape()[1];
  auto project = [&](int64_t count) {
    return transpose(reshape(linear(input, count * depth), {b, s, count, depth}), {0, 2, 1, 3});
  };
  Heads result{project(heads), project(groups), project(groups)};
  if (random.oneIn(2)) {
    result.query = rotated(result.query);
    result.key = rotated(result.key);
  }
  return result;
}

bool Generator::attentionBlock() {
  Node input = pickRank(3);
  if (input.tensor.size() > 1024 || input.shape()[2] < 2)
    return false;
  int64_t groups = random.pick<int64_t>({1, 2, 2, 4}),
          heads = groups * random.pick<int64_t>({1, 2});
  int64_t depth = random.pick<int64_t>({2, 4});
  Node normal = take(
      RmsNormOp::create(builder, location(), input.type(), input.value, Value(), 2, APFloat(1e-2)),
      false);
  Node result = attend(random.oneIn(2) ? splitFused(normal, heads, depth)
                                       : separate(normal, heads, groups, depth));
  if (!result)
    return false;
  Node merged =
      reshape(transpose(result, {0, 2, 1, 3}), {input.shape()[0], input.shape()[1], heads * depth});
  return bool(apply("add", {linear(merged, input.shape()[2]), input}));
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

bool Generator::norm() {
  Node node = pick(1);
  int64_t axis = random.oneIn(3) ? random.below(node.rank()) : node.rank() - 1;
  auto part = [&] {
    return random.oneIn(3) ? Value() : leaf(f32(node.shape().drop_front(axis)), -2, 2).value;
  };
  if (random.oneIn(2))
    return bool(take(RmsNormOp::create(builder, location(), node.type(), node.value, part(), axis,
                                       APFloat(1e-2)),
                     false));
  return bool(take(LayerNormOp::create(builder, location(), node.type(), node.value, part(), part(),
                                       axis, APFloat(1e-2)),
                   false));
}

Node Generator::rotated(const Node &node) {
  int64_t pairs = random.between(1, node.shape()[3] / 2);
  Tensor angles =
      randomTensor(f32({random.oneIn(2) ? 1 : node.shape()[0], node.shape()[2], pairs}), -3, 3);
  std::vector<double> cosines = numbersOf<double>(angles), sines = cosines;
  for (auto [c, s] : llvm::zip_equal(cosines, sines)) {
    s = std::sin(c);
    c = std::cos(c);
  }
  Node cos = leafOf(tensorOf(angles.type(), cosines)), sin = leafOf(tensorOf(angles.type(), sines));
  auto interleaved = random.oneIn(2) ? builder.getUnitAttr() : UnitAttr();
  return take(RotaryOp::create(builder, location(), node.type(), node.value, cos.value, sin.value,
                               interleaved),
              false);
}

bool Generator::rotary() {
  Node node = leaf(f32({random.pick<int64_t>({1, 2, 4}), random.pick<int64_t>({1, 2, 4}),
                        random.pick<int64_t>({3, 4}), random.pick<int64_t>({2, 4, 6})}),
                   -2, 2);
  return bool(rotated(node));
}

bool Generator::softmax() {
  Node node = pick(1);
  return bool(take(
      SoftmaxOp::create(builder, location(), node.type(), node.value, random.below(node.rank())),
      false));
}

//===----------------------------------------------------------------------===//
// All steps
//===----------------------------------------------------------------------===//

ArrayRef<Generator::WeightedStep> Generator::steps() {
  static constexpr WeightedStep all[] = {{&Generator::arithmetic, 3},
                                         {&Generator::attention, 2},
                                         {&Generator::attentionBlock, 3},
                                         {&Generator::bits, 8},
                                         {&Generator::broadcast, 1},
                                         {&Generator::castStep, 2},
                                         {&Generator::classify, 3},
                                         {&Generator::compareOrSelect, 2},
                                         {&Generator::concat, 2},
                                         {&Generator::conv, 1},
                                         {&Generator::cumsum, 2},
                                         {&Generator::dotGeneral, 2},
                                         {&Generator::embedding, 1},
                                         {&Generator::feedForward, 3},
                                         {&Generator::gather, 1},
                                         {&Generator::gatherElements, 2},
                                         {&Generator::gatherNd, 2},
                                         {&Generator::gelu, 1},
                                         {&Generator::integerArithmetic, 3},
                                         {&Generator::iota, 2},
                                         {&Generator::jump, 8},
                                         {&Generator::norm, 4},
                                         {&Generator::otherType, 2},
                                         {&Generator::pad, 2},
                                         {&Generator::positiveArgument, 8},
                                         {&Generator::reduce, 2},
                                         {&Generator::reduceWindow, 2},
                                         {&Generator::reshapeStep, 2},
                                         {&Generator::reverse, 2},
                                         {&Generator::rotary, 1},
                                         {&Generator::scatterElements, 3},
                                         {&Generator::scatterNd, 2},
                                         {&Generator::sliceStep, 2},
                                         {&Generator::smooth, 7},
                                         {&Generator::softmax, 2},
                                         {&Generator::sort, 2},
                                         {&Generator::transposeStep, 2},
                                         {&Generator::unitArgument, 6}};
  return all;
}
