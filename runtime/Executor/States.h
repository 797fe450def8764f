//===- States.h - states in files -------------------------------*- C++ -*-===//
//
// States (weights that the step changes) as whole tensors under their names in a .safetensors file:
// every rank reads and writes its blocks alone; of equal blocks one is written.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_STATES_H
#define WEFT_RUNTIME_EXECUTOR_STATES_H

#include "runtime/Collective/Transport.h"
#include "runtime/Executor/Ports.h"
#include "runtime/Executor/Weights.h"
#include "runtime/Io/SafeTensors.h"

namespace weft::runtime {

class States {
public:
  States(const Executable &executable, const Position &position);

  /// Checks that a file holds all states of the executable and nothing else, each of its dtype and
  /// shape; kind BadInput.
  void check(const std::string &path);
  /// Gives this rank's blocks the values of a file that was checked.
  void read(const std::string &path, const PortAccess &access);
  /// Writes a file at once, of the states that are `wanted`, or all; called by every rank.
  using Choice = std::function<bool(const program::Weight &state)>;
  void write(const std::string &path, Transport &transport, const PortAccess &access,
             const Choice &wanted = {}) const;

  /// A rank's block of a state, by the state's number.
  using Block = std::pair<size_t, PlacedBlock>;
  const std::vector<const program::Weight *> &getWeights() const { return weights; }
  const std::vector<Block> &getBlocks() const { return blocks; }
  /// Which of this rank's blocks it is to write: of those that several ranks hold one rank writes,
  /// so that all write about as much. Called by every rank.
  std::vector<char> chooseWriters(Transport &transport) const;

private:
  std::vector<const program::Weight *> weights; ///< that are states, of any rank
  std::vector<Block> blocks;                    ///< of this rank
  std::vector<SafeTensor> found;                ///< of the checked file, one a state
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_STATES_H
