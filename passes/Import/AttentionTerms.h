//===- AttentionTerms.h - what is added to attention's scores ---*- C++ -*-===//
//
// Sorts what masks and biases attention scores into causality, window, one boolean mask and one
// bias. Exporters write one mask in many ways: added floats of 0 and -inf (or the least finite
// number), a select between scores and such a number, products with it; constant or computed from
// an input; repeated over batch and heads or not.
//
// A term is a value together with the dimensions of [b, h, s, t] that its own dimensions are.
//
// Worked example (raise-attention.mlir): rows [0, -inf, -inf], [0, 0, -inf], [0, 0, 0] of a
// constant that is broadcast along b and h and added to the scores. The term is the constant, its
// dimensions are s and t; what it adds are zeros and numbers that lose a score, so it is a mask;
// the mask allows j ≤ i and nothing else, so it is causality, and no term is left.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_IMPORT_ATTENTIONTERMS_H
#define WEFT_PASSES_IMPORT_ATTENTIONTERMS_H

#include "passes/Import/Constants.h"
#include "passes/Import/Match.h"
#include "passes/Import/ViewMap.h"

#include <set>

namespace weft {

struct ScoreTerm {
  mlir::Value value;
  Dims dims; ///< strictly increasing, of [b, h, s, t]
};

/// What an i1 constant says of positions: key j is visible to query i iff j ≤ i + offset (causal),
/// and its distance is less than `window`.
struct Positions {
  bool causal = false;
  int64_t offset = 0;
  std::optional<int64_t> window;
};

/// A boolean mask in a float term: what is added where it is not visible.
struct MaskTerm {
  ScoreTerm condition;         ///< an i1 value; the float term, if `table` is given
  bool negated = false;        ///< the condition tells what is not visible
  std::optional<Tensor> table; ///< visibility, if it is known
  double least = 0;            ///< -inf, or so low a number that the score is lost
};

class AttentionTerms {
public:
  AttentionTerms(mlir::OpBuilder &builder, Constants &constants, mlir::Location loc,
                 llvm::ArrayRef<int64_t> scores)
      : builder(builder), constants(constants), loc(loc), scores(scores) {}

  /// A boolean term: visible where true. What it says of positions is kept apart.
  void addMask(ScoreTerm term);
  void addMask(const MaskTerm &mask);
  /// A float term that stays one.
  void addBias(ScoreTerm term) { biases.push_back(term); }

  /// The operands: null if there is none.
  mlir::Value mask();
  mlir::Value bias();
  std::optional<Positions> positions;
  /// Whether the masks say with less what `mask`, of which they are the terms, does.
  bool isSimplerThan(mlir::Value mask) const;

  /// Sets what positions say, and the rule for fully masked rows where there can be none.
  void apply(AttentionOp op) const;

private:
  bool followsFromPositions(const ScoreTerm &mask);
  bool everyRowSees() const;
  mlir::Value whole(const ScoreTerm &term, llvm::ArrayRef<int64_t> shape);
  /// The terms in one, two at a time by the operation `Join`; null if there are none.
  template <typename Join> mlir::Value join(llvm::ArrayRef<ScoreTerm> terms);
  llvm::SmallVector<int64_t> unionShape(llvm::ArrayRef<ScoreTerm> terms) const;

  mlir::OpBuilder &builder;
  Constants &constants;
  mlir::Location loc;
  Dims scores;
  llvm::SmallVector<ScoreTerm> masks, biases;
  /// Terms that `addMask` met: joined masks share parts, and each is looked at once.
  std::set<std::pair<const void *, Dims>> seenMasks;
  bool changed = false; ///< whether one of these hides nothing, tells positions, or came twice
};

/// The term without the broadcasts around it.
ScoreTerm withoutBroadcasts(ScoreTerm term);

/// The boolean mask that a float term is, if it is one. Changes nothing.
std::optional<MaskTerm> asMask(Constants &constants, ScoreTerm term);

/// Whether a float value can surely not be infinite: numbers, parameters, and sums, products and
/// choices of such.
bool isFinite(Constants &constants, mlir::Value value);

/// Numbers below this swallow every score that is added to them.
constexpr double lostBelow = -1e30;

/// A score that is replaced by a number up to this is hidden: no score comes near it.
constexpr double hiddenBelow = -1e8;

} // namespace weft

#endif // WEFT_PASSES_IMPORT_ATTENTIONTERMS_H
