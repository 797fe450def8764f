//===- Target.h - what a device has, and what it is fast at -----*- C++ -*-===//
//
// Asked wherever lowering has a choice: whether an operation is a call of a library or part of a
// generated kernel, and whether communication is worth beginning before its result is needed. To
// add a device is to answer these questions for it; fusion, selection and scheduling know none by
// name.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_TARGET_H
#define WEFT_COMPILER_KERNEL_TARGET_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <memory>
#include <string>

namespace weft {

/// How a matrix lies in memory.
struct MatrixStorage {
  enum Kind { AsItIs, ByColumns, InPanels } kind = AsItIs;
  int64_t panelColumns = 0; ///< in panels: of each
};

/// What computes a kernel's tiles.
enum class KernelMachine {
  Cores, ///< each of a host's threads a range of them, one after the other
  Gpu    ///< teams of a GPU's threads, a tile each (TeamEmitter.h)
};

/// The target of programs that run on the host.
inline constexpr llvm::StringLiteral cpuTarget = "cpu";

class Target {
public:
  virtual ~Target() = default;

  /// The name by which passes find it: "cpu", "cuda".
  virtual llvm::StringRef getName() const = 0;

  virtual KernelMachine getKernelMachine() const { return KernelMachine::Cores; }

  /// Whether the operation is better done by a library of the device than in a generated kernel.
  virtual bool callsLibrary(mlir::Operation *op) const = 0;

  /// Whether the library does this convolution best on images whose channels are last.
  virtual bool wantsChannelsLast(mlir::Operation *op) const = 0;

  /// Whether the library makes the operation's result in pieces, each of which a kernel may follow
  /// while it is in a core's cache (Epilogue.h).
  virtual bool runsEpilogues(mlir::Operation *op) const = 0;

  /// How the library best reads a matrix [rows, columns…] that never changes, as right factor of
  /// products. Panels are made of equal parts of the second dimension, and are no more than the
  /// elements of the last in one of them. `rows` is the most that a product multiplies it by,
  /// `isColumnMajor` whether its file has it so.
  virtual MatrixStorage chooseStorage(mlir::RankedTensorType matrix, int64_t rows,
                                      bool isColumnMajor) const = 0;

  /// Whether its memory is another than the host's, with engines that copy between the two while it
  /// computes.
  virtual bool hasOwnMemory() const { return false; }

  /// Bytes of attention's scores that are worth holding at once, for all heads of a device; of
  /// more, heads are computed in several parts.
  virtual int64_t getScoreBytes() const = 0;

  /// Seconds of an instruction that computes: orders of magnitude, to weigh it against others.
  virtual double getComputeSeconds(double flops, double bytes) const = 0;
  /// Seconds of an instruction that moves so many bytes to or from other ranks.
  virtual double getCommunicationSeconds(double bytes) const = 0;
  /// Seconds that it costs to have an instruction run beside others and to wait for it.
  virtual double getHandoffSeconds() const = 0;
};

/// A target by name; null if there is none. Targets live as long as the process.
const Target *findTarget(llvm::StringRef name);

/// The same; an error at `op` that lists all names where there is none.
const Target *findTarget(llvm::StringRef name, mlir::Operation *op);

/// Whether no generated kernel can express the operation: a target without a library for it cannot
/// run it.
bool needsLibrary(mlir::Operation *op);

} // namespace weft

#endif // WEFT_COMPILER_KERNEL_TARGET_H
