//===- SegmentBuilder.h - instructions over buffers -------------*- C++ -*-===//
//
// What --weft-select-instructions writes with: exec.segments fill with instructions whose operands
// lie in *buffers* (how many bytes, of which kind, kept how long) through views. Where buffers lie
// is decided later (Placement.h).
//
//   SegmentBuilder segment(program);
//   segment.begin("forward");
//   View x = segment.allocate(ArenaKind::Activations, f32, {4, 8});
//   exec::GemmOp::create(segment.getBuilder(), loc, segment.getOperand(x), …,
//                        segment.getPrice(loc, {x, w}, {y}, flops, "gemm …"));
//   segment.finish();
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_LOWERING_SEGMENTBUILDER_H
#define WEFT_COMPILER_LOWERING_SEGMENTBUILDER_H

#include "compiler/Kernel/StridedView.h"
#include "compiler/Lowering/Strides.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include <optional>
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

class SegmentBuilder {
public:
  /// Of a program that is empty.
  explicit SegmentBuilder(exec::ProgramOp program)
      : program(program), builder(program.getContext()) {}

  /// Adds a segment, into which instructions go from now on. Buffers are the program's. Executions
  /// of a segment in frames may be under way at the same time.
  void begin(llvm::StringRef name, bool inFrames = false);

  /// A new buffer that holds exactly a row-major block, or the footprint of `strides`.
  View allocate(exec::ArenaKind kind, mlir::Type dtype, llvm::ArrayRef<int64_t> shape);
  View allocate(exec::ArenaKind kind, mlir::Type dtype, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> strides);

  /// Moves a buffer to another kind of arena; buffers of weights, states and ports stay
  /// where they are.
  void setKind(unsigned buffer, exec::ArenaKind kind);

  bool isState(unsigned buffer) const {
    exec::ArenaKind kind = buffers[buffer].kind;
    return kind == exec::ArenaKind::State || kind == exec::ArenaKind::Host;
  }
  int64_t getBytes(unsigned buffer) const { return buffers[buffer].bytes; }
  bool isKeptAlways(unsigned buffer) const { return buffers[buffer].live == exec::Lifetime::Step; }

  /// The buffer keeps its bytes for the whole step (ports), or from its first write to the end.
  void keepAlways(unsigned buffer) { buffers[buffer].live = exec::Lifetime::Step; }
  void keepToEnd(unsigned buffer);

  /// The view in row-major order: itself, or a copy made here.
  View makeContiguous(mlir::Location loc, const View &view, exec::ArenaKind kind);
  /// A strided copy; extents agree.
  void copy(mlir::Location loc, const View &from, const View &to);
  /// Sets every element to `value`, an attribute of the element type.
  void fill(mlir::Location loc, const View &to, mlir::Attribute value);

  /// Where instructions are created: the last segment's end.
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::MLIRContext *getContext() const { return builder.getContext(); }

  /// The operand that a view stands for, in its buffer.
  exec::OperandAttr getOperand(const View &view);
  /// What an instruction of these operands, caused by the operation at `loc`, costs.
  exec::PriceAttr getPrice(mlir::Location loc, llvm::ArrayRef<View> reads,
                           llvm::ArrayRef<View> writes, int64_t flops, llvm::StringRef shapeClass);

  /// The buffer is in use beyond the segment that it belongs to.
  void share(unsigned buffer) { buffers[buffer].shared = true; }

  /// Leaves in frames what a segment in frames hands to another one alone: the rest, which may be
  /// overwritten by the next execution or serves all of them, goes to the workspace.
  void separateFrames();

  /// Writes the exec.buffer of every buffer that an operand names, at the program's start. Buffers
  /// that changed their kind are renamed in the operands written before.
  void finish();

private:
  struct Buffer {
    exec::ArenaKind kind = exec::ArenaKind::Activations;
    int64_t bytes = 0;
    exec::Lifetime live = exec::Lifetime::Uses;
    bool used = false;                    ///< an operand names it
    bool moved = false;                   ///< its kind changed after an operand named it
    std::optional<unsigned> firstSegment; ///< that names it
    bool shared = false;                  ///< several segments use it
    bool outside = false;                 ///< one that is not in frames names it
  };

  exec::ProgramOp program;
  llvm::SmallVector<exec::SegmentOp, 1> segments;
  bool inFrames = false; ///< the last segment
  mlir::OpBuilder builder;
  std::vector<Buffer> buffers;
};

/// "4x8" of [4, 8].
std::string formatExtents(llvm::ArrayRef<int64_t> shape);

} // namespace weft

#endif // WEFT_COMPILER_LOWERING_SEGMENTBUILDER_H
