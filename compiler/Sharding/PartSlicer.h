//===- PartSlicer.h - one part in slices of its sequence --------*- C++ -*-===//

#ifndef WEFT_COMPILER_SHARDING_PARTSLICER_H
#define WEFT_COMPILER_SHARDING_PARTSLICER_H

#include "compiler/Sharding/SliceShardings.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/BitVector.h"

#include <map>

namespace weft {

/// Tokens begin … end - 1.
struct TokenRange {
  int64_t begin = 0, end = 0;

  auto operator<=>(const TokenRange &) const = default;
};

/// Rewrites the body of a part (SliceTokens.h).
class PartSlicer {
public:
  /// `ranges`: of the slices, which make up the sequence. `sliced`: which arguments and results
  /// stand for as many slices, one after another.
  PartSlicer(const Part &part, const SequenceDims &dims, llvm::ArrayRef<TokenRange> ranges,
             llvm::BitVector slicedArguments, llvm::BitVector slicedResults);

  void run();

private:
  /// What is added up to one value: of each slice its part.
  struct Sums {
    llvm::SmallVector<mlir::Value> of; ///< in the order in which they are there
    ReduceKind kind = ReduceKind::Sum;
    bool isOfGradients = false;
  };
  /// How an operation's tensors are cut for a slice: by its factor, and by that of its keys.
  struct Cut {
    const FactorRule &rule;
    SequenceFactor factor;
    TokenRange range;
  };

  mlir::Block *build();
  llvm::SmallVector<mlir::DictionaryAttr> addArguments(mlir::Block &block);
  llvm::SmallVector<mlir::DictionaryAttr> addResults(llvm::SmallVectorImpl<mlir::Value> &results);
  void rewrite(mlir::Operation &op);
  void rewriteSliced(mlir::Operation &op, const SequenceFactor &factor);
  bool rewriteSums(mlir::Operation &op);
  bool accumulate(mlir::Operation &op);
  llvm::SmallVector<mlir::Value> build(mlir::Operation &op, const Cut &cut);
  void buildSlice(mlir::Operation &op, const FactorRule &rule, const SequenceFactor &factor,
                  size_t slice);
  void addResult(mlir::OpResult result, mlir::Value value, const Cut &cut, size_t slice);
  void addKeys(mlir::OpResult result, mlir::Value value, const Cut &cut, size_t slice);
  void joinResult(mlir::Value result, const FactorRule &rule, const TensorFactors &tensor,
                  const SequenceFactor &factor);

  mlir::RankedTensorType getType(mlir::Type type, const TensorFactors &tensor,
                                 const Cut &cut) const;
  llvm::SmallVector<std::pair<SequenceDim, TokenRange>> findRanges(const TensorFactors &tensor,
                                                                   const Cut &cut) const;
  llvm::SmallVector<SequenceDim> findDims(const TensorFactors &tensor, const Cut &cut) const;
  mlir::Value getWhole(mlir::Value old);
  mlir::Value get(mlir::Value old, llvm::ArrayRef<std::pair<SequenceDim, TokenRange>> ranges);
  mlir::Value makeAnew(mlir::Value old, const SequenceDim &dim, const TokenRange &range);
  mlir::Value join(mlir::Value old, const SequenceDim &dim, int64_t end);
  mlir::Value cut(mlir::Value value, mlir::Value old, const SequenceDim &dim,
                  const TokenRange &range);
  mlir::Value addUp(const Sums &sums);
  void annotate(mlir::Value value, mlir::Value old, llvm::ArrayRef<SequenceDim> dims);
  void adjust(mlir::Operation *made, mlir::Operation &op, const Cut &cut);
  std::optional<int64_t> getLevel(mlir::Operation &op, size_t slice) const;
  bool isOfGradients(mlir::Operation &op) const {
    return dims.getPass(&op) == SequenceDims::Pass::Gradient;
  }

  mlir::func::FuncOp function;
  SliceShardings shardings;
  const SequenceDims &dims;
  llvm::ArrayRef<TokenRange> ranges;
  llvm::BitVector slicedArguments, slicedResults;
  bool losesSplit = false; ///< an operation's, as a plan says it is split
  bool keepsSplits = true;
  mlir::OpBuilder builder;
  llvm::SmallVector<mlir::DictionaryAttr> arguments, results; ///< what is said of them
  llvm::DenseMap<mlir::Value, mlir::Value> wholes;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> slices;
  llvm::DenseMap<mlir::Value, Sums> sums;
  llvm::DenseMap<mlir::Value, mlir::Value> ofKeys; ///< of a result: what later slices have added
  std::map<std::tuple<void *, unsigned, TokenRange>, mlir::Value> cuts; ///< of wholes, joins
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_PARTSLICER_H
