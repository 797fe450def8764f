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
  /// numbers. `machine` is what computes kernels.
  Selection(mlir::ModuleOp module, const Parts &parts, llvm::ArrayRef<unsigned> own,
            exec::ProgramOp program, mlir::FlatSymbolRefAttr mesh, KernelMachine machine);

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
    mlir::ArrayAttr valid; ///< of padded blocks (exec.port); else null
    int64_t along = 0;     ///< the dimension that microbatches divide, where it lies in frames
    unsigned number = 0;   ///< of the argument or result of @main
  };

  /// A weight that keeps its value between steps.
  struct State {
    View view;              ///< of this device's block
    exec::AffineAttr start; ///< of the block in the whole tensor, in elements
    Extents strides;        ///< of the whole tensor
    mlir::ArrayAttr valid;  ///< of a padded block (exec.weight_block); else null
    mlir::Operation *store = nullptr;
    /// What reads the state's memory, as it is at the step's start or has become.
    struct Reader {
      mlir::Operation *user;
      mlir::Value value;          ///< that it reads
      View region;                ///< of the memory
      mlir::Operation *version{}; ///< what made what it reads; null: the step's start
    };
    llvm::SmallVector<Reader> readers;
  };

  /// Where in a state a value is to be at the step's end.
  struct Place {
    mlir::StringAttr symbol;
    View view;
  };

  // Setting up: Selection.cpp.
  void addInputs(Part part);
  void addPort(const Port &port);
  void addInput(Part part, unsigned number);
  mlir::LogicalResult addReceives(Part part);
  mlir::LogicalResult addWeights();
  /// Places every state, as its loads and its store have it.
  mlir::LogicalResult addStates();
  mlir::LogicalResult addState(mlir::Operation *op, mlir::StringAttr symbol, WeightOp weight);
  View allocateState(WeightOp weight, mlir::RankedTensorType type);
  Port makePort(exec::Direction direction, mlir::DictionaryAttr attributes, mlir::Type type,
                unsigned number, const View &local) const;
  void findSends(Part part);
  void findGradients(Part part);
  /// Whether it is a return that hands out a gradient, which is looked at where it is made.
  bool handsOutGradient(mlir::OpOperand &use) const;
  /// Lets a value be looked at here, where it is a gradient.
  void addObservations(mlir::Value value);
  mlir::LogicalResult addSends(Part part, mlir::Value value);
  /// The segment behind which what a part sends may be waited for (exec.send); null: its own.
  mlir::FlatSymbolRefAttr findUntil(Part part, dist::TransferOp transfer) const;
  mlir::LogicalResult addOutputs(Part part);
  mlir::LogicalResult run(Part part);
  mlir::LogicalResult lower(mlir::Operation *op);
  void addConstantWeight(ConstantOp op);
  void addEmptyResults(mlir::func::CallOp op);
  /// Ports, weight blocks, buffers and constants, once the bodies are lowered.
  void createMembers(mlir::OpBuilder &builder);

  // States: SelectionStates.cpp.
  void findReaders(mlir::Value value, State &state, const View &region, mlir::Operation *version);
  /// Notes the place of a stored value, and of the parts that it is made of.
  void addPlaces(mlir::Value value, const Place &place);
  /// Whether an operation may write a place: nothing else reads there what was before it any more,
  /// and the operation itself only what `mayRead` allows.
  bool isFree(const Place &place, mlir::Operation *op,
              llvm::function_ref<bool(mlir::Value)> mayRead) const;
  /// The place into which the operation may write its result with these strides; null: none.
  const Place *findPlace(mlir::Value result, llvm::ArrayRef<int64_t> strides,
                         llvm::function_ref<bool(mlir::Value)> mayRead) const;
  /// Memory for a result: in the state that it is stored to where that may be, else new.
  View allocateResult(mlir::Value value);
  /// What a kernel that overwrites an argument is to be given, in these strides: a part of the
  /// state, or a copy of it. The result has the strides `resultStrides`.
  View getChanged(mlir::func::CallOp op, mlir::Value argument, llvm::ArrayRef<int64_t> strides,
                  mlir::Value result, llvm::ArrayRef<int64_t> resultStrides);
  /// The copies that make a concatenation in its place, in their order: (value, where). None where
  /// it cannot be made there.
  std::optional<llvm::SmallVector<std::pair<mlir::Value, View>>> findCopies(ConcatOp op,
                                                                            const Place &place);
  /// Whether what is stored was computed into the state's memory.
  bool liesInState(const State &state) const;
  /// Copies what a part returns of states' values that storeStates() will overwrite.
  void keepReturned(mlir::Operation *end);
  /// Copies what lies elsewhere to the states of a part, at its end.
  void storeStates(mlir::Block *block);

  // One case an operation, alphabetical: SelectionOps.cpp.
  mlir::LogicalResult lowerOp(AttentionBackwardOp op); ///< SelectionAttention.cpp
  mlir::LogicalResult lowerOp(AttentionOp op);         ///< SelectionAttention.cpp
  mlir::LogicalResult lowerOp(BroadcastOp op);
  mlir::LogicalResult lowerOp(mlir::func::CallOp op);
  mlir::LogicalResult lowerOp(ConcatOp op); ///< SelectionStates.cpp
  mlir::LogicalResult lowerOp(ConstantOp op);
  mlir::LogicalResult lowerOp(ConvKernelGradientOp op);
  mlir::LogicalResult lowerOp(ConvOp op);
  template <typename Op> mlir::LogicalResult lowerConvolution(Op op, bool ofKernel);
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
  /// What a kernel is given.
  struct LaunchInputs {
    llvm::SmallVector<View> views;
    llvm::SmallVector<mlir::Attribute> params;
  };
  mlir::FailureOr<LaunchInputs> getLaunchInputs(mlir::func::CallOp op, const KernelInfo &kernel);
  /// Has an instruction run the kernel of a call behind itself, and adds that to its price.
  mlir::LogicalResult makeEpilogue(mlir::func::CallOp op, exec::EpilogueAttr &epilogue,
                                   exec::PriceAttr &price);
  mlir::ArrayAttr getOperands(llvm::ArrayRef<View> views);
  exec::PriceAttr getLaunchPrice(mlir::func::CallOp op, const KernelInfo &kernel,
                                 llvm::ArrayRef<View> reads, llvm::ArrayRef<View> writes);
  /// The view with exactly the strides that a kernel was compiled for.
  View withStrides(mlir::Location loc, const View &view, llvm::ArrayRef<int64_t> strides);

  // Small messages, sent together: SelectionBuckets.cpp.
  /// Whether a collective waits to be sent with others of its kind; it is then done by
  /// flushBucket().
  mlir::FailureOr<bool> joinBucket(mlir::Operation *op);
  bool readsBucket(mlir::Operation *op) const;
  mlir::LogicalResult flushBucket();
  /// Sends and observations of what an operation made.
  mlir::LogicalResult handOut(mlir::ValueRange results);

  RankGroup getGroup(mlir::Operation *op, mlir::FlatSymbolRefAttr mesh, mlir::ArrayAttr axes);

  mlir::ModuleOp module;
  mlir::func::FuncOp main;
  llvm::SmallVector<Part, 1> parts;                ///< of this program
  llvm::DenseMap<mlir::Operation *, int64_t> tags; ///< of the module's transfers
  mlir::MLIRContext *context;
  mlir::SymbolTable symbols;
  exec::ProgramOp program;
  mlir::FlatSymbolRefAttr mesh;
  KernelMachine machine;
  SegmentBuilder segment;
  WeightBlocks weights;
  llvm::MapVector<mlir::StringAttr, State> states;
  llvm::DenseMap<int64_t, View> accumulators; ///< memory of sums over microbatches, by number
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Place, 1>> places; ///< of stored values
  llvm::DenseMap<mlir::Operation *, unsigned> order;               ///< of the body's operations
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, exec::AffineAttr> offsets; ///< results of dist.offset
  llvm::DenseMap<mlir::Value, llvm::SmallVector<dist::TransferOp, 1>> sends; ///< of a part's values
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 1>> gradients;     ///< results of @main
  std::unordered_map<mlir::Operation *, KernelInfo> kernels;
  std::vector<Port> ports;
  Part current;                                                      ///< the part that is lowered
  llvm::SmallVector<mlir::Operation *> bucket;                       ///< messages that wait
  int64_t bucketBytes = 0;                                           ///< of their operands
  std::vector<std::pair<std::string, mlir::ElementsAttr>> constants; ///< weights made here
  unsigned nextConstant = 0;                                         ///< number, for names
};

} // namespace weft

#endif // WEFT_PASSES_LOWERING_SELECTION_H
