//===- Instruction.h - one operation while it is imported -------*- C++ -*-===//
//
// What an operation's importer sees: operands as values of the weft module, attributes, regions,
// result types, and the Emitter. Everything here throws ImportError where the operation is not what
// StableHLO says it must be; the walk catches it and adds the operation's name.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_STABLEHLO_INSTRUCTION_H
#define WEFT_FRONTENDS_STABLEHLO_INSTRUCTION_H

#include "compiler/Interpret/Tensor.h"
#include "frontends/common/Emitter.h"
#include "llvm/ADT/StringMap.h"

namespace weft::frontend::stablehlo {

class Walker;

class Instruction {
public:
  Instruction(mlir::Operation *op, Walker &walker);

  mlir::Operation *op;
  Walker &walker;
  Emitter &emit;

  // Operands.
  size_t operands() const { return op->getNumOperands(); }
  /// Throws ImportError where there is no such operand, FailedValue where its maker has failed.
  mlir::Value operand(size_t index) const;
  llvm::SmallVector<mlir::Value> operandsFrom(size_t begin, size_t end) const;
  llvm::SmallVector<mlir::Value> allOperands() const { return operandsFrom(0, operands()); }
  void expectOperands(size_t count) const;

  // Attributes, whether the text holds them as properties or as discardable attributes.
  mlir::Attribute attribute(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  int64_t requiredInt(llvm::StringRef name) const;
  bool getBool(llvm::StringRef name, bool otherwise) const;
  /// The text of a string or symbol; "" where there is none.
  std::string getString(llvm::StringRef name) const;
  /// Numbers of an array or of dense elements, row-major; `otherwise` where the attribute is
  /// absent.
  Shape getInts(llvm::StringRef name, Shape otherwise = {}) const;
  Shape requiredInts(llvm::StringRef name, size_t count) const;
  /// `count` pairs, as of a padding; zeros where the attribute is absent.
  std::pair<Shape, Shape> getPairs(llvm::StringRef name, size_t count) const;
  /// Distinct numbers from 0 to `rank` - 1.
  Shape getDims(llvm::StringRef name, int64_t rank) const;

  // Regions.
  mlir::Region &region(size_t index) const;

  // Results.
  size_t results() const { return op->getNumResults(); }
  /// The declared type, in the weft module's context. Throws ImportError for types Weft has not.
  mlir::RankedTensorType resultType(size_t index = 0) const;
  /// Throws ImportError unless the value is of the declared type.
  void result(size_t index, mlir::Value value);
  void result(mlir::Value value) { result(0, value); }

private:
  llvm::SmallVector<mlir::Value> built; ///< null: not yet
  friend class Walker;
};

/// Throws ImportError unless these are distinct numbers from 0 to `rank` - 1.
void checkDims(llvm::ArrayRef<int64_t> dims, int64_t rank, llvm::StringRef what);
/// 0 to rank - 1 without `dims`, ascending.
Shape otherDims(int64_t rank, llvm::ArrayRef<int64_t> dims);
/// The sizes of these dimensions.
Shape sizesOf(mlir::Value value, llvm::ArrayRef<int64_t> dims);

using OpImporter = void (*)(Instruction &op);
/// By the operation's full name, `stablehlo.add`.
using OpTable = llvm::StringMap<OpImporter>;

} // namespace weft::frontend::stablehlo

#endif // WEFT_FRONTENDS_STABLEHLO_INSTRUCTION_H
