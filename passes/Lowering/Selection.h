//===- Selection.h - walks per-device functions into segments ---*- C++ -*-===//
//
// The work of --weft-select-instructions: every tensor value of @main, or of the parts that one
// mesh runs, becomes a view of a buffer, every operation that moves or computes becomes
// instructions. Views (transpose, reshape, slice, broadcast, dist.slice) cost nothing where strides
// express them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_LOWERING_SELECTION_H
#define WEFT_PASSES_LOWERING_SELECTION_H

#include "compiler/Kernel/KernelCompiler.h"
#include "compiler/Lowering/Coordinates.h"
#include "compiler/Lowering/WeightBlocks.h"
#include "compiler/Sharding/Parts.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include <unordered_map>

namespace weft {

class Selection {
public:
  /// `program` is empty; it is that of the mesh of the name `mesh`, which runs the parts of these
  /// numbers.
  Selection(mlir::ModuleOp module, const Parts &parts, llvm::ArrayRef<unsigned> own,
            exec::ProgramOp program, mlir::FlatSymbolRefAttr mesh);

  /// Lowers the parts; fails with a diagnostic at what no instruction can do. The constants that
  /// became weights are created at `builder`.
  mlir::LogicalResult run(mlir::OpBuilder &builder);

private:
  struct Port {
    exec::Direction direction;
    mlir::StringAttr name;
    mlir::DenseI64ArrayAttr shape;
    mlir::ArrayAttr sharding;
    View local;
  };

  // Setting up: Selection.cpp.
  void addInputs(Part part);
  void addInput(Part part, unsigned number);
  mlir::LogicalResult addReceives(Part part);
  mlir::LogicalResult addWeights();
  Port makePort(exec::Direction direction, mlir::DictionaryAttr attributes, mlir::Type type,
                unsigned number, const View &local) const;
  void findSends(Part part);
  mlir::LogicalResult addSends(mlir::Value value);
  mlir::LogicalResult addOutputs(Part part);
  mlir::LogicalResult run(Part part);
  mlir::LogicalResult lower(mlir::Operation *op);
  void addConstantWeight(ConstantOp op);
  void addEmptyResults(mlir::func::CallOp op);
  /// Ports, weight blocks, buffers and constants, once the bodies are lowered.
  void createMembers(mlir::OpBuilder &builder);

  // One case an operation, alphabetical: SelectionOps.cpp.
  mlir::LogicalResult lowerOp(BroadcastOp op);
  mlir::LogicalResult lowerOp(mlir::func::CallOp op);
  mlir::LogicalResult lowerOp(ConstantOp op);
  mlir::LogicalResult lowerOp(ConvOp op);
  mlir::LogicalResult lowerOp(DotGeneralOp op);
  mlir::LogicalResult lowerOp(dist::AllGatherOp op);
  mlir::LogicalResult lowerOp(dist::AllReduceOp op);
  mlir::LogicalResult lowerOp(dist::AllToAllOp op);
  mlir::LogicalResult lowerOp(dist::OffsetOp op);
  mlir::LogicalResult lowerOp(dist::PermuteOp op);
  mlir::LogicalResult lowerOp(dist::ReduceScatterOp op);
  mlir::LogicalResult lowerOp(dist::SliceOp op);
  mlir::LogicalResult lowerOp(ReshapeOp op);
  mlir::LogicalResult lowerOp(SliceOp op);
  mlir::LogicalResult lowerOp(TransposeOp op);

  /// The kernel's description, made once a function.
  mlir::FailureOr<const KernelInfo *> getKernel(mlir::func::CallOp op);
  /// The view with exactly the strides that a kernel was compiled for.
  View withStrides(mlir::Location loc, const View &view, llvm::ArrayRef<int64_t> strides);
  View allocateResult(mlir::Value value);
  RankGroup getGroup(mlir::Operation *op, mlir::FlatSymbolRefAttr mesh, mlir::ArrayAttr axes);

  mlir::ModuleOp module;
  mlir::func::FuncOp main;
  llvm::SmallVector<Part, 1> parts;                ///< of this program
  llvm::DenseMap<mlir::Operation *, int64_t> tags; ///< of the module's transfers
  mlir::MLIRContext *context;
  mlir::SymbolTable symbols;
  exec::ProgramOp program;
  mlir::FlatSymbolRefAttr mesh;
  SegmentBuilder segment;
  WeightBlocks weights;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, exec::AffineAttr> offsets; ///< results of dist.offset
  llvm::DenseMap<mlir::Value, llvm::SmallVector<dist::TransferOp, 1>> sends; ///< of a part's values
  std::unordered_map<mlir::Operation *, KernelInfo> kernels;
  std::vector<Port> ports;
  std::vector<std::pair<std::string, mlir::ElementsAttr>> constants; ///< weights made here
};

} // namespace weft

#endif // WEFT_PASSES_LOWERING_SELECTION_H
