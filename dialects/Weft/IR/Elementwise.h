//===- Elementwise.h - what an elementwise operation computes ---*- C++ -*-===//
//
// An elementwise operation builds its arithmetic out of operations of the arith and math dialects,
// for one element or for a vector of them. That of weft.sigmoid on f32 is
//
//   %1 = arith.negf %x : f32
//   %2 = math.exp %1 : f32
//   %3 = arith.addf %2, %one : f32
//   %4 = arith.divf %one, %3 : f32
//
// Floats narrower than f32 are computed as f32, and rounded where they are cast or stored. Integers
// are signless: the operation's own types tell how they extend and compare.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_IR_ELEMENTWISE_H
#define WEFT_DIALECTS_WEFT_IR_ELEMENTWISE_H

#include "dialects/Support/ReduceKind.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"

namespace weft {

/// The type in which elements of a type are computed.
mlir::Type getComputedType(mlir::Type element);

/// Whether integers of the type are widened by zeros: unsigned ones, and i1, which holds 0 or 1.
bool isZeroExtended(mlir::Type element);

/// Builds arithmetic on scalars and vectors alike: types and constants follow a value given.
class ArithmeticBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// `number` in the value's type.
  mlir::Value number(mlir::Value like, double number);
  mlir::Value integer(mlir::Value like, const llvm::APInt &number);
  /// `element`, as often as `like` has elements.
  static mlir::Type withElement(mlir::Value like, mlir::Type element);

  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse);

  /// Two elements of a type joined as a reduction of the kind joins them.
  mlir::Value join(ReduceKind kind, mlir::Type element, mlir::Value lhs, mlir::Value rhs);
  /// An element converted: floats to integers saturate, NaN gives 0.
  mlir::Value cast(mlir::Type from, mlir::Type to, mlir::Value value);

private:
  mlir::Value roundTo(mlir::Type narrow, mlir::Value value);
  mlir::Value toInteger(mlir::Type to, mlir::Value value);
};

/// f16 and bf16, which hold too few digits for sums and norms.
inline bool isNarrowFloat(mlir::Type element) { return element.isF16() || element.isBF16(); }

} // namespace weft

#include "dialects/Weft/IR/ElementwiseInterface.h.inc"

#endif // WEFT_DIALECTS_WEFT_IR_ELEMENTWISE_H
