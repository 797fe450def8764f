//===- Strategies.h - the ways to split each operation ----------*- C++ -*-===//
//
// What a search chooses from, derived from factor rules alone. A mesh is taken apart into atoms:
// its axes, cut where a dimension of several factors has a leading one that is smaller (of
// "model"=8 and four groups of key/value heads, "model":(1)4 and "model":(4)2). Each atom goes to a
// factor of the operation, to the sums that wait (CarriedSums), or to nothing. On {model=2} the
// product
//
//   ([b, s, k], [k, n]) -> ([b, s, n]) {b=8, s=128, k=768, n=3072} reduction={k} linear=each
//
// of an input and a weight has the strategies whole, k, n, and the input's sum handed on.
//
// Names of axes carry meaning: `data`, `batch` and `dp` take the batch and nothing else of
// activations, but for experts where they may (SearchOptions::splitsExperts). Every other axis
// takes everything but the batch, and what contracts a weight along that weight alone, so that it
// is split where activations are: heads, columns, rows, vocabulary, experts; of other operations
// any dimension.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_STRATEGIES_H
#define WEFT_COMPILER_SEARCH_STRATEGIES_H

#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/OperationSplit.h"
#include "compiler/Sharding/ShardingGraph.h"
#include <map>
#include <set>

namespace weft {

/// An axis, or a part of it, that is placed as one.
struct Atom {
  AxisRef axis;
  bool takesBatch = false; ///< and of activations nothing else; else everything but the batch
};

/// The atoms of a mesh for a graph, major to minor along each axis.
std::vector<Atom> makeAtoms(const ShardingGraph &graph, const MeshShape &mesh);

class Strategies {
public:
  /// `isFree` tells of nodes whose tensors are no activations: axes of the batch may split all that
  /// has no batch there.
  Strategies(const ShardingGraph &graph, const MeshShape &mesh, std::vector<bool> isFree);

  /// Lets axes go where these shardings put them, by tensor, though their names say otherwise, and
  /// on through all that has the same dimensions.
  void follow(llvm::ArrayRef<std::optional<TensorSharding>> pins);

  /// Lets axes of the batch split experts too, where evenly: matrices of a weight of which each
  /// multiplies rows of its own, and all that has that dimension.
  void placeExperts();

  /// All ways to split a node, that whole first.
  std::vector<OperationSplit> list(unsigned node) const;
  /// All ways that begin with the axes given to factors, whatever may take those.
  std::vector<OperationSplit> list(unsigned node, const FactorAxes &given) const;
  /// Of these splits of a node those that give axes of the batch to it, for each axis that any of
  /// them does.
  void keepBatch(unsigned node, std::vector<OperationSplit> &splits) const;
  /// All shardings of a tensor that no node makes, that whole first.
  std::vector<TensorSharding> listForms(unsigned tensor, bool isStorage) const;

private:
  struct Options;
  void place(Options &options, size_t atom, OperationSplit &split) const;
  bool maySplit(unsigned node, unsigned factor, const Atom &atom) const;
  bool leavesWeight(unsigned node, unsigned factor) const;
  void findBatch();
  void findUnits();
  void spreadUnits(unsigned node, llvm::function_ref<void(unsigned)> changes);
  void spreadAllUnits();
  llvm::SmallVector<int64_t, 2> listUnits(unsigned node, unsigned factor) const;
  llvm::SmallVector<AxisList, 2> extend(int64_t size, const AxisList &now, AxisRef more,
                                        llvm::ArrayRef<int64_t> units) const;
  bool isBatch(unsigned node, unsigned factor) const;
  bool isPlaced(unsigned node, unsigned factor, unsigned axis) const;
  bool spreadPlaced(unsigned node, std::vector<llvm::BitVector> &places) const;
  void spreadAllPlaced();
  std::vector<llvm::BitVector> &getPlaces(unsigned axis);
  llvm::SmallVector<unsigned, 2> findExperts(unsigned node) const;
  std::vector<llvm::SmallVector<bool, 4>> listCarriers(unsigned node) const;

  const ShardingGraph &graph;
  const MeshShape &mesh;
  std::vector<llvm::BitVector> batch; ///< by tensor: dimensions of the batch
  /// By tensor and dimension: units in which padded blocks may come, of dimensions that are joined.
  std::vector<llvm::SmallVector<std::set<int64_t>, 4>> units;
  /// By axis that goes elsewhere than its name says: by tensor, dimensions that it may split.
  std::map<unsigned, std::vector<llvm::BitVector>> placed;
  std::vector<bool> isFree;
  std::vector<Atom> atoms;
  /// Those of the batch last: parts of a state are parts of what a device of other axes holds.
  std::vector<Atom> storageAtoms;
};

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_STRATEGIES_H
