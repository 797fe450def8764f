//===- Generator.h - random small models ------------------------*- C++ -*-===//
//
// Makes a model of weft operations from a seed. Every operation is evaluated as it is made, so that
// the generator knows its values: results that are not finite are thrown away, large ones are
// scaled down, and the model's outputs are known without running it again.
//
// A value is `exact` if splitting the work can not change its bits: inputs, weights, and what moves
// or selects their elements. Operations with jumps (floor, compare, indices) take exact values
// only; otherwise a rounding error of one ulp could change a result by one.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_PROPERTY_GENERATOR_H
#define WEFT_TEST_PROPERTY_GENERATOR_H

#include "compiler/Interpret/Interpret.h"
#include "test/property/Random.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <string>

namespace weft::property {

/// A value of the model that is being made.
struct Node {
  mlir::Value value;
  Tensor tensor;
  bool exact = true;

  mlir::RankedTensorType type() const { return tensor.type(); }
  llvm::ArrayRef<int64_t> shape() const { return tensor.shape(); }
  int64_t rank() const { return tensor.rank(); }
  explicit operator bool() const { return bool(value); }
};

/// A model and what it computes.
struct Model {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<Tensor> inputs, outputs;
  std::map<std::string, Tensor> weights; ///< by symbol, those that lie in the file
  std::vector<char> file;                ///< the bytes of all weights, at their offsets
  std::vector<mlir::Value> values;       ///< that can be pinned
  std::map<std::string, int> operations; ///< how often each occurs
};

class Generator {
public:
  /// `weightsPath` is what the weights' storage names as their file.
  Generator(mlir::MLIRContext &context, uint64_t seed, llvm::StringRef weightsPath);

  /// Makes a model of about `steps` operations (some bring others along).
  Model generate(int steps);

private:
  using Step = bool (Generator::*)();
  struct WeightedStep {
    Step step;
    int weight; ///< how often it is chosen beside the others
  };
  static llvm::ArrayRef<WeightedStep> steps();

  // Building blocks (Generator.cpp).
  mlir::Location location();
  mlir::RankedTensorType f32(llvm::ArrayRef<int64_t> shape);
  mlir::RankedTensorType i64(llvm::ArrayRef<int64_t> shape);
  mlir::RankedTensorType i1(llvm::ArrayRef<int64_t> shape);
  Tensor randomTensor(mlir::RankedTensorType type, double low, double high);
  Node addInput(const Tensor &tensor);
  Node addWeight(const Tensor &tensor, bool computed = false);
  Node addWeight(mlir::RankedTensorType type, double low, double high) {
    return addWeight(randomTensor(type, low, high));
  }
  Node addConstant(Tensor tensor);
  Node splat(mlir::RankedTensorType type, double number);
  /// A leaf of that value: an input, a weight, or a constant.
  Node leafOf(const Tensor &tensor);
  Node leaf(mlir::RankedTensorType type, double low, double high) {
    return leafOf(randomTensor(type, low, high));
  }
  /// Takes up a new operation: checks it, computes it, tames it. Null where its value is of no use
  /// (it is then erased).
  Node take(mlir::Operation *op, bool exact);
  /// A new elementwise operation by name, its result of the first operand's type.
  Node apply(llvm::StringRef name, llvm::ArrayRef<Node> operands, bool keepsExact = false);
  Node scaledDown(Node node);
  /// One of several operations of a family, all equally often over consecutive seeds.
  const char *inTurn(llvm::ArrayRef<const char *> names) { return names[turn++ % names.size()]; }
  int64_t extent();
  llvm::SmallVector<int64_t> randomShape(int64_t rank);
  /// A float value of the model of at least this rank and at most 4096 elements.
  Node pick(int64_t leastRank = 0, bool exact = false);
  /// A float value of exactly this rank, by a reshape if need be.
  Node pickRank(int64_t rank);
  /// An integer value.
  Node pickInteger();
  /// A second operand of the node's type: another value, a weight, or a broadcast of one.
  Node partner(const Node &node);
  Node broadcastTo(const Node &node, mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dims);
  Node reshape(const Node &node, llvm::ArrayRef<int64_t> shape);
  Node transpose(const Node &node, llvm::ArrayRef<int64_t> order);
  Node slice(const Node &node, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> shape);
  Node cast(const Node &node, mlir::Type element);
  Node dot(const Node &lhs, const Node &rhs, llvm::ArrayRef<int64_t> lhsBatch,
           llvm::ArrayRef<int64_t> rhsBatch, llvm::ArrayRef<int64_t> lhsContract,
           llvm::ArrayRef<int64_t> rhsContract);
  /// A value times a new weight matrix, over the last dimension.
  Node linear(const Node &node, int64_t width);
  Node positive(const Node &node);
  Node unitRange(const Node &node);
  /// Indices in [0, extent), some counted from the end.
  Node indices(llvm::ArrayRef<int64_t> shape, int64_t extent);
  Node condition(llvm::ArrayRef<int64_t> shape);

  // Steps by family (Elementwise.cpp, Structural.cpp, Semantic.cpp): false where nothing came of
  // it.
  bool smooth();
  bool positiveArgument();
  bool unitArgument();
  bool jump();
  bool arithmetic();
  bool integerArithmetic();
  bool bits();
  bool compareOrSelect();
  bool castStep();
  bool classify();
  bool gelu();

  bool broadcast();
  bool concat();
  bool cumsum();
  bool gather();
  bool gatherElements();
  bool gatherNd();
  bool iota();
  bool otherType();
  bool pad();
  bool reduce();
  bool reduceWindow();
  bool reshapeStep();
  bool reverse();
  bool scatterElements();
  bool scatterNd();
  bool sliceStep();
  bool sort();
  bool transposeStep();

  bool attention();
  bool attentionBlock();
  bool conv();
  bool dotGeneral();
  bool feedForward();
  bool norm();
  bool rotary();
  Node rotated(const Node &node);
  bool softmax();
  bool embedding();

  // Parts of attention blocks.
  struct Heads {
    Node query, key, value;
  };
  Heads splitFused(const Node &input, int64_t heads, int64_t depth);
  Heads separate(const Node &input, int64_t heads, int64_t groups, int64_t depth);
  Node attend(const Heads &heads);
  Tensor randomBias(mlir::RankedTensorType type);

  Node scatterTarget();

  void finish(Model &model);

  mlir::MLIRContext &context;
  Random random;
  std::string weightsPath;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  llvm::SmallVector<Node> pool;
  llvm::SmallVector<Tensor> inputs;
  llvm::DenseMap<mlir::Value, Node> known;
  Model model;
  int names = 0;
  uint64_t turn; ///< counts up from the seed
};

} // namespace weft::property

#endif // WEFT_TEST_PROPERTY_GENERATOR_H
