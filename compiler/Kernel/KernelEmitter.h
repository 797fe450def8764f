//===- KernelEmitter.h - LLVM IR of one kernel ------------------*- C++ -*-===//
//
// Emits loops as LoopPlan.h plans them, scalar: LLVM's loop vectoriser makes vectors of them. Every
// value goes where its index changes least often (`Scope`), so that the innermost loops hold
// nothing that could stand outside.
//
// What an element of an elementwise operation is comes from a function that is inlined
// (ArithmeticLibrary.h). f16 and bf16 are computed as f32. Products and sums within an operation
// are fused multiply-adds; only the sums of reductions may be reordered. Sums of f32 are taken in
// f32 over at most `sumChunk` neighbours and in f64 from there.
//
// For a GPU, rows are shared out among teams of threads (LoopPlan::team), and the elements of a row
// among a team's threads (EmitTeams.cpp):
//
//   row 7, team of 32    thread t: m = max of x[t], x[t + 32], …     what each has found is joined
//                        thread t: y[t], y[t + 32], … from x and m
//
// Each thread keeps what it computed for its own elements: teams share nothing but reductions and
// the results of rows.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_KERNELEMITTER_H
#define WEFT_COMPILER_KERNEL_KERNELEMITTER_H

#include "compiler/Kernel/KernelGraph.h"
#include "compiler/Kernel/LoopPlan.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace weft::kernel {

class KernelEmitter {
public:
  KernelEmitter(const Graph &graph, LoopPlan &plan, llvm::Module &module);

  /// Adds the kernel's function to the module under the name `key`. It calls functions of one
  /// element (Arithmetic.h). On a GPU it is an entry whose parameters are the operands' addresses,
  /// the parameters, the number of tiles, and where failed checks go (runtime/Cuda/Launch.h); it
  /// runs in blocks of `blockThreads`.
  void emit(llvm::StringRef key);

private:
  using Value = llvm::Value *;
  using Body = llvm::function_ref<void()>;

  /// Values that are known inside one loop body (or branch), and where to add more while a loop in
  /// it is open.
  struct Scope {
    std::map<Element, Value> values;
    std::map<Affine, Value> indices;
    llvm::Instruction *end = nullptr;
  };
  struct Loop {
    llvm::BasicBlock *body, *exit;
    llvm::PHINode *counter;
    Value high, step;
  };
  /// Slices of a scatter, by their numbers: low up to high.
  struct SliceRange {
    Value low, high;
  };
  /// What LLVM is told of a loop: a name of its metadata, with a number or without.
  using LoopFact = std::pair<llvm::StringRef, llvm::ConstantInt *>;
  /// Where a reduction adds up. With lanes, arrays.
  struct Accumulator {
    Value total;
    Value part = nullptr; ///< f32 sums: of the present chunk
    DType type;           ///< of `total`
    bool hasLanes = false;
  };

  // EmitLoops.cpp: functions, loops. EmitStages.cpp, EmitSort.cpp: what they compute.
  void addFunction(llvm::Type *result, llvm::ArrayRef<llvm::Type *> last,
                   llvm::GlobalValue::LinkageTypes linkage, const llvm::Twine &name);
  void emitWrapper(llvm::StringRef key);
  void emitBody();
  void emitRows(Value low, Value high, Value step);
  void emitRowParts(size_t row);
  void emitRow(Value number);
  void emitRow();
  void emitChecks();
  void emitCheck(const IndexCheck &check);
  /// Leaves the kernel where a check has failed.
  void fail(Value isBad, int64_t check, Value value, Value position);
  void emitStage(unsigned stage);
  void emitLaneValues(unsigned stage);
  void emitInnerLoops(unsigned stage);
  void emitReduction(const Reduction &reduction);
  void emitRowOutputs(unsigned stage);
  void emitOutputs(llvm::ArrayRef<const Output *> outputs);
  void storeOutput(const Output &output, Value value);
  void emitScan();
  Value joinBefore(DType type, Value value);
  void emitScatterElements();
  void emitScatterNd();
  std::optional<SliceRange> getOwnSlices(int64_t slices);
  void copySlices(const Node &node, int64_t slices, const std::optional<SliceRange> &own);
  std::pair<Value, Value> findSlice(const Node &node, const Index &at,
                                    llvm::ArrayRef<int64_t> strides,
                                    const std::optional<SliceRange> &own);
  void emitSort();
  Value makeSortKey(DType type, Value value, bool descending);
  bool fitsStack(int64_t bytes) const;
  Value takeScratch(int64_t bytes);
  void releaseScratch(Value scratch, int64_t bytes);
  Value callSorter(bool isWide, Value keys, Value places, Value spareKeys, Value sparePlaces,
                   int64_t length, int64_t count);
  std::pair<Value, Value> scatterRow(const Node &scatter, unsigned check, bool drops, bool isShard,
                                     const Element &element, int64_t rows);
  void scatterInto(const Node &scatter, Value address, Value update);
  void emitReductionPart(const Reduction &reduction, Accumulator &accumulator, bool isStart);

  // EmitTeams.cpp: functions for a GPU, and what threads of a team do together.
  bool isGpu() const { return plan.team > 0; }
  bool isShared() const { return plan.team > 1; }
  /// Threads that share the inner elements of a row (of a lane).
  unsigned countParts() const { return plan.team / plan.laneWidth; }
  void emitEntry(llvm::StringRef key);
  void emitTeamRows(Value tiles);
  bool takesRowsAtOnce() const;
  Value emitRowsAtOnce(Value low, Value high, Value step);
  void shareLoops(llvm::ArrayRef<VarId> loops, Body body, Body before = nullptr,
                  Body after = nullptr);
  void shareRange(llvm::ArrayRef<VarId> loops, Value low, Value high, Body body);
  void joinTeam(const Reduction &reduction, const Accumulator &accumulator);
  Value joinWarp(ReduceKind kind, DType type, Value value);
  Value joinBlock(ReduceKind kind, DType type, Value value);
  Value allocateShared(llvm::Type *type, unsigned count);
  Value takeForTeam(llvm::Type *type, llvm::function_ref<Value()> make);
  void defineAwaitTeam();
  void chooseLane();
  void storeOutputs(llvm::ArrayRef<const Output *> outputs, llvm::ArrayRef<Value> values);
  Value exchange(Value value, unsigned distance);
  void emitTeamOutputs(llvm::ArrayRef<const Output *> outputs, bool isLast);
  void awaitTeam();
  void recordFailure(Value isBad, llvm::ArrayRef<Value> fields);

  Loop openLoop(Value low, Value high, std::optional<VarId> var, bool isRows = false,
                Value step = nullptr);
  void closeLoop(const Loop &loop, bool sums = false);
  llvm::MDNode *describeLoop(llvm::ArrayRef<LoopFact> facts) const;
  llvm::MDNode *getLoopFacts(bool sums);
  void nest(llvm::ArrayRef<VarId> loops, Body body, Body before = nullptr, Body after = nullptr);
  void innermost(VarId loop, Body body, Body before, Body after);
  void overPart(VarId loop, Value low, Value high, Body body, bool sums = false);
  void withLanes(llvm::ArrayRef<VarId> loops, Body body, Body before = nullptr,
                 Body after = nullptr);
  void branch(Value condition, Body onTrue);
  void collectBreaks();
  llvm::SmallVector<Range> getParts(VarId loop);

  Accumulator startReduction(const Reduction &reduction);
  void accumulate(const Reduction &reduction, const Accumulator &into);
  Value getIdentity(ReduceKind kind, DType type);
  Value accumulatorAt(const Accumulator &accumulator);

  // EmitValues.cpp: values at indices.
  Value evaluate(const Element &element);
  Value evaluate(unsigned node, const Index &index) { return evaluate(Element(node, index)); }
  Value findKept(const Element &element);
  /// The type in which values of `type` are computed and kept.
  static DType getComputedType(DType type) {
    return type == DType::F16 || type == DType::BF16 ? DType::F32 : type;
  }
  Affine innerPosition() const;
  /// Where the present inner element lies in a buffer of this row (of this thread's elements).
  Value bufferPosition();
  int64_t bufferLength() const;
  /// Where the present lane lies in an array of lanes: on a GPU a thread has but one.
  Affine laneInBlock() const {
    return isGpu() ? Affine() : Affine::var(*plan.lane) - plan.firstLane();
  }
  int64_t laneArrayLength() const { return isGpu() ? 1 : plan.laneWidth; }
  Value compute(const Element &element);
  Value evaluateResult(const Output &output);
  Value computeConcat(const Element &element);
  Value computePad(const Element &element);
  Value computeGather(const Element &element);
  Value computeNested(const Element &element);
  Value loadInput(const Element &element);
  Value loadConstant(const Element &element);
  Value hideInfinity(llvm::ConstantFP *value);
  Value evaluateRawIndex(const Var &var);
  Value evaluateVar(VarId id);
  Value evaluate(const Affine &value);
  Value clamp(Value index, int64_t extent);
  Value address(const Element &element);
  unsigned scopeOf(const Index &index);
  unsigned scopeOf(const Affine &value);
  Value inScope(unsigned scope, llvm::function_ref<Value()> make);

  // EmitScalars.cpp: elements in memory and in registers.
  /// Calls a function that computes an element (Arithmetic.h), of a result of this type.
  Value call(llvm::StringRef name, DType type, llvm::ArrayRef<Value> arguments);
  Value join(ReduceKind kind, DType type, Value a, Value b, bool anyOrder = false);
  Value load(DType type, Value pointer);
  void store(DType type, Value value, Value pointer);
  llvm::Type *getType(DType type);
  llvm::Type *getStorageType(DType type);
  Value constantInt(int64_t value) { return b.getInt64(value); }
  Value elementPointer(DType type, Value base, Value index);
  Value allocate(llvm::Type *type, int64_t count);

  const Graph &graph;
  LoopPlan &plan;
  llvm::Module &module;
  llvm::IRBuilder<> b;
  llvm::Function *function = nullptr;
  llvm::SmallVector<Value> pointers; ///< of inputs, then outputs
  std::map<unsigned, Value> inputs, params;
  Value errorPointer = nullptr, laneLow = nullptr, laneHigh = nullptr;
  Value member = nullptr;         ///< the thread's number in its team
  Value part = nullptr;           ///< which of countParts() it is
  Value hasLane = nullptr;        ///< whether its lane is one, where blocks have lanes
  Value sharedPosition = nullptr; ///< of the present inner element in its row, where shared out
  std::vector<Scope> scopes;
  std::map<VarId, Value> varValues;
  std::map<VarId, unsigned> varScopes;
  unsigned baseScope = 0, currentStage = 0;
  std::map<Element, Accumulator> slots;
  std::map<Element, std::pair<Value, unsigned>> laneArrays,
      bufferArrays; ///< with the stage that fills them
  std::map<Element, const Output *> outputsOf;
  std::map<VarId, std::set<int64_t>>
      breaks; ///< where a loop enters another part of a concatenation
  std::map<unsigned, Value> constants;
};

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_KERNELEMITTER_H
