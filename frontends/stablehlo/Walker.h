//===- Walker.h - walks functions and regions -------------------*- C++ -*-===//
//
// Goes through the operations of @main in order; calls are walked in place, and so are the bodies
// of loops, once for each round. An operation that fails is reported and its results are marked as
// failed, so that the walk goes on and finds everything else that is wrong; operations that use
// failed values are passed over in silence.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_WALKER_H
#define WEFT_FRONTENDS_STABLEHLO_WALKER_H

#include "frontends/common/Problems.h"
#include "frontends/common/Weights.h"
#include "frontends/stablehlo/Instruction.h"
#include "frontends/stablehlo/Names.h"
#include "frontends/stablehlo/SourceModule.h"

namespace weft::frontend::stablehlo {

class Walker {
public:
  Walker(SourceModule &source, Emitter &emit, Weights &weights, Problems &problems);
  Walker(const Walker &) = delete;

  Emitter &emitter() { return emit; }
  Weights &weightStore() { return weights; }
  Names &valueNames() { return names; }
  /// The name of the operation that is being imported.
  llvm::StringRef currentName() const { return current; }

  /// The same type in the weft module's context. Throws ImportError for types that Weft has not.
  mlir::RankedTensorType translate(mlir::Type type) const;

  /// The value of a value of the source. Throws FailedValue where its maker has failed.
  mlir::Value lookup(mlir::Value source) const;

  /// What a function computes. Throws ImportError where there is no such function, or no body.
  mlir::Region &bodyOf(llvm::StringRef function);
  /// The results of a function on these values; null ones have failed. Throws ImportError where the
  /// values do not fit its arguments, and where it calls itself.
  llvm::SmallVector<mlir::Value> call(llvm::StringRef function,
                                      llvm::ArrayRef<mlir::Value> arguments);
  /// The results of a region on these values, with values around it visible; null ones have failed.
  llvm::SmallVector<mlir::Value> walk(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments);
  /// The results of a region that is defined on scalars, applied to each element of tensors of one
  /// shape. Throws FailedValue where an operation in it fails.
  llvm::SmallVector<mlir::Value> lift(mlir::Region &region, llvm::ArrayRef<mlir::Value> arguments);
  bool isLifted() const { return lifted; }
  /// How many operations were reported so far.
  size_t problemCount() const { return failures; }

private:
  void bind(mlir::ValueRange sources, llvm::ArrayRef<mlir::Value> values);
  void importOperation(mlir::Operation *op);
  void dispatch(mlir::Operation *op);

  SourceModule &source;
  Emitter &emit;
  Weights &weights;
  Problems &problems;
  Names names;
  OpTable operators;
  llvm::DenseMap<mlir::Value, mlir::Value> values; ///< of the source to the module's; null: failed
  llvm::SmallVector<llvm::StringRef> calls;        ///< that are being walked
  std::string current;
  int64_t walked = 0;
  size_t failures = 0;
  bool lifted = false;
};

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_WALKER_H
