//===- TensorBuilder.h - builds tensors by a few words ----------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_IR_TENSORBUILDER_H
#define WEFT_DIALECTS_WEFT_IR_TENSORBUILDER_H

#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

/// What decompositions are built with. Types follow the values given.
class TensorBuilder {
public:
  explicit TensorBuilder(mlir::ImplicitLocOpBuilder &builder) : b(builder) {}

  /// An operation of any number of results.
  template <typename Op, typename... Args> Op makeOp(Args &&...args) {
    return Op::create(b, std::forward<Args>(args)...);
  }
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return makeOp<Op>(std::forward<Args>(args)...);
  }
  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return make<AddOp>(lhs, rhs); }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) { return make<SubOp>(lhs, rhs); }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) { return make<MulOp>(lhs, rhs); }

  /// A constant of this type, the same everywhere.
  mlir::Value splat(mlir::RankedTensorType type, const llvm::APFloat &number);
  mlir::Value splat(mlir::RankedTensorType type, double number);
  mlir::Value splat(mlir::Value like, double number) {
    return splat(mlir::cast<mlir::RankedTensorType>(like.getType()), number);
  }
  mlir::Value reduce(ReduceKind kind, mlir::Value value, llvm::ArrayRef<int64_t> dims) {
    return make<ReduceOp>(kind, value, dims);
  }
  mlir::Value mean(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  /// 1 / √(mean of squares + epsilon).
  mlir::Value inverseRoot(mlir::Value value, llvm::ArrayRef<int64_t> dims, double epsilon);
  /// Two values of one type, joined element by element.
  mlir::Value join(ReduceKind kind, mlir::Value lhs, mlir::Value rhs);
  /// `value` where `number` is below `limit`, else `other`; all of one shape.
  mlir::Value selectBelow(mlir::Value number, mlir::Value limit, mlir::Value value,
                          mlir::Value other);
  /// `value` in the shape of `type`, its dimensions at `dims`.
  mlir::Value broadcast(mlir::Value value, mlir::RankedTensorType type,
                        llvm::ArrayRef<int64_t> dims);
  /// Repeats what was reduced from `like` along `dims` over the whole of it.
  mlir::Value spread(mlir::Value rows, mlir::Value like, llvm::ArrayRef<int64_t> dims);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

  /// f32 instead of narrower floats.
  mlir::Value widen(mlir::Value value);
  mlir::Value castTo(mlir::Value value, mlir::Type element);

private:
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_IR_TENSORBUILDER_H
