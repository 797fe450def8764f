//===- Emitter.h - builds weft operations, folding on the way ---*- C++ -*-===//
//
// Every operation that a frontend builds goes through here. Where all its operands are constants,
// it is evaluated at once and becomes a constant itself, so that shape arithmetic, masks and tables
// vanish as they are imported. Values of constants are kept aside while importing (the IR holds a
// placeholder); `materialize` puts those still in use into the module: small ones as weft.constant,
// large ones as weft.weight.
//
// Broadcasting follows numpy: shapes are aligned at their last dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_EMITTER_H
#define WEFT_FRONTENDS_COMMON_EMITTER_H

#include "compiler/Interpret/Tensor.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "frontends/common/Types.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <unordered_map>

namespace weft::frontend {

/// The shape to which all of these broadcast. Throws ImportError where they do not.
Shape broadcastShape(llvm::ArrayRef<mlir::Value> values);

class Emitter {
public:
  explicit Emitter(mlir::OpBuilder builder) : builder(builder) {}

  /// Operations built from here on belong to the source value of this name: that value itself gets
  /// the name (see `nameResult`), the others on the way to it `name/mnemonic`.
  void setName(llvm::StringRef name) { source = name.str(); }
  const std::string &name() const { return source; }
  void nameResult(mlir::Value value, llvm::StringRef name);

  /// Builds an operation of one result.
  template <typename Op, typename... Args>
  mlir::Value create(mlir::RankedTensorType type, Args &&...args) {
    checkResult(type);
    return finish(Op::create(builder, location(Op::getOperationName()), type,
                             std::forward<Args>(args)...))
        .front();
  }
  /// A binary elementwise operation, operands broadcast to one shape.
  template <typename Op> mlir::Value binary(mlir::Value lhs, mlir::Value rhs) {
    std::tie(lhs, rhs) = together(lhs, rhs);
    return create<Op>(typeOf(lhs), lhs, rhs);
  }
  /// A unary elementwise operation that keeps the type.
  template <typename Op> mlir::Value unary(mlir::Value input) {
    return create<Op>(typeOf(input), input);
  }

  // Constants.
  mlir::Value constant(Tensor value, mlir::Attribute external = {});
  /// All elements `number`.
  mlir::Value splat(mlir::RankedTensorType type, double number);
  /// A splat of the type of `like`.
  mlir::Value like(mlir::Value like, double number) { return splat(typeOf(like), number); }
  mlir::Value integers(llvm::ArrayRef<int64_t> numbers);
  /// Whether the value is a constant.
  bool isKnown(mlir::Value value) const {
    return value.getDefiningOp() && constants.contains(value.getDefiningOp());
  }
  /// The value of a constant, or null.
  const Tensor *valueOf(mlir::Value value) const;

  // Shapes.
  mlir::Value broadcast(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  /// Operand dimension i becomes dimension `dims[i]`.
  mlir::Value broadcastDims(mlir::Value input, llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<int64_t> dims);
  std::pair<mlir::Value, mlir::Value> together(mlir::Value lhs, mlir::Value rhs);
  mlir::Value reshape(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value input, llvm::ArrayRef<int64_t> permutation);
  /// `sizes[i]` elements from `starts[i]`, `strides[i]` apart.
  mlir::Value slice(mlir::Value input, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
  /// `size` elements of one dimension from `start` on.
  mlir::Value sliceDim(mlir::Value input, int64_t dim, int64_t start, int64_t size);
  mlir::Value reverse(mlir::Value input, llvm::ArrayRef<int64_t> dims);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> inputs, int64_t axis);
  mlir::Value pad(mlir::Value input, mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high);

  // Elements.
  mlir::Value cast(mlir::Value input, mlir::Type element);
  mlir::Value compare(CompareDirection direction, mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse);
  /// Positions along `dim` of a tensor of this shape, as i64.
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim);
  /// The same, never folded: computed where it is used, however large.
  mlir::Value positions(llvm::ArrayRef<int64_t> shape, int64_t dim);

  // Reductions and products.
  mlir::Value reduce(ReduceKind kind, mlir::Value input, llvm::ArrayRef<int64_t> dims,
                     bool keepDims);
  mlir::Value mean(mlir::Value input, llvm::ArrayRef<int64_t> dims, bool keepDims);
  /// The first `count` elements along `axis` in ascending or descending order, and their positions.
  std::pair<mlir::Value, mlir::Value> sort(mlir::Value input, int64_t axis, int64_t count,
                                           bool descending);
  mlir::Value gather(mlir::Value table, mlir::Value indices, int64_t axis);
  struct DotDims {
    Shape lhsBatch, rhsBatch, lhsContract, rhsContract;
  };
  mlir::Value dot(mlir::Value lhs, mlir::Value rhs, const DotDims &dims);

  /// Puts the values of constants that are in use into the module and drops the others.
  void materialize(mlir::ModuleOp module);

  mlir::OpBuilder builder;

private:
  struct Held {
    mutable Tensor value;     ///< null: of a table that is spread, not asked for yet
    mlir::Attribute external; ///< where the file holds it, if it does
  };
  mlir::Location location(llvm::StringRef operation);
  void checkResult(mlir::RankedTensorType type) const;
  /// The results of an operation just built, or constants of their values.
  llvm::SmallVector<mlir::Value> finish(mlir::Operation *op);
  bool isSpreadTable(mlir::Operation *op) const;
  bool fold(mlir::Operation *op, llvm::SmallVectorImpl<Tensor> &values);
  bool isAffordable(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);
  void materializeLarge(mlir::SymbolTable &symbols, ConstantOp op, const Held &held);

  std::string source;
  /// What folding large values may still cost: a small file must take neither long nor much memory.
  uint64_t foldingBudget = uint64_t(1) << 30;
  /// Never walked. Importers keep pointers to values while they add others.
  std::unordered_map<mlir::Operation *, Held> constants;
  llvm::DenseSet<mlir::Operation *> named;
  std::map<std::pair<uint64_t, std::string>, std::string>
      largeConstants; ///< (hash, type) to symbol
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_EMITTER_H
