//===- StagePhases.h - what a stage computes when ---------------*- C++ -*-===//

#ifndef WEFT_COMPILER_SHARDING_STAGEPHASES_H
#define WEFT_COMPILER_SHARDING_STAGEPHASES_H

#include "compiler/Sharding/PhaseBuilder.h"

#include <map>

namespace weft {

/// What is done when, one after another: all of a group comes before all of the next.
enum class PhaseGroup { Begin, Count, Prepare, Each, Update };

/// The level of the gradients of weights, where these are put off: nothing of it is handed on.
inline constexpr unsigned weightLevel = 1 << 16;

/// That of a phase which waits for what others sent.
inline constexpr unsigned sentLevel = weightLevel + 1;

/// A phase of a stage. Levels are passes, whose calls go down the stages and up again in turn; each
/// pass has as many levels as a sequence has slices (SliceTokens.h).
struct Place {
  PhaseGroup group = PhaseGroup::Prepare;
  unsigned level = 0;

  auto operator<=>(const Place &) const = default;
};

/// More levels of one group than any step has: numbers are left for what counts microbatches there.
inline constexpr int64_t mostLevels = 64;

/// One stage of a step, which becomes phases (OutlineStages.h). Calls are made in this order.
class StagePhases : PhaseBuilder {
public:
  StagePhases(const Part &part, unsigned number, int64_t firstNumber);

  using PhaseBuilder::getEnd;
  unsigned getNumber() const { return number; }
  /// Whether the calls of a level go up the stages.
  bool isUp(unsigned level) const { return level / slices % 2 == 1; }
  /// The first level, from this one on, whose calls go from this stage to the other.
  unsigned findLevelTo(unsigned stage, unsigned level) const;
  mlir::Location getLoc() const { return mlir::func::FuncOp(main).getLoc(); }
  /// The stage's own value that it returns as result `index`.
  mlir::Value getResult(unsigned index) const { return body.getTerminator()->getOperand(index); }

  /// Reads what argument `other` is handed in the place of another, which is the same.
  void replaceReceived(unsigned argument, unsigned other);
  /// Finds the group of every operation that is needed.
  void findPlaces();
  /// The least levels of operations, by those of what is received.
  void findLevels();
  Place getResultPlace(unsigned index) const { return getPlace(getResult(index)); }
  Place getReceived(unsigned argument) const { return received.lookup(body.getArgument(argument)); }
  void setReceived(unsigned argument, Place place) { received[body.getArgument(argument)] = place; }
  /// Leaves what nothing outside needs to the level of what reads it.
  void delay();
  /// Puts off products that go into sums over microbatches alone, with all that only they need. A
  /// sum of something else is less than what it is made of, which would have to be kept for it.
  void putOffWeights();

  /// Notes that a stage of another mesh is sent something: from where, to where.
  void noteSent(Place from, Place to, unsigned stage);

  /// Makes the phases' functions.
  void build();
  /// In their order.
  std::map<Place, PhaseFunction> &getPhases() { return made; }
  /// The stage's values that a phase returns.
  llvm::ArrayRef<mlir::Value> getGiven(const PhaseFunction &phase) const {
    return given.find(&phase)->second.getArrayRef();
  }
  bool isReceivedIn(mlir::BlockArgument argument, const PhaseFunction &phase) const;
  /// Says on its call when a phase is executed.
  void describeCall(PhaseFunction &phase) const;

private:
  unsigned getSlice(unsigned level) const;
  std::optional<PhaseGroup> findGroup(mlir::Operation *op) const;
  Place getPlace(mlir::Value value) const;
  std::optional<unsigned> findReading(mlir::Value value, PhaseGroup group) const;
  bool isRoot(mlir::Operation *op) const;
  void describePass(PhaseFunction &phase, unsigned level) const;
  Ops findHelpers(Place place) const;
  Ops findUrgent() const;
  void addCheapSums(Ops &urgent) const;
  std::string getName(Place place) const;
  bool waitsForSent() const;
  void placeStores();
  void listPhases();
  void buildPhase(Place place, PhaseFunction &phase);
  void buildCount(PhaseFunction &phase);
  void storeCarried(PhaseFunction &phase);

  unsigned number;
  unsigned slices = 1;                                  ///< of sequences
  std::vector<std::pair<unsigned, unsigned>> receivers; ///< of each microbatch: levels and stages
  Ops live;                                             ///< what is needed at all
  Ops fromArguments;                                    ///< what depends on arguments
  llvm::DenseMap<mlir::Operation *, Place> places;      ///< of what is done in one phase alone
  llvm::DenseMap<mlir::Value, Place> received;          ///< arguments that other stages hand over
  llvm::DenseMap<mlir::Operation *, unsigned>
      helperLevels; ///< of what is done again where it is read
  std::map<Place, PhaseFunction> made;
  std::map<Place, llvm::SetVector<mlir::Value>>
      wanted; ///< of a phase, by later ones and other stages
  llvm::DenseMap<const PhaseFunction *, llvm::SetVector<mlir::Value>> given;
};

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_STAGEPHASES_H
