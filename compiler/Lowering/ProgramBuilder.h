//===- ProgramBuilder.h - instructions over buffers, before arenas -*- C++ -*-===//
//
// Lowering first writes instructions over *buffers* (how many bytes, of which kind) through views.
// When all are known, lifetimes follow from the instructions, buffers get their offsets in arenas,
// and the instructions become exec operations:
//
//   ProgramBuilder program(context);
//   View x = program.allocate(ArenaKind::Activations, f32, {4, 8});
//   program.add({loc, {x}, {y}, price, [](OpBuilder &b, …) { GemmOp::create(b, …); }});
//   program.emit(builder, segmentBody);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_PROGRAMBUILDER_H
#define WEFT_COMPILER_LOWERING_PROGRAMBUILDER_H

#include "compiler/Kernel/StridedView.h"
#include "compiler/Lowering/Strides.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include <functional>
#include <vector>

namespace weft {

/// A strided look at a buffer. Offset, extents and strides count elements.
struct View {
  unsigned buffer = 0;
  exec::AffineAttr offset;
  mlir::Type dtype;
  Extents shape;
  Extents strides;

  bool isContiguous() const { return isRowMajor(shape, strides); }
  int64_t getNumElements() const;
  /// Bytes that are stored, repeats counted once.
  int64_t getStoredBytes() const;
};

/// Makes the exec operation of a step from its operands, reads then writes.
using EmitStep = std::function<void(mlir::OpBuilder &, mlir::Location,
                                    llvm::ArrayRef<exec::OperandAttr>, exec::PriceAttr)>;

/// One instruction over views.
struct Step {
  mlir::Location loc;
  llvm::SmallVector<View, 2> reads;
  llvm::SmallVector<View, 1> writes;
  int64_t flops = 0;
  std::string shapeClass;
  EmitStep emit;
  /// Whether the first write may take the first read's place, if that buffer ends here.
  bool mayReuseInput = false;
};

class ProgramBuilder {
public:
  explicit ProgramBuilder(mlir::MLIRContext *context) : context(context) {}

  /// A new buffer that holds exactly a row-major block, or the footprint of `strides`.
  View allocate(exec::ArenaKind kind, mlir::Type dtype, llvm::ArrayRef<int64_t> shape);
  View allocate(exec::ArenaKind kind, mlir::Type dtype, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> strides);

  /// Moves a buffer to another kind of arena; buffers of weights stay where they are.
  void setKind(unsigned buffer, exec::ArenaKind kind);

  /// The buffer keeps its bytes for the whole step (ports), or from its first write to the end.
  void keepAlways(unsigned buffer) { buffers[buffer].always = true; }
  void keepToEnd(unsigned buffer) { buffers[buffer].toEnd = true; }

  void add(Step step) { steps.push_back(std::move(step)); }

  /// The view in row-major order: itself, or a copy made here.
  View makeContiguous(mlir::Location loc, const View &view, exec::ArenaKind kind);
  /// A strided copy; extents agree.
  void copy(mlir::Location loc, const View &from, const View &to);

  /// Lets results take the place of operands that end with the instruction, then gives every buffer
  /// its offset.
  void place();

  /// After place(): the operand that a view stands for.
  exec::OperandAttr getOperand(const View &view) const;

  /// After place(): one exec.arena per kind that has bytes or is used.
  void emitArenas(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// After place(): one exec operation per step.
  void emitSteps(mlir::OpBuilder &builder) const;

  mlir::MLIRContext *getContext() const { return context; }

private:
  struct Buffer {
    exec::ArenaKind kind;
    int64_t bytes = 0;
    bool always = false;
    bool toEnd = false;
    int64_t first = -1, last = -1; ///< steps; -1: untouched
    unsigned root;                 ///< the buffer whose place this one takes
    int64_t offset = 0;
  };

  unsigned findRoot(unsigned buffer) const;
  void computeLifetimes();
  void shareInPlace();

  mlir::MLIRContext *context;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  int64_t arenaBytes[exec::getMaxEnumValForArenaKind() + 1] = {};
  bool arenaUsed[exec::getMaxEnumValForArenaKind() + 1] = {};
};

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_PROGRAMBUILDER_H
